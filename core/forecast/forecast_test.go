package forecast_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/forecast"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/story"
)

// Every file in testdata is one story: a sentence saying what must happen, the cluster before, and
// where pods go if instances open at once, and one by one.
func TestStories(t *testing.T) {
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		s, err := scenario.Parse(string(files[0].Data))
		if err != nil {
			t.Fatal(err)
		}
		story.Expect(t, &files[1], outcomes(s))
	})
}

// outcomes plays the tight plan for the snapshot.
func outcomes(s *cluster.Snapshot) string {
	p := decide.Decide(s, decide.Policy{}, decide.Effort{Pack: 100_000})
	pods := make([]cluster.Pod, len(p.Placements))
	for i := range p.Placements {
		pods[i] = p.Placements[i].Pod
	}
	w := forecast.New(s, pods)
	var out strings.Builder
	for i := range p.Launches {
		l := &p.Launches[i]
		fmt.Fprintf(&out, "planned %s %s in %s: %s\n", l.Name, l.Choice.Kind, l.Choice.Zone, names(l.Pods))
	}
	for _, how := range []forecast.Opening{{Together: true, Seed: 1}, {Seed: 1}} {
		o := w.Simulate(p.Launches, p.Joining, how)
		if again := w.Simulate(p.Launches, p.Joining, how); fmt.Sprint(again.On, again.Left) != fmt.Sprint(o.On, o.Left) {
			return "two plays of one world differ"
		}
		fmt.Fprintf(&out, "together %v: %d of %d as planned\n", how.Together, o.AsPlanned(p.Placements), len(pods))
		var on []string
		for name := range o.On {
			on = append(on, name)
		}
		slices.Sort(on)
		for _, name := range on {
			fmt.Fprintf(&out, "  %s: %s\n", name, names(o.On[name]))
		}
		if len(o.Left) > 0 {
			fmt.Fprintf(&out, "  left: %s\n", names(o.Left))
		}
	}
	return out.String()
}

func names(pods []cluster.Pod) string {
	var out []string
	for i := range pods {
		out = append(out, pods[i].Name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// The node of a launch has the labels of the offering that it is launched by, where several of
// the zone are paid for alike.
func TestANodeHasTheLabelsOfItsReservationAlone(t *testing.T) {
	s, err := scenario.Parse(`catalogue paid 1
kind r.big cpu=2 memory=4Gi pods=20
  offer a reserved 0.00005 stock=cr-1 left=1
    labels karpenter.k8s.aws/capacity-reservation-id=cr-1 block=yes
  offer a reserved 0.00005 stock=cr-2 left=1
    labels karpenter.k8s.aws/capacity-reservation-id=cr-2
pool NodePool/default catalogue=paid
`)
	if err != nil {
		t.Fatal(err)
	}
	for id, block := range map[string]string{"cr-1": "yes", "cr-2": ""} {
		n := forecast.New(s, nil).Node(&plan.Launch{
			Pool: s.Pools[0].ID, Choice: plan.Choice{Kind: "r.big", Zone: "a", Option: cluster.Reserved},
			Requirements: constraint.Requirements{{Key: cluster.LabelReservation, Set: constraint.Values(id)}},
		})
		reservation, _ := n.Labels.Get(cluster.LabelReservation)
		if is, _ := n.Labels.Get("block"); reservation != id || is != block {
			t.Errorf("the node of a launch into %s has the labels %v", id, n.Labels)
		}
	}
}
