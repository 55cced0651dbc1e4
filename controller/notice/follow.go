package notice

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// consequence is what follows from a kind of notice.
type consequence struct {
	reason  string // of the event
	message string
	short   bool // the cloud has too few such machines: none is bought for a while
	leaves  bool // the claim is deleted
}

// consequences are those of the kinds that anything follows from.
var consequences = map[cloud.NoticeKind]consequence{
	cloud.Interrupted:            {"SpotInterrupted", "Spot interruption warning was received", true, true},
	cloud.Rebalance:              {"SpotRebalanceRecommendation", "Spot rebalance recommendation was received, and is ignored", false, false},
	cloud.Maintenance:            {"InstanceUnhealthy", "A scheduled change of the instance was announced", false, true},
	cloud.HasStopped:             {"InstanceStopping", "Instance is stopping", false, true},
	cloud.Terminated:             {"InstanceTerminating", "Instance is terminating", false, true},
	cloud.ReservationInterrupted: {"CapacityReservationInstanceInterrupted", "The machine's reserved capacity is taken back", true, true},
}

// follow does what follows from a notice about a claim's machine, and reports
// whether that was to delete the claim. The offer is remembered to be short
// first, so that no plan buys it in the machine's place.
func (r *Reader) follow(ctx context.Context, n cloud.Notice, c *karpv1.NodeClaim) (deleted bool, err error) {
	what := consequences[n.Kind]
	message := what.message
	if !n.EndsAt.IsZero() {
		message += ": it ends at " + n.EndsAt.UTC().Format("2006-01-02T15:04:05Z")
	}
	if what.short {
		r.Shortages.Short(cloud.OfferChoice{Kind: c.Labels[api.LabelInstanceType], Zone: c.Labels[api.LabelZone], Option: cluster.Option(c.Labels[api.LabelCapacityType])})
	}
	if !what.leaves {
		r.tell(c, what.reason, message)
		return false, nil
	}
	if err := r.Store.Delete(ctx, c, client.Preconditions{UID: &c.UID}); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("delete claim %s after the notice %s: %w", c.Name, n.Kind, err)
	}
	r.tell(c, what.reason, message)
	r.tell(c, "TerminatingOnInterruption", "The node is drained and its machine given back: "+message)
	r.Log.Info("the cloud takes a machine: letting its claim go", "claim", c.Name, "machine", n.MachineID, "notice", string(n.Kind))
	r.Metrics.ClaimsDisrupted.WithLabelValues(string(n.Kind), c.Labels[api.LabelNodePool], c.Labels[api.LabelCapacityType], "", translate.TerminationMode(c)).Inc()
	return true, nil
}

// tell publishes an event on the claim and, where there is one, on its node.
func (r *Reader) tell(c *karpv1.NodeClaim, reason, message string) {
	r.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: reason, Message: message})
	if c.Status.NodeName == "" {
		return
	}
	node := &corev1.Node{}
	node.Name = c.Status.NodeName
	node.APIVersion, node.Kind = "v1", "Node"
	r.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Warning: true, Reason: reason, Message: message})
}
