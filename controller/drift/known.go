package drift

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// pool is a pool with its requirements read; nil where they cannot be.
type pool struct {
	translate.PoolObject
	requirements constraint.Requirements
	readable     bool
}

// class is a class with what it offers; kinds is nil while that is not known.
type class struct {
	Class
	id            string
	instanceTypes map[string]*cluster.InstanceType
}

// known is what one round knows of pools and classes, each read once.
type known struct {
	ctx     context.Context
	finder  *Finder
	pools   map[cluster.PoolID]*pool
	classes map[karpv1.NodeClassReference]*class
	lacks   lacks
}

func (f *Finder) newKnown(ctx context.Context) *known {
	return &known{ctx: ctx, finder: f, pools: map[cluster.PoolID]*pool{},
		classes: map[karpv1.NodeClassReference]*class{}}
}

// pool is nil for one that was not seen.
func (k *known) pool(id cluster.PoolID) *pool {
	if p, read := k.pools[id]; read {
		return p
	}
	k.pools[id] = nil
	if seen, found := k.finder.Pools.Pool(id); found {
		requirements, err := translate.PoolRequirements(seen)
		k.pools[id] = &pool{seen, requirements, err == nil}
	}
	return k.pools[id]
}

func (k *known) class(ref karpv1.NodeClassReference) (*class, error) {
	if c, read := k.classes[ref]; read {
		return c, nil
	}
	form, err := k.finder.Classes.Form(k.ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("read what instances of %s are launched from: %w", translate.ClassID(ref), err)
	}
	c := &class{Class: form, id: translate.ClassID(ref)}
	catalogue, _ := k.finder.Classes.Kinds(ref)
	c.instanceTypes = instanceTypesOf(catalogue)
	k.classes[ref] = c
	return c, nil
}

// instanceTypesOf are the instance types of a catalogue by name; nil where it is not known,
// or empty.
func instanceTypesOf(catalogue *cluster.Catalogue) map[string]*cluster.InstanceType {
	if catalogue == nil || len(catalogue.InstanceTypes) == 0 {
		return nil
	}
	out := make(map[string]*cluster.InstanceType, len(catalogue.InstanceTypes))
	for i := range catalogue.InstanceTypes {
		out[catalogue.InstanceTypes[i].Name] = &catalogue.InstanceTypes[i]
	}
	return out
}

// instance is what is compared of an instance at the cloud.
type instance struct {
	image, subnet    string
	reservedCapacity string   // reservation that it runs in
	placement        string   // placement group that it is in
	groups           []string // sorted
}

func instanceOf(m cloud.Instance) *instance {
	return &instance{m.Image, m.Subnet, m.ReservedCapacity, m.Placement, m.Groups}
}

// listInstances asks the cloud for all instances at once, where what it said last is too
// old, or at once. Those that are ending say nothing.
func (f *Finder) listInstances(ctx context.Context, atOnce bool) error {
	now := f.Now()
	if now.Sub(f.listedAt) < instancesEvery && !atOnce {
		return nil
	}
	list, err := f.Instances.List(ctx, cloud.Filter{})
	if err != nil {
		return fmt.Errorf("list instances to find those that drifted: %w", err)
	}
	f.listedAt = now
	f.instances = make(map[string]instance, len(list))
	for _, m := range list {
		if m.State == cloud.Pending || m.State == cloud.Running {
			f.instances[m.ID] = *instanceOf(m)
		}
	}
	return nil
}

// anyYounger reports whether an instance was launched after all were asked for.
func (f *Finder) anyYounger(claims []karpv1.NodeClaim) bool {
	return slices.ContainsFunc(claims, func(c karpv1.NodeClaim) bool {
		launched := condition.Get(&c, karpv1.ClaimLaunched)
		return c.DeletionTimestamp == nil && launched != nil && launched.Status == metav1.ConditionTrue &&
			!launched.LastTransitionTime.Time.Before(f.listedAt.Truncate(time.Second)) // API servers keep whole seconds
	})
}
