package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
)

// Types cost 0.1 for two cores; the ones with four cost more for each core.
const types = `
snapshot 1 2026-01-01T00:00:00Z
shape one cpu=1 memory=1Gi
  labels app=one
shape two cpu=2 memory=1Gi
shape half cpu=500m memory=1Gi
catalogue c 1
kind c2 cpu=2 memory=4Gi pods=10
  offer a on-demand 0.10
  offer b on-demand 0.10
kind c4 cpu=4 memory=8Gi pods=10
  offer a on-demand 0.30
  offer b on-demand 0.30
`

// usual is one NodePool whose nodes may go at once.
const usual = types + `
pool NodePool/default catalogue=c
  allow 100
`

// nodeOf is a node of a type, in zone a and on demand, with what follows it.
func nodeOf(name, kind, price string, pods ...string) string {
	cpu := strings.TrimPrefix(kind, "c")
	out := fmt.Sprintf(`
node %s claim=%s pool=NodePool/default price=%s ready initialized quiet-since=2025-12-31T00:00:00Z
  allocatable cpu=%s memory=%dGi pods=10
  labels topology.kubernetes.io/zone=a karpenter.sh/capacity-type=on-demand node.kubernetes.io/instance-type=%s kubernetes.io/hostname=%s
`, name, name, price, cpu, 2*int(cpu[0]-'0'), kind, name)
	for i, p := range pods {
		out += fmt.Sprintf("  pod default/%s-%d uid=%s-%d returns shape=%s\n", name, i, name, i, p)
	}
	return out
}

// waiting is pods of a shape that have no node.
func waiting(shape string, count int) (out string) {
	for i := range count {
		out += fmt.Sprintf("waiting default/%s-%d uid=%s-%d shape=%s\n", shape, i, shape, i, shape)
	}
	return out
}

type decider = func(*cluster.Snapshot) plan.Plan

// asked asks about the same cluster at several moments, and returns the last plan.
func asked(t *testing.T, decide decider, text string, at ...time.Duration) (out plan.Plan) {
	t.Helper()
	for _, d := range at {
		s, err := scenario.Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		s.Now = s.Now.Add(d)
		out = decide(s)
	}
	return out
}

// said is the plan in short: launches with their types, zones and pods, where other
// pods go, and nodes that go with what replaces them.
func said(p plan.Plan) string {
	var out []string
	for _, x := range p.Placements {
		if x.On != plan.OnLaunch {
			out = append(out, x.Pod.Name+" on "+x.Target)
		}
	}
	slices.Sort(out)
	for i := range p.Launches {
		out = append(out, launched(&p.Launches[i]))
	}
	for _, u := range p.Unplaced {
		out = append(out, "no place for "+u.Pods[0].Name)
	}
	for _, m := range p.Moves {
		text := string(m.Removals[0].Reason)
		for _, r := range m.Removals {
			text += " " + r.Node
		}
		for i := range m.Launches {
			text += " -> " + launched(&m.Launches[i])
		}
		out = append(out, text)
	}
	for _, e := range p.Emptying {
		out = append(out, "taint "+e.Node)
	}
	return strings.Join(out, "; ")
}

func launched(l *plan.Launch) string {
	var names []string
	for _, p := range l.Pods {
		names = append(names, p.Name)
	}
	kinds, _ := l.Requirements.Get(cluster.LabelInstanceType).Finite()
	zones, _ := l.Requirements.Get(cluster.LabelZone).Finite()
	return fmt.Sprintf("%s in %s %s for %s", strings.Join(kinds, ","), strings.Join(zones, ","), l.Choice.Option, strings.Join(names, ","))
}

// story is a cluster, and what is to be said of it at the last of some moments.
type story struct {
	text string
	at   []time.Duration // 0 alone where none is given
	want string
}

func check(t *testing.T, decide func() decider, stories map[string]story) {
	t.Helper()
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			if s.at == nil {
				s.at = []time.Duration{0}
			}
			if got := said(asked(t, decide(), s.text, s.at...)); got != s.want {
				t.Errorf("got  %q\nwant %q", got, s.want)
			}
		})
	}
}
