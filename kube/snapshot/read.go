package snapshot

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// pageSize bounds how many objects one answer of the API server holds.
const pageSize = 500

// Read makes one snapshot of a live cluster, without watching it. It has not
// seen pods come and go, so emptiness counts from what claims say of it.
func Read(ctx context.Context, from client.Reader, kinds Kinds, now func() time.Time) (*cluster.Snapshot, error) {
	k := NewKeeper(kinds, now)
	for _, read := range []func() error{
		func() error {
			return Each(ctx, from, &karpv1.NodePoolList{}, func(l *karpv1.NodePoolList) {
				for i := range l.Items {
					k.PoolSeen(translate.FromNodePool(&l.Items[i]))
				}
			})
		},
		func() error {
			return Each(ctx, from, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
				for i := range l.Items {
					k.ClaimSeen(&l.Items[i])
				}
			})
		},
		func() error {
			return Each(ctx, from, &corev1.NodeList{}, func(l *corev1.NodeList) {
				for i := range l.Items {
					k.NodeSeen(&l.Items[i])
				}
			})
		},
		func() error {
			return Each(ctx, from, &appsv1.DaemonSetList{}, func(l *appsv1.DaemonSetList) {
				for i := range l.Items {
					k.DaemonSetSeen(&l.Items[i])
				}
			})
		},
		func() error {
			return Each(ctx, from, &corev1.PodList{}, func(l *corev1.PodList) {
				for i := range l.Items {
					k.PodSeen(&l.Items[i], true)
				}
			})
		},
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return k.Snapshot(), nil
}

// Each reads a list page by page. Every page is a new list, so what was taken
// from one is not overwritten by the next.
func Each[L any, P interface {
	*L
	client.ObjectList
}](ctx context.Context, from client.Reader, first P, take func(P), options ...client.ListOption) error {
	token := ""
	for list := first; ; list = P(new(L)) {
		if err := from.List(ctx, list, append(options[:len(options):len(options)], client.Limit(pageSize), client.Continue(token))...); err != nil {
			return fmt.Errorf("read %T of the live cluster: %w", list, err)
		}
		take(list)
		if token = list.GetContinue(); token == "" {
			return nil
		}
	}
}
