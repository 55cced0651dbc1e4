package snapshot

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/snapshot/change"
)

// Commitments is what a cluster state knows of Reserved Instances and Savings Plans.
type Commitments struct{ of *ClusterState }

// Read reads the ConfigMap daemok-commitments past every watch: none is followed by one. It also finds out which
// commitments of the account have ended meanwhile.
func (c Commitments) Read(ctx context.Context, from client.Reader) error {
	table := &c.of.tables.commitments
	if table.In == "" {
		return nil
	}
	c.of.apply(func() change.Effect { return change.If(table.Expired(c.of.now())) })
	listed := &corev1.ConfigMap{}
	listed.Namespace, listed.Name = table.In, api.ConfigMapCommitments
	switch err := from.Get(ctx, client.ObjectKeyFromObject(listed), listed); {
	case apierrors.IsNotFound(err):
		c.of.Gone(listed)
	case err != nil:
		return fmt.Errorf("read ConfigMap %s/%s: %w", listed.Namespace, listed.Name, err)
	default:
		c.of.Seen(listed)
	}
	return nil
}

// Odd says what of the ConfigMap is not understood, and what plans use meanwhile; empty: all is.
func (c Commitments) Odd() string {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.of.tables.commitments.Odd()
}

// OfAccount reports whether those that AWS says of the account are used, of which the ConfigMap may say how much is
// used elsewhere.
func (c Commitments) OfAccount() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.of.tables.commitments.ReadsAccount()
}
