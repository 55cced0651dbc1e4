package pace

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/internal/pause"
)

func open() *Pace { return New(time.Now, pause.For) }

func TestCallsGoAtOnceWhileNoneIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, began := open(), time.Now()
		for range 1000 {
			if err := p.Wait(t.Context(), "CreateFleet"); err != nil {
				t.Fatal(err)
			}
			p.Answered("CreateFleet", false)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("1000 calls took %v", took)
		}
	})
}

// EC2 answers so many calls a second: nearly all calls are answered at once, and
// nearly as many as it would answer.
func TestASlowedActionGoesAsFastAsEC2Answers(t *testing.T) {
	for _, perSecond := range []float64{0.5, 2, 10} {
		t.Run(fmt.Sprint(perSecond), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := open()
				bucket, burst, last := 5.0, 5.0, time.Now()
				answered, throttled, began := 0, 0, time.Now()
				for time.Since(began) < 5*time.Minute {
					if err := p.Wait(t.Context(), "CreateFleet"); err != nil {
						t.Fatal(err)
					}
					bucket = min(burst, bucket+time.Since(last).Seconds()*perSecond)
					last = time.Now()
					ok := bucket >= 1
					if ok {
						bucket--
						answered++
					} else {
						throttled++
					}
					p.Answered("CreateFleet", !ok)
					time.Sleep(20 * time.Millisecond) // on the wire
				}
				could := 300*perSecond + burst
				if float64(answered) < 0.6*could || throttled*4 > answered {
					t.Errorf("%d answered of %.0f possible, %d throttled", answered, could, throttled)
				}
			})
		})
	}
}

// Calls that wait go by what waits for them: instances are terminated before others are
// launched, and these before tags are written; calls that only read are counted apart.
func TestWhatMattersMostGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open()
		for _, action := range []string{"TerminateInstances", "CreateFleet", "CreateTags"} {
			p.Answered(action, true)
		}
		var mu sync.Mutex
		var order []string
		var calls sync.WaitGroup
		ask := func(action string) {
			calls.Go(func() {
				if err := p.Wait(t.Context(), action); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, action)
			})
			synctest.Wait()
		}
		for _, action := range []string{"CreateTags", "CreateFleet", "CreateFleet", "TerminateInstances", "DescribeInstances"} {
			ask(action)
		}
		calls.Wait()
		want := []string{"DescribeInstances", "TerminateInstances", "CreateFleet", "CreateFleet", "CreateTags"}
		if !slices.Equal(order, want) {
			t.Errorf("calls went as %v, want %v", order, want)
		}
	})
}

func TestAfterAQuietWhileNothingIsHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open()
		p.Answered("CreateFleet", true)
		time.Sleep(quietFor)
		p.Answered("CreateFleet", false)
		began := time.Now()
		for range 100 {
			_ = p.Wait(t.Context(), "CreateFleet")
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("100 calls took %v", took)
		}
	})
}

func TestACallerThatGivesUpDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open()
		p.Answered("TerminateInstances", true)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := p.Wait(ctx, "TerminateInstances"); err == nil {
			t.Error("a call went whose time was over")
		}
		began := time.Now()
		if err := p.Wait(t.Context(), "CreateFleet"); err != nil || time.Since(began) != 0 {
			t.Errorf("another waited %v, error %v", time.Since(began), err)
		}
	})
}
