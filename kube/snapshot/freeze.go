package snapshot

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
)

// FreezeIn names the namespace whose ConfigMap daemok-freeze is followed; without
// a name there is none. It is called before anything is seen.
func (k *ClusterState) FreezeIn(namespace string) { k.freezeIn = namespace }

// FreezesIn is that namespace.
func (k *ClusterState) FreezesIn() string { return k.freezeIn }

// FreezeSeen takes in a ConfigMap; any other than the one followed is passed
// over.
func (k *ClusterState) FreezeSeen(c *corev1.ConfigMap) {
	k.freezeIs(c.Namespace, c.Name, translate.ReadFreeze(c))
}

// FreezeGone takes in that a ConfigMap was deleted.
func (k *ClusterState) FreezeGone(namespace, name string) {
	k.freezeIs(namespace, name, translate.Freeze{})
}

func (k *ClusterState) freezeIs(namespace, name string, f translate.Freeze) {
	if namespace != k.freezeIn || name != api.ConfigMapFreeze {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.freeze == f {
		return
	}
	k.freeze = f
	k.bump()
}

// DoubtClock sets what says why the clock is not to be trusted: then no node goes, not
// even one past its age. It is called before anything is seen.
func (k *ClusterState) DoubtClock(doubt apiclock.Doubt) { k.doubt = doubt }

// Frozen is why no node may be disturbed now by its user's word; empty where it may.
func (k *ClusterState) Frozen() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.freeze.Holds(k.now()) {
		return ""
	}
	return k.freeze.Why
}

func (b *builder) freeze() {
	if why := b.k.doubt.Why(); why != "" {
		b.out.Freeze, b.out.FreezeAll = why, true
		return
	}
	if f := b.k.freeze; f.Holds(b.out.Now) {
		b.out.Freeze, b.out.FreezeUntil = f.Why, f.Until
	}
}

// readFreeze reads the ConfigMap past every watch.
func (k *ClusterState) readFreeze(ctx context.Context, from client.Reader) error {
	if k.freezeIn == "" {
		return nil
	}
	c, key := &corev1.ConfigMap{}, client.ObjectKey{Namespace: k.freezeIn, Name: api.ConfigMapFreeze}
	err := from.Get(ctx, key, c)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read ConfigMap %s, which may forbid to disturb nodes: %w", key, err)
	}
	k.FreezeSeen(c)
	return nil
}
