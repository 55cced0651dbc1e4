package supply

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

func limited(nodes int64) *cluster.Pool {
	return &cluster.Pool{
		Nodes:  1,
		Usage:  quantity.Resources{CPU: 4000},
		Limits: cluster.Limits{Amounts: []quantity.Extended{{Name: quantity.NameCPU, Amount: 12000}}, Nodes: &nodes},
	}
}

func TestLimitsLeaveWhatIsNotInUse(t *testing.T) {
	l := newLimits(limited(3))
	if !l.allow(quantity.Resources{CPU: 8000}) || l.allow(quantity.Resources{CPU: 8001}) {
		t.Errorf("12 cores less 4 in use leave %v", l.Left)
	}
	l.Use(quantity.Resources{CPU: 2000})
	l.Use(quantity.Resources{CPU: 2000})
	if l.allow(quantity.Resources{CPU: 1000}) {
		t.Error("a fourth node is allowed where three are")
	}
	if !l.Used() {
		t.Error("two launches count for nothing")
	}
	l.GiveBack(quantity.Resources{CPU: 2000})
	l.GiveBack(quantity.Resources{CPU: 2000})
	if l.Used() || !l.allow(quantity.Resources{CPU: 8000}) {
		t.Errorf("once both launches are withdrawn, limits leave %v", l.Left)
	}
}

func TestWhereNothingIsLimitedThereAreNoLimits(t *testing.T) {
	if l := newLimits(&cluster.Pool{}); l != nil {
		t.Errorf("%+v", l)
	}
}

// The share is of what limits left at first, of all that is limited together.
func TestTheShareOfLimitsDoesNotGrowWhileTheyAreUsed(t *testing.T) {
	l := newLimits(limited(3))
	before := l.share(quantity.Resources{CPU: 4000})
	if want := 4000.0/8000 + 1.0/2; before != want {
		t.Errorf("4 of 8 cores and one of two nodes are a share of %v, want %v", before, want)
	}
	l.Use(quantity.Resources{CPU: 4000})
	if after := l.share(quantity.Resources{CPU: 4000}); after != before {
		t.Errorf("the share is %v after a launch, and was %v", after, before)
	}
}

func TestAnInstanceIsLargerInWhatIsLimitedAlone(t *testing.T) {
	l := newLimits(limited(3))
	if !l.noLarger(quantity.Resources{CPU: 2000, Memory: 64 * quantity.GiB}, quantity.Resources{CPU: 2000, Memory: quantity.GiB}) {
		t.Error("more memory counts, which is not limited")
	}
	if l.noLarger(quantity.Resources{CPU: 4000}, quantity.Resources{CPU: 2000}) {
		t.Error("more cores do not count, which are limited")
	}
}
