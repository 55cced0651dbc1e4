package main

import (
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/daemok/daemok/controller/claim"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// How many machines are tagged a second, and at once after a rest. EC2 lets an
// account make few such calls, and nothing waits for the tags.
const (
	tagsPerSecond = 1
	tagsAtOnce    = 10
)

// addTagger wires the loop that names machines after their nodes. One worker
// will do, since all share one pace.
func (p *parts) addTagger() error {
	tagger := &claim.Tagger{
		Store: p.manager.GetClient(), Machines: p.machines, Pace: flowcontrol.NewTokenBucketRateLimiter(tagsPerSecond, tagsAtOnce),
	}
	return ctrl.NewControllerManagedBy(p.manager).Named("nodeclaim.tagging").For(&karpv1.NodeClaim{}).
		WithOptions(loopOptions(1)).Complete(step(tagger.Reconcile))
}
