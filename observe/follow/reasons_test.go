package follow

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

// reported are the reasons for which pods wait, with their number and the longest time.
func (s *story) reported() string {
	s.t.Helper()
	var out []string
	for _, name := range []string{waitingPods, waitingLongest} {
		lines, err := scraped.Lines(s.registry, name)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, line := range lines {
			if !strings.HasSuffix(line, " 0") {
				out = append(out, strings.TrimPrefix(line, name+" reason="))
			}
		}
	}
	return strings.Join(out, ", ")
}

func unplaced(uid string, change ...func(*plan.Unplaced)) plan.Plan {
	u := plan.Unplaced{Pods: []cluster.Pod{{UID: uid}}, Reasons: []plan.Reason{{Text: "no room"}}}
	for _, f := range change {
		f(&u)
	}
	return plan.Plan{Unplaced: []plan.Unplaced{u}}
}

func TestWhatPodsWaitFor(t *testing.T) {
	because := func(reasons ...plan.Reason) func(*plan.Unplaced) {
		return func(u *plan.Unplaced) { u.Reasons = reasons }
	}
	tests := map[string]struct {
		plan plan.Plan
		want string
	}{
		"a limit of the nearest pool": {unplaced("u", because(plan.Reason{Rule: "limit"}, plan.Reason{Rule: "taint"})), "limit"},
		"no single rule":              {unplaced("u"), "other"},
		"time":                        {unplaced("u", func(u *plan.Unplaced) { u.Early = true }), "time"},
		"a node outside every pool":   {unplaced("u", because(plan.Reason{Text: plan.Outside})), "outside"},
		"a machine that is ordered":   {planned("u"), "machine"},
		"a node that is there":        {plan.Plan{Placements: []plan.Placement{{Pod: cluster.Pod{UID: "u"}, On: plan.OnNode, Target: "n1"}}}, "scheduler"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			s.pods.OnAdd(pod(), false)
			s.Decided(tt.plan)
			s.after(time.Minute)
			if got, want := s.reported(), tt.want+" 1, "+tt.want+" 60"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if !slices.Contains(observe.WaitReasons(), tt.want) {
				t.Errorf("%s is not among the reasons that always have a series", tt.want)
			}
		})
	}
}

// A pod counts from the first plan about it until it is bound, under what the last plan says; how
// long it was kept back before is not counted.
func TestPodsWaitUntilTheyAreBound(t *testing.T) {
	s := begin(t)
	other := func(p *corev1.Pod) { p.UID, p.Name = types.UID("v"), "db" }
	s.pods.OnAdd(pod(), false)
	s.after(time.Hour)
	if got := s.reported(); got != "" {
		t.Errorf("before any plan: %q", got)
	}
	s.Decided(unplaced("u"))
	s.after(time.Minute)
	s.pods.OnAdd(pod(other), false)
	s.Decided(unplaced("v"))
	s.after(time.Minute)
	if got, want := s.reported(), "other 2, other 120"; got != want {
		t.Errorf("of two pods: %q, want %q", got, want)
	}
	s.Decided(planned("u"))
	if got, want := s.reported(), "machine 1, other 1, machine 120, other 60"; got != want {
		t.Errorf("of one that got a machine: %q, want %q", got, want)
	}
	s.pods.OnUpdate(pod(), pod(onNode))
	s.pods.OnDelete(pod(other))
	if got := s.reported(); got != "" {
		t.Errorf("once one is bound and the other gone: %q", got)
	}
	s.leading = false
	s.says(waitingPods)
}

// What pods wait for is reported where no series of single pods are wanted, too.
func TestReasonsNeedNoSeriesOfSinglePods(t *testing.T) {
	s := begin(t)
	s.Objects = false
	s.pods.OnAdd(pod(), false)
	s.Decided(unplaced("u"))
	s.after(time.Second)
	if got, want := s.reported(), "other 1, other 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.says(unbound)
}
