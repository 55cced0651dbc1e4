package effort_test

import (
	"testing"

	"github.com/daemok/daemok/core/effort"
)

func TestASearchEndsWhenItsStepsAreUsedUp(t *testing.T) {
	c := effort.Count{Most: 10}
	if c.Spent(6) || c.Exhausted {
		t.Error("six of ten steps end the search")
	}
	if !c.Hurry() {
		t.Error("after six of ten steps there is no hurry")
	}
	if !c.Spent(4) || !c.Exhausted || c.Steps != 10 {
		t.Errorf("after ten of ten steps: %+v", c)
	}
}

func TestWithoutABoundStepsAreCountedAlone(t *testing.T) {
	c := effort.Count{}
	if c.Spent(1<<40) || c.Hurry() || c.Steps != 1<<40 {
		t.Errorf("%+v", c)
	}
}

func TestASearchEndsWhenItsAnswerIsKnown(t *testing.T) {
	c := effort.Count{Most: 10, Known: true}
	if !c.Spent(0) || c.Exhausted {
		t.Errorf("%+v: a known answer ends the search, and no steps are missing", c)
	}
}
