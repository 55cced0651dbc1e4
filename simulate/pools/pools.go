// Package pools makes the pools of a simulation of NodePools in manifests.
//
// It promises what `daemok plan -f` promises: what a controller or an API server would refuse is an error
// that names file, document and field. Instance types have the labels of EC2's
// types of the same name, as far as these are known; what classes say of their instances does not count.
package pools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/fake"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/fit"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/sim"
)

// Options says what takes the place of what manifests say.
type Options struct {
	Catalogue *cluster.Catalogue // what can be launched
	Budget    string             // as in spec.disruption.budgets; empty: as the NodePools say
}

// Of returns the NodePools of the manifests, by name. Notes say what does not count.
func Of(objects []manifest.Object, o Options) (out []sim.RuledPool, notes []string, err error) {
	x := &reader{options: o, catalogue: labelled(o.Catalogue), now: time.Now().UTC(), classes: map[string]bool{}}
	objects = x.known(objects)
	x.keeper = snapshot.NewKeeper(func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return x.catalogue, "" }, func() time.Time { return x.now })
	applied, err := manifest.Apply(objects, manifest.World{Keeper: x.keeper, Now: x.now, Class: x.class})
	if err != nil {
		return nil, nil, err
	}
	pools := x.keeper.Snapshot().Pools
	if len(pools) == 0 {
		return nil, nil, errors.New("the manifests have no NodePool: a simulation with -f launches from those alone")
	}
	for i := range pools {
		one, err := x.pool(&pools[i])
		if err != nil {
			return nil, nil, err
		}
		out = append(out, one)
	}
	return out, append(x.notes, applied.Notes...), nil
}

// reader reads the manifests of one simulation.
type reader struct {
	options   Options
	catalogue *cluster.Catalogue
	keeper    *snapshot.Keeper
	now       time.Time
	classes   map[string]bool // EC2NodeClasses, by name
	notes     []string
}

// known are the objects on which a simulation depends.
func (x *reader) known(objects []manifest.Object) (out []manifest.Object) {
	for _, o := range objects {
		switch o.Object.(type) {
		case *karpv1.NodePool, *awsv1.EC2NodeClass:
			out = append(out, o)
		default:
			x.notes = append(x.notes, fmt.Sprintf("%s does not count: simulations take NodePools and EC2NodeClasses", o.At()))
		}
	}
	return out
}

// class checks a class. What its instances have comes from the catalogue.
func (x *reader) class(o client.Object) error {
	c, is := o.(*awsv1.EC2NodeClass)
	if !is {
		return nil
	}
	if wrong := validate.Refusal(validate.EC2NodeClass(c, validate.ClassOptions{})); wrong != "" {
		return errors.New(wrong)
	}
	x.classes[c.Name] = true
	x.notes = append(x.notes, fmt.Sprintf("EC2NodeClass %s was checked and does not count otherwise: instances have what the catalogue says", c.Name))
	return nil
}

// pool is a NodePool as a simulation runs it.
func (x *reader) pool(p *cluster.Pool) (sim.RuledPool, error) {
	object, known := x.keeper.Pool(p.ID)
	if !known {
		return sim.RuledPool{}, fmt.Errorf("%s is not among the manifests", p.ID)
	}
	if name := object.Class.Name; len(x.classes) > 0 && !x.classes[name] {
		return sim.RuledPool{}, fmt.Errorf("%s: spec.template.spec.nodeClassRef: the manifests have no EC2NodeClass %s", p.ID, name)
	}
	if x.options.Budget != "" {
		object.Disruption.Budgets = []karpv1.Budget{{Nodes: x.options.Budget}}
	}
	if len(fit.ForPool(p, nil).Options) == 0 {
		x.notes = append(x.notes, strings.TrimSpace(fmt.Sprintf("%s launches nothing: no instance type of the catalogue has all that it requires. %s", p.ID, translate.Unoffered(p))))
	}
	out := sim.RuledPool{Pool: *p, Rules: func(nodes int64, now time.Time) cluster.Policy { return translate.Policy(object, nodes, now) }}
	if after, ever := object.Template.Spec.ExpireAfter.Value(); ever {
		out.Expires = after
	}
	out.Grace, _ = object.Template.Spec.TerminationGracePeriod.Value()
	return out, nil
}

// labelled is a catalogue with the labels of EC2's instance types.
func labelled(c *cluster.Catalogue) *cluster.Catalogue {
	out := &cluster.Catalogue{Revision: c.Revision, Disk: c.Disk, Kinds: slices.Clone(c.Kinds)}
	for i := range out.Kinds {
		k := &out.Kinds[i]
		if len(k.Offers) == 0 {
			continue
		}
		if more, known := fake.Labels(k.Name, strings.TrimRight(k.Offers[0].Zone, "abcdefghijklmnopqrstuvwxyz")); known {
			k.Labels = more.Merge(k.Labels)
		}
	}
	return out
}
