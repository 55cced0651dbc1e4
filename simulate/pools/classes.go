package pools

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
)

// classes are those of the manifests, of both API generations.
type classes struct {
	kinds []class.Kind
	given map[string]client.Object // by type and name
	from  *cluster.Catalogue
	made  map[karpv1.NodeClassReference]*cluster.Catalogue
}

func newClasses(from *cluster.Catalogue) *classes {
	account := &class.Account{}
	return &classes{kinds: []class.Kind{class.NodeClasses("", validate.ClassOptions{}), class.NodeTemplates(account), class.Provisioners(account)},
		given: map[string]client.Object{}, from: from, made: map[karpv1.NodeClassReference]*cluster.Catalogue{}}
}

// Get implements client.Reader.
func (x *classes) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	o, given := x.given[keyOf(into, key.Name)]
	if !given {
		return fmt.Errorf("the manifests have no %s %s, which it names: add it", reflect.TypeOf(into).Elem().Name(), key.Name)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(o.DeepCopyObject()).Elem())
	return nil
}

// List implements client.Reader; nothing lists classes.
func (x *classes) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.ErrUnsupported
}

func keyOf(o client.Object, name string) string { return fmt.Sprintf("%T/%s", o, name) }

// add takes in a class, which the controller would not refuse, or a Provisioner.
func (x *classes) add(o client.Object) error {
	for i := range x.kinds {
		if kind := &x.kinds[i]; reflect.TypeOf(kind.New()) == reflect.TypeOf(o) {
			if wrong := validate.Refusal(kind.Validate(o)); wrong != "" {
				return errors.New(wrong)
			}
		}
	}
	x.given[keyOf(o, o.GetName())] = o
	return nil
}

// any reports whether the manifests have classes of a Kind.
func (x *classes) any(kind class.Kind) bool {
	for _, o := range x.given {
		if reflect.TypeOf(o) == reflect.TypeOf(kind.New()) {
			return true
		}
	}
	return false
}

// offered is the catalogue with what instances of a class have, or why there is none. Manifests without classes of
// the Kind leave instances as they are.
func (x *classes) offered(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	at := slices.IndexFunc(x.kinds, func(k class.Kind) bool { return k.Group == ref.Group && k.Name == ref.Kind })
	if at < 0 || !x.any(x.kinds[at]) {
		return x.from, ""
	}
	if x.made[ref] == nil {
		c, err := x.kinds[at].ByName(context.Background(), x, ref.Name)
		if err == nil {
			x.made[ref], err = x.sized(c)
		}
		if err != nil {
			return nil, err.Error()
		}
	}
	return x.made[ref], ""
}

// sized is the catalogue with what instances have under the settings of a class, as the controller works it out. What a
// class selects, such as images, subnets and reservations, does not count.
func (x *classes) sized(c *class.Subject) (*cluster.Catalogue, error) {
	settings, err := class.Settings(c)
	if err != nil {
		return nil, err
	}
	settings.Spec.Placement, settings.Spec.Reservations, settings.Spec.Interfaces = nil, nil, nil
	settings.Resolved = nodeclass.Resolved{Images: []nodeclass.Image{{ID: "any"}}}
	types, offerings := make([]catalog.Type, len(x.from.InstanceTypes)), map[string][]cluster.Offering{}
	for i := range x.from.InstanceTypes {
		types[i], offerings[x.from.InstanceTypes[i].Name] = typeOf(&x.from.InstanceTypes[i]), x.from.InstanceTypes[i].Offerings
	}
	made := catalog.For(types, settings, catalog.Settings{MemoryOverhead: aws.UsualMemoryOverhead})
	if u := made.Unsized; u.Types > 0 {
		return nil, fmt.Errorf("%s has no amount for %d of %d instance types: %s: %w", c.ID(), u.Types, u.Of, u.First, u.Why)
	}
	out := &cluster.Catalogue{Revision: x.from.Revision, InstanceTypes: made.InstanceTypes}
	for i := range out.InstanceTypes {
		out.InstanceTypes[i].Offerings, out.InstanceTypes[i].Attachable = offerings[out.InstanceTypes[i].Name], nil // the catalogue knows no volumes
	}
	return out, nil
}

// typeOf is a type of the catalogue as EC2 would describe it: of its size, with addresses for as many pods as the
// catalogue says. A type that EC2 has too has its local disks.
func typeOf(k *cluster.InstanceType) catalog.Type {
	arch, _ := k.Labels.Get(cluster.LabelArch)
	out := catalog.Type{Name: k.Name, Arch: arch, CPUs: int64(k.Capacity.CPU / 1000), MemoryMiB: int64(k.Capacity.Memory / quantity.MiB),
		ENIs: 1, AddressesByENI: k.Capacity.Pods - 1, Nitro: true, NestedVirtual: true, Sustained: k.Sustained, Spot: true, OnDemand: true, Labels: k.Labels}
	if t, known := ec2data.Load().Type(k.Name); known {
		out.Nitro = t.Hypervisor == "nitro" || t.BareMetal
		if t.Storage != nil && t.Storage.NVMe != "unsupported" {
			out.LocalGB = t.Storage.TotalGB
		}
	}
	return out
}
