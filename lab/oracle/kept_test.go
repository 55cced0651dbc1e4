package oracle

import (
	"context"
	"testing"

	"github.com/daemok/daemok/core/plan"
)

// TestWhatIsKeptIsJudged tampers with plans that keep capacity: a virtual pod has a place although it could not run
// there, or has none although it could.
func TestWhatIsKeptIsJudged(t *testing.T) {
	crowded := func(b *plan.Buffer) bool {
		for i := range b.Places {
			b.Places[i].On, b.Places[i].Target = b.Places[0].On, b.Places[0].Target
		}
		return len(b.Places) > 3
	}
	forgotten := func(b *plan.Buffer) bool {
		last := len(b.Places) - 1
		if last < 0 || b.Places[last].On != plan.OnNode {
			return false
		}
		b.Places, b.Missing = b.Places[:last], b.Missing+1
		return true
	}
	tests := map[string]struct {
		tamper func(*plan.Buffer) bool
		want   Kind
		share  int // in tenths, that is to be noticed: some crowds fit on one node
	}{
		"all virtual pods on one node":    {crowded, Refused, 7},
		"a virtual pod without its place": {forgotten, Left, 8},
	}
	places, missing, static := 0, 0, 0
	tampered, noticed := map[string]int{}, map[string]int{}
	for seed := range uint64(300) {
		w := Generate(seed)
		s, err := w.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		p, _ := decided(s)
		for i := range p.Launches {
			if p.Launches[i].Static {
				static++
			}
		}
		if len(p.Buffers) == 0 {
			continue
		}
		b := p.Buffers[0]
		places, missing = places+len(b.Places), missing+int(b.Missing)
		for name, tt := range tests {
			q, changed := *p, b
			changed.Places = append([]plan.Placement{}, b.Places...)
			q.Buffers = []plan.Buffer{changed}
			if !tt.tamper(&q.Buffers[0]) {
				continue
			}
			tampered[name]++
			found, err := replay(context.Background(), w, s, &q, asChosen)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) > 0 && found[0].Kind == tt.want {
				noticed[name]++
			}
		}
	}
	for name, tt := range tests {
		if tampered[name] < 10 || 10*noticed[name] < tt.share*tampered[name] {
			t.Errorf("%s: %d of %d plans were noticed", name, noticed[name], tampered[name])
		}
	}
	if places < 100 || missing < 20 || static < 20 {
		t.Errorf("%d virtual pods have a place and %d have none, and static pools launch %d nodes: want 100, 20 and 20",
			places, missing, static)
	}
	t.Logf("%d places, %d missing, %d static launches; of %v false plans %v were noticed",
		places, missing, static, tampered, noticed)
}
