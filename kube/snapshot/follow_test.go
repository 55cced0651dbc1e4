package snapshot

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// informers gives an informer of its own for every kind.
type informers struct {
	cache.Informers
	made map[string]*controllertest.FakeInformer
}

func (i informers) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	made := controllertest.NewFakeInformer()
	i.made[fmt.Sprintf("%T", o)] = made
	return made, nil
}

// TestNoPlanBeforeAllWasHeardOf (SC-9): as long as one kind of object was not shown
// in full, none should plan.
func TestNoPlanBeforeAllWasHeardOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		k, from := newClusterState(), informers{made: map[string]*controllertest.FakeInformer{}}
		if err := k.Follow(ctx, from, func(*karpv1.NodeClaim, bool) {}); err != nil {
			t.Fatal(err)
		}
		ready := make(chan bool, 1)
		go func() { ready <- k.WaitForFirst(ctx) }()
		for kind, informer := range from.made {
			if kind != "*v1.NodeClaim" {
				informer.Synced()
			}
		}
		time.Sleep(time.Minute) // virtual time
		synctest.Wait()
		if len(ready) > 0 {
			t.Error("the keeper is ready though it has not heard of claims")
		}
		from.made["*v1.NodeClaim"].Synced()
		time.Sleep(time.Second)
		synctest.Wait()
		if len(ready) == 0 || !<-ready {
			t.Error("the keeper is not ready though it has heard of everything")
		}
	})
}

// TestNoShapeOutlivesItsUsers: what daemons and their pods looked like once is
// forgotten when they look otherwise or are gone.
func TestNoShapeOutlivesItsUsers(t *testing.T) {
	k := newClusterState()
	for i := range 10 {
		ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"}}
		ds.Spec.Template.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(fmt.Sprintf("%dm", i+1))},
		}}}
		k.Seen(ds)
		p := pod("agent-1", fmt.Sprintf("%dm", 100+i), "n", func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent"}}
			p.Spec.Tolerations = podspec.DaemonPod(ds, nil, nil).Spec.Tolerations
		})
		k.Seen(p)
		k.Seen(p)
	}
	k.Snapshot()
	if !k.tables.shapes.Has("default") {
		t.Error("the template and the pod have no shapes")
	}
	k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent-1"}})
	k.Gone(&appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"}})
	if k.tables.shapes.Has("default") {
		t.Error("shapes are kept of what is gone")
	}
}
