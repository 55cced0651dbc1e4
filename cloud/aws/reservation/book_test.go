package reservation

import (
	"testing"
	"time"
)

// ends has an instance that is taken from the reservation terminated, and end.
func ends(b *Book) {
	b.Holds("i-1", "cr-1")
	b.Leaves("i-1")
	b.Ended("i-1")
}

func TestWhatAReservationHasLeft(t *testing.T) {
	says := func(free int64) map[string]int64 { return map[string]int64{"cr-1": free} }
	tests := map[string]struct {
		do   func(b *Book, wait func(time.Duration))
		want int64
	}{
		"is nothing before EC2 tells": {func(*Book, func(time.Duration)) {}, 0},
		"is what EC2 tells":           {func(b *Book, _ func(time.Duration)) { b.Saw(says(5)) }, 5},
		"lacks what is being bought":  {func(b *Book, _ func(time.Duration)) { b.Saw(says(5)); b.Begin("t1", 2, "cr-1") }, 3},
		"lacks what was bought alone": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(5))
			b.Begin("t1", 2, "cr-1")(map[string]int64{"cr-1": 1})
		}, 4},
		"lacks nothing after a failure": {func(b *Book, _ func(time.Duration)) { b.Saw(says(5)); b.Begin("t1", 2, "cr-1")(nil) }, 5},
		"lacks what was bought once, as EC2 counts it by and by": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(5))
			b.Begin("t1", 3, "cr-1")(map[string]int64{"cr-1": 3})
			b.Saw(says(5))
			b.Saw(says(4))
			b.Saw(says(2))
		}, 2},
		"is what EC2 tells once it must have counted": {func(b *Book, wait func(time.Duration)) {
			b.Saw(says(5))
			b.Begin("t1", 3, "cr-1")(map[string]int64{"cr-1": 3})
			wait(countedWithin)
			b.Saw(says(4)) // two have been terminated
		}, 4},
		"lacks what was bought once, though the launch was asked for again": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(5))
			b.Begin("t1", 3, "cr-1")(map[string]int64{"cr-1": 2})
			b.Begin("t1", 3, "cr-1")(map[string]int64{"cr-1": 2})
		}, 3},
		"lacks what may come while a launch is asked for again": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(5))
			b.Begin("t1", 3, "cr-1")(map[string]int64{"cr-1": 2})
			b.Begin("t1", 3, "cr-1")
		}, 2},
		"lacks what was bought once, asked for again after EC2 has counted it": {func(b *Book, wait func(time.Duration)) {
			b.Saw(says(5))
			b.Begin("t1", 2, "cr-1")(map[string]int64{"cr-1": 2})
			wait(countedWithin)
			b.Saw(says(3))
			b.Begin("t1", 2, "cr-1")(map[string]int64{"cr-1": 2})
		}, 3},
		"lacks what several launches bought": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(5))
			b.Begin("t1", 2, "cr-1")(map[string]int64{"cr-1": 2})
			b.Begin("t2", 2, "cr-1")(map[string]int64{"cr-1": 2})
		}, 1},
		"is nothing where EC2 refused": {func(b *Book, _ func(time.Duration)) { b.Saw(says(5)); b.Full("cr-1"); b.Saw(says(5)) }, 0},
		"has the place of a machine that came and went": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(1))
			b.Begin("t1", 1, "cr-1")(map[string]int64{"cr-1": 1})
			ends(b)
			b.Ended("i-1")
		}, 1},
		"has that place while EC2 has counted only that it came": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(1))
			b.Begin("t1", 1, "cr-1")(map[string]int64{"cr-1": 1})
			b.Saw(says(0))
			ends(b)
			b.Saw(says(0))
		}, 1},
		"has that place once, as EC2 counts it": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(0))
			ends(b)
			b.Saw(says(1))
		}, 1},
		"has that place once, where EC2 counts it before the end is seen": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(0))
			b.Holds("i-1", "cr-1")
			b.Leaves("i-1")
			b.Leaves("i-1")
			b.Saw(says(1))
			b.Ended("i-1")
		}, 1},
		"has the places of two, of which EC2 counts one before their ends are seen": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(0))
			b.Holds("i-1", "cr-1")
			b.Holds("i-2", "cr-1")
			b.Leaves("i-1", "i-2")
			b.Saw(says(1))
			b.Ended("i-1", "i-2")
		}, 2},
		"has the place of one that ends long after EC2 counted one whose end nobody saw": {func(b *Book, wait func(time.Duration)) {
			b.Saw(says(0))
			b.Holds("i-1", "cr-1")
			b.Leaves("i-1")
			b.Saw(says(1))
			wait(countedWithin)
			b.Holds("i-2", "cr-1")
			b.Leaves("i-2")
			b.Ended("i-2")
		}, 2},
		"has no place of one that was told to end too long ago": {func(b *Book, wait func(time.Duration)) {
			b.Saw(says(0))
			b.Holds("i-1", "cr-1")
			b.Leaves("i-1")
			wait(recalledFor)
			b.Saw(says(0))
			b.Ended("i-1")
		}, 0},
		"has the place of one that ends after a long life": {func(b *Book, wait func(time.Duration)) {
			b.Saw(says(0))
			b.Holds("i-1", "cr-1")
			for range 3 {
				wait(recalledFor / 2)
				b.Holds("i-1") // a list shows it
				b.Saw(says(0))
			}
			ends(b)
		}, 1},
		"has the place of one that ends after somebody else's has": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(0))
			b.Saw(says(1)) // nothing of ours was about to end
			ends(b)
		}, 2},
		"is what EC2 tells once it must have counted what ended": {func(b *Book, wait func(time.Duration)) {
			b.Saw(says(0))
			ends(b)
			wait(countedWithin)
			b.Saw(says(0)) // another user has taken it
		}, 0},
		"is nothing where EC2 refuses the place of one that ended": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(0))
			ends(b)
			b.Full("cr-1")
		}, 0},
		"lacks a machine that EC2 does not show yet": {func(b *Book, _ func(time.Duration)) {
			b.Saw(says(1))
			b.Begin("t1", 1, "cr-1")(map[string]int64{"cr-1": 1})
			b.Holds("i-1", "cr-1")
			b.Ended("i-1")
		}, 0},
		"is never less than nothing": {func(b *Book, _ func(time.Duration)) { b.Saw(says(1)); b.Begin("t1", 3, "cr-1") }, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			b := NewBook(func() time.Time { return now })
			tt.do(b, func(d time.Duration) { now = now.Add(d) })
			if got := b.View().Left("cr-1"); got != tt.want {
				t.Errorf("left %d, want %d", got, tt.want)
			}
		})
	}
}

func TestOnlyWhatChangesTheAnswerChangesTheNumber(t *testing.T) {
	b := NewBook(time.Now)
	b.Saw(map[string]int64{"cr-1": 2})
	before := b.View().Seq
	b.Saw(map[string]int64{"cr-1": 2})
	if got := b.View().Seq; got != before {
		t.Errorf("the number is %d after the same was seen again, was %d", got, before)
	}
	b.Full("cr-1")
	if got := b.View().Seq; got == before {
		t.Error("the number is the same after the reservation was found full")
	}
}

// An instance that another program terminated is not terminated again.
func TestAInstanceThatIsNotSeenAnyMoreIsForgotten(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := NewBook(func() time.Time { return now })
	b.Holds("i-1", "cr-1")
	b.Ended("i-1")
	now = now.Add(recalledFor)
	b.Saw(map[string]int64{"cr-1": 0})
	if len(b.instances) > 0 {
		t.Errorf("it still knows of %v", b.instances)
	}
}
