package translate

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Kinds of pools, one for each API generation.
const (
	KindNodePool    = "NodePool"
	KindProvisioner = "Provisioner"
)

// PoolResource is a pool as an API generation has it.
type PoolResource interface {
	client.Object
	condition.Object
}

// Generation is how pools of one API generation are read.
type Generation struct {
	Kind       string // of its pools, which their IDs have too
	APIVersion string
	Resource   string // what kubectl calls them
	New        func() PoolResource
	NewList    func() client.ObjectList
	View       func(PoolResource) PoolObject
}

// NodePools is the generation of karpenter.sh/v1.
func NodePools() Generation {
	return Generation{
		Kind: KindNodePool, APIVersion: karpv1.GroupVersion.String(), Resource: "nodepool",
		New:     func() PoolResource { return &karpv1.NodePool{} },
		NewList: func() client.ObjectList { return &karpv1.NodePoolList{} },
		View:    func(o PoolResource) PoolObject { return FromNodePool(o.(*karpv1.NodePool)) },
	}
}

// ID names a pool of the generation.
func (g Generation) ID(name string) cluster.PoolID { return cluster.PoolID{Kind: g.Kind, Name: name} }

// Items are the pools of a list that NewList made. They are the list's own.
func (g Generation) Items(list client.ObjectList) []PoolResource {
	out := make([]PoolResource, 0, apimeta.LenList(list))
	_ = apimeta.EachListItem(list, func(o runtime.Object) error { // fails for what is no list
		out = append(out, o.(PoolResource))
		return nil
	})
	return out
}

// List reads all pools of the generation, with options as a client takes them.
func (g Generation) List(ctx context.Context, from client.Reader, options ...client.ListOption) ([]PoolResource, error) {
	list := g.NewList()
	if err := from.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("list %ss: %w", g.Kind, err)
	}
	return g.Items(list), nil
}

// Generations are those whose pools are served.
type Generations []Generation

// Of is the generation whose pools are of a kind.
func (all Generations) Of(kind string) (Generation, bool) {
	for _, g := range all {
		if g.Kind == kind {
			return g, true
		}
	}
	return Generation{}, false
}

// List reads the pools of all generations, with options as a client takes them.
func (all Generations) List(ctx context.Context, from client.Reader, options ...client.ListOption) ([]PoolObject, error) {
	var out []PoolObject
	for _, g := range all {
		pools, err := g.List(ctx, from, options...)
		if err != nil {
			return nil, err
		}
		for _, o := range pools {
			out = append(out, g.View(o))
		}
	}
	return out, nil
}

// Read reads one pool. One that does not exist, or whose kind is not served, is an
// error as the API server has it.
func (all Generations) Read(ctx context.Context, from client.Reader, id cluster.PoolID) (PoolObject, error) {
	g, served := all.Of(id.Kind)
	if !served {
		return PoolObject{}, apierrors.NewNotFound(schema.GroupResource{Resource: id.Kind}, id.Name)
	}
	o := g.New()
	if err := from.Get(ctx, client.ObjectKey{Name: id.Name}, o); err != nil {
		return PoolObject{}, err
	}
	return g.View(o), nil
}

// poolLabels are the labels of claims and nodes that name their pool, by its kind.
var poolLabels = []struct{ kind, label string }{{KindNodePool, api.LabelNodePool}, {KindProvisioner, api.LabelProvisioner}}

// PoolLabel is the label by which claims and nodes name a pool of the kind.
func PoolLabel(kind string) string {
	for _, of := range poolLabels {
		if of.kind == kind {
			return of.label
		}
	}
	return api.LabelNodePool
}

// PoolRef is enough of a pool to hang an event on.
func PoolRef(id cluster.PoolID) *metav1.PartialObjectMetadata {
	version := karpv1.GroupVersion.String()
	if id.Kind == KindProvisioner {
		version = api.GroupKarpenter + "/v1alpha5"
	}
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: cmp.Or(id.Kind, KindNodePool)},
		ObjectMeta: metav1.ObjectMeta{Name: id.Name},
	}
}

// Belonging selects the claims and nodes of a pool.
func Belonging(id cluster.PoolID) client.MatchingLabels {
	return client.MatchingLabels{PoolLabel(id.Kind): id.Name}
}

// PoolNamed is the pool that labels of a claim or a node name; zero: none.
func PoolNamed(labels map[string]string) cluster.PoolID {
	for _, of := range poolLabels {
		if name := labels[of.label]; name != "" {
			return cluster.PoolID{Kind: of.kind, Name: name}
		}
	}
	return cluster.PoolID{}
}

// PoolOf names the pool a claim belongs to; zero for one made by hand.
func PoolOf(claim *karpv1.NodeClaim) cluster.PoolID { return PoolNamed(claim.Labels) }

// PoolOfNode names the pool a node belongs to; zero: none.
func PoolOfNode(node *corev1.Node) cluster.PoolID { return PoolNamed(node.Labels) }

// Called is a pool's name in metrics and logs, where NodePools stand by their names
// alone: "default", "provisioner/default".
func Called(id cluster.PoolID) string {
	if id.Kind == KindNodePool || id.Name == "" {
		return id.Name
	}
	return strings.ToLower(id.Kind) + "/" + id.Name
}

// PoolCalled is what the pool is called that labels of a claim or a node name; empty:
// none.
func PoolCalled(labels map[string]string) string { return Called(PoolNamed(labels)) }
