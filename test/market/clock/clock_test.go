package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func has(come <-chan struct{}) bool {
	select {
	case <-come:
		return true
	default:
		return false
	}
}

func TestVirtualWakesThoseWhoseMomentHasCome(t *testing.T) {
	v := NewVirtual(start)
	past, _ := v.At(start)
	late, _ := v.At(start.Add(2 * time.Minute))
	soon, _ := v.At(start.Add(time.Minute))
	given, stop := v.At(start.Add(time.Minute))
	stop()
	if !has(past) || has(soon) || has(late) {
		t.Fatal("before any advance, only the moment that is now has come")
	}
	v.Advance(time.Minute)
	if !has(soon) || has(late) || has(given) {
		t.Error("after a minute, the first waiter alone should wake")
	}
	v.Advance(-time.Hour)
	if got := v.Now(); !got.Equal(start.Add(time.Minute)) {
		t.Errorf("the clock went back to %v", got)
	}
	v.Advance(time.Hour)
	if !has(late) || has(given) {
		t.Error("after an hour, the late waiter should wake and the one who gave up should not")
	}
}

func TestWallFollowsTheClockOfItsBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		come, stop := Wall{}.At(began.Add(time.Minute))
		defer stop()
		<-come
		if waited := time.Since(began); waited != time.Minute {
			t.Errorf("waited %v, want a minute", waited)
		}
	})
}
