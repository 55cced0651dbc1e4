package drift

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"context"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// many lists claims that have not drifted, as a cache does.
type many struct {
	beside
	claims []karpv1.NodeClaim
}

func (m many) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if l, is := list.(*karpv1.NodeClaimList); is {
		l.Items = append(l.Items[:0], m.claims...)
		return nil
	}
	return m.beside.List(ctx, list, options...)
}

// BenchmarkRound is a check of 2,000 instances of which none has drifted.
func BenchmarkRound(b *testing.B) {
	y := newYard()
	claims := make([]karpv1.NodeClaim, 2000)
	instance := y.instances[0]
	y.instances = nil
	for i := range claims {
		y.claim.DeepCopyInto(&claims[i])
		claims[i].Name = fmt.Sprintf("default-%d", i)
		instance.ID = fmt.Sprintf("i-%d", i)
		claims[i].Status.ProviderID = "aws:///a/" + instance.ID
		y.instances = append(y.instances, instance)
	}
	f := &Finder{Store: many{beside{nil, y}, claims}, Pools: y, Classes: y, Instances: y, Events: y,
		Now: func() time.Time { return y.now }}
	for b.Loop() {
		if _, err := f.Round(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
