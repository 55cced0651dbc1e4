package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/translate"
)

// namesMost is how many pods or instance types a log line lists.
const namesMost = 5

// sayPlanned logs what a plan has for pods that wait in the messages that users of Karpenter search
// for and alert on, where there are Provisioners in those of their time too.
func (t *Recorder) sayPlanned(s *cluster.Snapshot, p plan.Plan) {
	if n := len(s.Waiting); n > 0 {
		t.Log.Info("found provisionable pod(s)", "pods", podNames(s.Waiting), "count", n)
		if slices.ContainsFunc(s.Pools, func(p cluster.Pool) bool { return isOlder(p.ID) }) {
			t.Log.Info(fmt.Sprintf("Found %d provisionable pod(s)", n))
		}
	}
	nodes, pods := [2]int{}, [2]int{} // all of them, and those of Provisioners
	for i := range p.Launches {
		l := &p.Launches[i]
		nodes[0], pods[0] = nodes[0]+1, pods[0]+len(l.Pods)
		if isOlder(l.Pool) {
			nodes[1], pods[1] = nodes[1]+1, pods[1]+len(l.Pods)
		}
	}
	if nodes[0] > 0 {
		t.Log.Info("computed new nodeclaim(s) to fit pod(s)", "nodeclaims", nodes[0], "pods", pods[0])
	}
	if nodes[1] > 0 {
		t.Log.Info(fmt.Sprintf("Computed %d new node(s) will fit %d pod(s)", nodes[1], pods[1]))
	}
}

// sayLaunching logs what is launched from a Provisioner in the words of its time.
func (t *Recorder) sayLaunching(l *plan.Launch) {
	if !isOlder(l.Pool) {
		return
	}
	var asks []string
	for _, name := range l.Requests.Names() {
		asks = append(asks, fmt.Sprintf("%q:%q", name, new(translate.Quantity(name, l.Requests.Get(name))).String()))
	}
	types, _ := l.Requirements.Get(cluster.LabelInstanceType).Finite()
	t.Log.Info(fmt.Sprintf("Launching node with %d pods requesting {%s} from types %s", len(l.Pods), strings.Join(asks, ","), listed(types)),
		"provisioner", l.Pool.Name)
}

func isOlder(id cluster.PoolID) bool { return id.Kind == translate.KindProvisioner }

// podNames lists pods by namespace and name.
func podNames(pods []cluster.Pod) string {
	names := make([]string, 0, namesMost)
	for i := range pods[:min(len(pods), namesMost)] {
		names = append(names, pods[i].Namespace+"/"+pods[i].Name)
	}
	return more(names, len(pods))
}

func listed(names []string) string { return more(names[:min(len(names), namesMost)], len(names)) }

// more joins names, and counts those that are left out.
func more(names []string, all int) string {
	text := strings.Join(names, ", ")
	if left := all - len(names); left > 0 {
		text += fmt.Sprintf(" and %d other(s)", left)
	}
	return text
}
