package risk

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
)

var start = time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)

// fleet is so many spot instances of one type and zone, that run since the start.
func fleet(kind string, n int) []cloud.Instance {
	var out []cloud.Instance
	for i := range n {
		out = append(out, cloud.Instance{ID: fmt.Sprintf("i-%s-%d", kind, i), Kind: kind, Zone: "a", LaunchedAt: start})
	}
	return out
}

// life observes every ten minutes instances of which so many are taken away a day and
// replaced at once, for so long.
func life(m *Memory, from time.Time, instances, taken int, days float64) time.Time {
	now, next := from, instances
	running := fleet("t", instances)
	looks := int(days * 144)
	for i := range looks {
		var gone []string
		if taken > 0 && i%(144/taken) == 144/taken-1 {
			gone = []string{running[0].ID}
			running = append(slices.Clone(running[1:]), cloud.Instance{ID: fmt.Sprintf("i-new-%d-%d", now.Unix(), next), Kind: "t", Zone: "a", LaunchedAt: now})
			next++
		}
		m.Saw(now, running, gone)
		now = now.Add(10 * time.Minute)
	}
	return now
}

func TestRates(t *testing.T) {
	for name, tt := range map[string]struct {
		instances, taken int
		days             float64
		want             float64 // in an hour of an instance
	}{
		"none was taken away":                              {10, 0, 7, 0},
		"one of ten a day, after a day":                    {10, 1, 1, 0.0025},
		"one of ten a day, after weeks":                    {10, 1, 40, 0.004},
		"every tenth hour of one of ten, after weeks":      {10, 24, 40, 0.095},
		"one of a thousand a day":                          {1000, 1, 7, 0},
		"a single machine that is taken away hour by hour": {1, 24, 1, 0.1225},
	} {
		t.Run(name, func(t *testing.T) {
			var m Memory
			life(&m, start, tt.instances, tt.taken, tt.days)
			if got := m.View().Of("t", "a"); math.Abs(got-tt.want) > step {
				t.Errorf("rate %v, want about %v", got, tt.want)
			}
		})
	}
}

func TestOneEventAmongFewInstancesSaysLittle(t *testing.T) {
	var m Memory
	m.Saw(start, fleet("t", 1), nil)
	m.Saw(start.Add(10*time.Minute), nil, []string{"i-t-0"})
	if got := m.View().Of("t", "a"); got <= 0 || got > 3*step {
		t.Errorf("rate %v after one event", got)
	}
	if m.View().Of("t", "b") != 0 || m.View().Of("u", "a") != 0 {
		t.Error("other zones and types have it too")
	}
}

func TestWhatWasSeenIsForgotten(t *testing.T) {
	var m Memory
	now := life(&m, start, 10, 24, 14)
	before := m.View()
	m.Saw(now.Add(2*halfLife), nil, nil)
	after := m.View()
	if rate := after.Of("t", "a"); rate <= 0 || rate >= before.Of("t", "a") || after.Seq == before.Seq {
		t.Errorf("rate %v, two half-lives ago %v", rate, before.Of("t", "a"))
	}
	m.Saw(now.Add(40*halfLife), nil, nil)
	if rate := m.View().Of("t", "a"); rate != 0 || len(m.seen) > 0 {
		t.Errorf("rate %v after forty half-lives, %v is kept", rate, m.seen)
	}
}

func TestTheSequenceStaysWhileRatesDo(t *testing.T) {
	var m Memory
	now := life(&m, start, 10, 0, 1)
	if seq := m.View().Seq; seq != 0 {
		t.Errorf("sequence %d with nothing told", seq)
	}
	m.Saw(now, fleet("t", 9), []string{"i-t-9"})
	seq := m.View().Seq
	m.Saw(now.Add(10*time.Minute), fleet("t", 9), nil)
	if m.View().Seq != seq {
		t.Error("the sequence changed, and no rate did")
	}
}

func TestMissing(t *testing.T) {
	var m Memory
	m.Saw(start, fleet("t", 3), nil)
	if got := m.Missing(fleet("t", 2)); !slices.Equal(got, []string{"i-t-2"}) {
		t.Errorf("missing %v", got)
	}
	m.Saw(start, fleet("t", 2), nil)
	if got := m.Missing(fleet("t", 2)); len(got) > 0 {
		t.Errorf("missing %v once that was noted", got)
	}
}

// A process that starts again goes on from what another one has seen, which counts less
// the longer ago that was.
func TestWhatWasSeenIsHandedOn(t *testing.T) {
	var before, next Memory
	now := life(&before, start, 10, 24, 14)
	want := before.View().Of("t", "a")
	next.Saw(now, fleet("t", 10), nil) // as every process begins
	next.Recall(now, before.Seen())
	next.Recall(now, before.Seen()) // which is nothing new
	if got := next.View().Of("t", "a"); math.Abs(got-want) > step {
		t.Errorf("rate %v, and %v for who has seen it", got, want)
	}
	next.Saw(now.Add(40*halfLife), nil, nil)
	if got := next.View().Of("t", "a"); got != 0 {
		t.Errorf("rate %v after forty half-lives", got)
	}
	var late Memory
	late.Recall(now.Add(40*halfLife), before.Seen())
	if got := late.View().Of("t", "a"); got != 0 {
		t.Errorf("rate %v for who is told of it after forty half-lives", got)
	}
}

// A program that has seen more of a type itself takes over nothing from one that has seen
// less.
func TestAnObserverThatHasSeenMoreIsNotUpdated(t *testing.T) {
	var long, brief Memory
	now := life(&long, start, 10, 24, 14)
	life(&brief, now.Add(-time.Hour), 10, 0, 1.0/24)
	before := long.View()
	long.Recall(now, brief.Seen())
	if got := long.View(); got.Seq != before.Seq {
		t.Errorf("rate %v, before that %v", got.Of("t", "a"), before.Of("t", "a"))
	}
}
