package oracle

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// plansMax is how many plans it takes at most until nothing changes.
const plansMax = 6

// TestWaitsEnd carries plans out, one after another, until nothing changes any more, and
// has the scheduler judge each of them. Pods may wait on purpose while instances are on
// their way; when all have come, no pod waits that the scheduler would place.
func TestWaitsEnd(t *testing.T) {
	if *repeat != "" {
		t.Skip("a story is repeated instead")
	}
	plans, waits := 0, 0
	for i := range max(1, *seeds/5) {
		seed := *from + i
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := follow(t, Generate(seed))
			plans, waits = plans+f.plans, waits+f.waits
		}) {
			wrong.add(seed)
		}
	}
	t.Logf("%d plans were carried out, and %d pods waited on purpose", plans, waits)
}

// followed is what happened to a world until it came to rest.
type followed struct {
	plans int // that were made, the first included
	waits int // pods that waited on purpose at some time
}

func follow(t *testing.T, w *World) followed {
	t.Helper()
	ctx, waited := context.Background(), map[string]bool{}
	for plans := 1; plans <= plansMax; plans++ {
		if plans > 1 && !agrees(t, w, plans) {
			return followed{plans, len(waited)}
		}
		next, excused, err := Next(ctx, w)
		if err != nil {
			t.Fatalf("seed %d, plan %d: %v", w.Seed, plans, err)
		}
		if next == nil {
			if len(excused) > 0 {
				t.Errorf("seed %d: all is at rest, and pods still wait: %v", w.Seed, excused)
			}
			return followed{plans, len(waited)}
		}
		for _, place := range excused {
			pod, _, _ := strings.Cut(place, " on ")
			waited[pod] = true
		}
		w = next
	}
	t.Errorf("seed %d: plan %d still changes something", w.Seed, plansMax)
	return followed{plansMax, len(waited)}
}

// agrees judges the plan for a world that plans before it led to, and writes a story where
// the scheduler disagrees.
func agrees(t *testing.T, w *World, plans int) bool {
	t.Helper()
	ctx := context.Background()
	found, err := Check(ctx, w)
	if err != nil {
		t.Fatalf("seed %d, plan %d: %v", w.Seed, plans, err)
	}
	if len(found) == 0 {
		return true
	}
	small, one := Shrink(ctx, w, found[0])
	story, err := Story(ctx, small, one)
	if err != nil {
		t.Fatal(err)
	}
	rule := fmt.Sprintf("%s %s after %d", one.Kind, one.Plugin, plans-1)
	t.Errorf("seed %d, plan %d: %s\n%s", w.Seed, plans, one, keep(t, rule, w.Seed, story))
	return false
}
