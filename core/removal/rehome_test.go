package removal

import (
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/scenario"
)

// Pods that are to move find places where there is room now: not on instances on
// their way or to be launched, nor on nodes that are closed, which still count for
// rules, as those that are gone soon do not.
func TestRehomeLooksAtThingsAsTheyAre(t *testing.T) {
	node := func(name, state string, pods ...string) string {
		text := "node " + name + " claim=c-" + name + " pool=NodePool/p price=0.1 created=2026-11-21T03:00:00Z " + state + `
  labels kubernetes.io/hostname=` + name + `
  allocatable cpu=2 memory=16Gi pods=20
`
		for _, p := range pods {
			text += "  pod d/" + p + " uid=" + p + " on=" + name + "\n"
		}
		return text
	}
	const up = "ready initialized"
	for name, tt := range map[string]struct {
		world   string
		targets map[string]string
		want    string // "pod->node" or "-pod"
	}{
		"room": {node("n1", up+" deleting", "web shape=web returns") + node("n2", up, "a shape=web returns"), nil, "web->n2"},
		"no room, though a machine is on its way": {node("n1", up+" deleting", "web shape=web returns") + node("n2", up, "a shape=web returns", "b shape=web returns") +
			"machine m pool=NodePool/p planned launched\n  allocatable cpu=8 memory=16Gi pods=20\n", nil, "-web"},
		"the pod is shown elsewhere already": {node("n1", up+" deleting") + node("n2", up, "web shape=web returns", "a shape=web returns"), nil, "web->n2"},
		"a node that is closed":              {node("n1", up+" deleting", "web shape=web returns") + node("n2", up+" deleting", "a shape=web"), nil, "-web"},
		"a node that is not ready":           {node("n1", up+" deleting", "web shape=web returns") + node("n2", "initialized"), nil, "-web"},
		"a closed node counts for a spread": {node("n1", up+" deleting", "web shape=even returns") + node("n2", up, "a shape=even returns") + node("n3", up+" deleting", "x shape=web"),
			nil, "-web"},
		"one that goes does not": {node("n1", up+" deleting", "web shape=even returns") + node("n2", up, "a shape=even returns") + node("n3", up+" deleting", "x shape=web returns"),
			nil, "web->n2"},
		"one whose machine ends does not": {node("n1", up+" deleting", "web shape=even returns") + node("n2", up, "a shape=even returns") + node("n3", up+" deleting machine-ends"),
			nil, "web->n2"},
		"where the plan wants them, since one takes the other's place otherwise": {node("n1", up+" deleting", "web shape=wide returns", "web2 shape=fixed returns") +
			node("n2", up, "a shape=fixed returns") + node("n3", up, "b shape=fixed returns"), map[string]string{"web": "n3", "web2": "n2"}, "web->n3 web2->n2"},
		"not where the plan wants them, if they may not be there": {node("n1", up+" deleting", "web shape=wide returns", "web2 shape=fixed returns") +
			node("n2", up, "a shape=fixed returns") + node("n3", up, "b shape=fixed returns"), map[string]string{"web": "n2", "web2": "n3"}, "-web2 web->n2"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Parse(`snapshot 1 2026-11-21T04:00:00Z
shape web namespace=d cpu=1 memory=1Gi
shape wide namespace=d cpu=1 memory=2Gi priority=10
shape fixed namespace=d cpu=1 memory=1Gi
  term
    require kubernetes.io/hostname In n2
shape even namespace=d cpu=1 memory=1Gi
  labels app=even
  spread kubernetes.io/hostname skew=1
    select app In even
catalogue c1 1
kind small cpu=4 memory=16Gi pods=20
  offer b on-demand 0.1
pool NodePool/p catalogue=c1
` + tt.world)
			if err != nil {
				t.Fatal(err)
			}
			before := scenario.Print(s)
			places, left := Rehome(s, Drain{Nodes: map[string]bool{"n1": true}, Pods: map[string]bool{"web": true, "web2": true}, Targets: tt.targets})
			var got []string
			for _, p := range places {
				got = append(got, p.Pod.Name+"->"+p.Target)
			}
			for _, u := range left {
				for _, p := range u.Pods {
					got = append(got, "-"+p.Name)
				}
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("%s, want %s", text, tt.want)
			}
			if scenario.Print(s) != before {
				t.Error("the snapshot was written")
			}
		})
	}
}
