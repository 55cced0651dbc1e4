package drift

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe"
)

// ignoredEvery is how often an event says that a setting of a user has no effect.
const ignoredEvery = 24 * time.Hour

// ofProvisioners are the ways to drift of instances of Provisioners: another image is
// selected for them now. No edit of a Provisioner or its template replaces them.
var ofProvisioners = []check{{karpv1.ReasonAMIDrift, (*subject).otherImage}}

// lookAtOlder compares a claim of a Provisioner, whose instances drift where the operator
// says so, and then also by the word of their users.
func (f *Finder) lookAtOlder(ctx context.Context, c *karpv1.NodeClaim, s *subject) error {
	node, err := f.saidDrifted(ctx, c)
	if err != nil {
		return err
	}
	switch on := f.OfProvisioners != nil && f.OfProvisioners(); {
	case !on && node != nil:
		f.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Warning: true, Reason: "DriftDisabled",
			DedupeFor: ignoredEvery,
			Message:   fmt.Sprintf("metadata.annotations[%s]: %s has no effect while nodes of Provisioners do not drift; turn the feature gate Drift on, or delete the node", api.AnnotationVoluntaryDisruption, api.VoluntaryDrifted)})
		return f.conclude(ctx, c, finding{})
	case !on:
		return f.conclude(ctx, c, finding{})
	case node != nil:
		return f.conclude(ctx, c,
			finding{reason: karpv1.ReasonVoluntaryDisruption,
				text: fmt.Sprintf("node %s carries %s: %s", node.Name, api.AnnotationVoluntaryDisruption,
					api.VoluntaryDrifted)})
	}
	return f.conclude(ctx, c, s.judge(ofProvisioners))
}

// saidDrifted is the claim's node where a user says on it that it has drifted.
func (f *Finder) saidDrifted(ctx context.Context, c *karpv1.NodeClaim) (*corev1.Node, error) {
	if c.Status.NodeName == "" {
		return nil, nil
	}
	node := &corev1.Node{}
	err := f.Store.Get(ctx, client.ObjectKey{Name: c.Status.NodeName}, node)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read node %s to see whether it is said to have drifted: %w", c.Status.NodeName, err)
	case node.Annotations[api.AnnotationVoluntaryDisruption] != api.VoluntaryDrifted:
		return nil, nil
	}
	return node, nil
}
