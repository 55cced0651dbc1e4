package measure

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/quantity"
)

const gib = quantity.GiB

func open() (*Book, *time.Time) {
	now := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
	return New(func() time.Time { return now }), &now
}

func TestTheSmallestInstanceCounts(t *testing.T) {
	b, _ := open()
	for i, step := range []struct {
		memory, want quantity.Bytes
		news         bool
	}{
		{8 * gib, 8 * gib, true},
		{7 * gib, 7 * gib, true},
		{8 * gib, 7 * gib, false},
		{7 * gib, 7 * gib, false},
		{0, 7 * gib, false}, // a kubelet that has not said yet
	} {
		before := b.View().Seq
		news := b.Saw("m5.large", "ami-1", step.memory)
		got, _ := b.View().Of("m5.large", "ami-1")
		if got != step.want || news != step.news || (b.View().Seq != before) != step.news {
			t.Errorf("step %d: memory %v, news %v; want %v, %v", i, got, news, step.want, step.news)
		}
	}
}

// SC-465: an instance says nothing of another image or another type.
func TestAnotherImageIsNotKnown(t *testing.T) {
	b, _ := open()
	b.Saw("m5.large", "ami-1", 7*gib)
	for _, m := range []instance{{"m5.large", "ami-2"}, {"m5.xlarge", "ami-1"}} {
		if got, known := b.View().Of(m.kind, m.image); known {
			t.Errorf("%v: %v; want nothing", m, got)
		}
	}
}

func TestWhatWasNotSeenForLongIsForgotten(t *testing.T) {
	b, now := open()
	b.Saw("m5.large", "ami-1", 7*gib)
	b.Saw("c5.large", "ami-1", 3*gib)
	*now = now.Add(40 * day)
	b.Saw("c5.large", "ami-1", 4*gib) // still there
	*now = now.Add(20 * day)
	*now = now.Add(day)
	if _, known := b.View().Of("m5.large", "ami-1"); known {
		t.Error("a type of 61 days ago is known")
	}
	if got, _ := b.View().Of("c5.large", "ami-1"); got != 3*gib {
		t.Errorf("a type that was seen since has %v, want 3Gi", got)
	}
	if seen := b.Seen(); len(seen) != 1 || seen[0].Kind != "c5.large" {
		t.Errorf("handed on: %+v", seen)
	}
}

func TestAnotherProcessGoesOn(t *testing.T) {
	b, now := open()
	b.Saw("m5.large", "ami-1", 7*gib)
	b.Saw("a1.large", "ami-2", 3*gib)
	next := New(func() time.Time { return *now })
	next.Recall(b.Seen())
	if !reflect.DeepEqual(next.Seen(), b.Seen()) {
		t.Errorf("the next hands on %+v, want %+v", next.Seen(), b.Seen())
	}
	seq := next.View().Seq
	next.Recall(b.Seen())
	if got := next.View().Seq; got != seq {
		t.Errorf("recalling the same again changed the view %d to %d", seq, got)
	}
	next.Recall(cloud.MemorySeen{{Kind: "m5.large", Image: "ami-1", Memory: 6 * gib, SeenOn: now.Add(-61 * day)}, {Kind: "x", Memory: -1}})
	if got, _ := next.View().Of("m5.large", "ami-1"); got != 7*gib {
		t.Errorf("what is too old counts: %v", got)
	}
}

// However long a cluster lives, what is kept has its bound; the latest stays.
func TestWhatIsHandedOnHasItsBound(t *testing.T) {
	b, now := open()
	for i := range seenMost {
		b.Saw("m5.large", fmt.Sprintf("ami-%d", i), gib)
	}
	*now = now.Add(day)
	b.Saw("z1d.large", "ami-new", gib)
	seen := b.Seen()
	if len(seen) != seenMost || seen[len(seen)-1].Kind != "z1d.large" {
		t.Errorf("%d handed on, the last is %+v", len(seen), seen[len(seen)-1])
	}
}
