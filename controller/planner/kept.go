package planner

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const (
	// unconsolidatableEvery is how long no second event says on a node that it stays since
	// that is cheapest, whatever the words: numbers change all the time.
	unconsolidatableEvery = 15 * time.Minute
	// closedEvery is how long no second event says on a pool that a budget blocks.
	closedEvery = time.Minute
)

// reportKept reports on nodes that have a reason to go, and on their claims, why they stay;
// budgets are reported on their pools. What waits for its time is not reported.
func (t *Recorder) reportKept(s *cluster.Snapshot, list []plan.Kept) {
	at := make(map[string]*cluster.Node, len(s.Nodes))
	for i := range s.Nodes {
		at[s.Nodes[i].Name] = &s.Nodes[i]
	}
	closed := map[cluster.PoolID]map[plan.RemovalReason]bool{}
	for i := range list {
		k := &list[i]
		n := at[k.Node]
		switch {
		case n == nil || k.By == plan.KeptByTime:
		case k.By == plan.KeptByBudget && closed[n.Pool][k.Reason]:
		case k.By == plan.KeptByBudget:
			if closed[n.Pool] == nil {
				closed[n.Pool] = map[plan.RemovalReason]bool{}
			}
			closed[n.Pool][k.Reason] = true
			t.publishPaced(observe.Event{About: translate.PoolRef(n.Pool), Key: n.Pool.String(), Reason: "DisruptionBlocked",
				Message: "No allowed disruptions for " + string(k.Reason) + ": " + k.Why, Topic: "budget " + string(k.Reason), DedupeFor: closedEvery})
		case k.By == plan.KeptByPool, k.By == plan.KeptByFinding && k.Reason == plan.Underutilized:
			t.reportNode(n, observe.Event{Reason: "Unconsolidatable", Message: k.Why, Topic: "stays", DedupeFor: unconsolidatableEvery})
		default:
			t.reportNode(n, observe.Event{Reason: "DisruptionBlocked", Message: "Cannot disrupt Node: " + string(k.Reason) + ": " + k.Why})
		}
	}
}

// reportNode publishes an event on a node and its claim.
func (t *Recorder) reportNode(n *cluster.Node, e observe.Event) {
	e.About, e.Key = nodeRef(n.Name), "Node/"+n.Name
	t.publishPaced(e)
	e.About, e.Key = claimRef(n.Claim), "NodeClaim/"+n.Claim
	t.publishPaced(e)
}

// publishPaced publishes what can wait: thousands of nodes may have an event at once.
func (t *Recorder) publishPaced(e observe.Event) {
	e.Pace = t.Failures
	t.Events.Publish(e)
}

// nodeRef is enough of a node to hang an event on; kubectl finds events of nodes by their
// names in place of a UID.
func nodeRef(name string) *corev1.Node {
	return &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
}
