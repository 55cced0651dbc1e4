// Package pools makes the pools of a simulation from NodePools in manifests.
//
// It promises what `daemok plan -f` promises: what a controller or an API server would refuse is an
// error that names file, document and field. Instance types have the labels of EC2's types of the same
// name, as far as these are known, and the capacity for pods that the controller computes for the
// class.
package pools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/sim"
)

// Options says what takes the place of what manifests say.
type Options struct {
	Catalogue *cluster.Catalogue   // what can be launched
	Budget    string               // as in spec.disruption.budgets; empty: as the NodePools say
	Older     translate.Generation // how Provisioners are read; the zero value: they do not count
}

// World is what a simulation takes of manifests.
type World struct {
	Pools   []sim.RuledPool // by name
	Daemons []cluster.Daemon
	Notes   []string // what does not count
}

// Of returns the NodePools and Provisioners of the manifests, and the DaemonSets that run on their nodes.
func Of(objects []manifest.Object, o Options) (out World, err error) {
	x := &reader{options: o, now: time.Now().UTC(), classes: newClasses(labelled(o.Catalogue))}
	objects = x.known(objects)
	x.state = snapshot.New(x.classes.offered, func() time.Time { return x.now })
	x.state.Configure(func(s *snapshot.Settings) { s.Generations = translate.Generations{translate.NodePools(), o.Older} })
	applied, err := manifest.Apply(objects, manifest.World{ClusterState: x.state, Now: x.now, Class: x.classes.add,
		Older: func(p *v1alpha5.Provisioner) translate.PoolObject { return o.Older.View(p) }})
	if err != nil {
		return World{}, err
	}
	s := x.state.Snapshot()
	if len(s.Pools) == 0 {
		return World{}, errors.New("the manifests have no NodePool: a simulation with -f launches from those alone")
	}
	for i := range s.Pools {
		one, err := x.pool(&s.Pools[i])
		if err != nil {
			return World{}, err
		}
		out.Pools = append(out.Pools, one)
	}
	out.Daemons, out.Notes = s.Daemons, append(x.notes, applied.Notes...)
	return out, nil
}

// reader reads the manifests of one simulation.
type reader struct {
	options Options
	state   *snapshot.ClusterState
	now     time.Time
	classes *classes
	notes   []string
}

// known are the objects on which a simulation depends.
func (x *reader) known(objects []manifest.Object) (out []manifest.Object) {
	for _, o := range objects {
		switch o.Object.(type) {
		case *karpv1.NodePool, *awsv1.EC2NodeClass, *appsv1.DaemonSet:
			out = append(out, o)
			continue
		case *v1alpha5.Provisioner, *awsv1alpha1.AWSNodeTemplate:
			if x.options.Older.View != nil {
				out = append(out, o)
				continue
			}
		}
		x.notes = append(x.notes, fmt.Sprintf("%s does not count: simulations take NodePools, their classes and DaemonSets", o.At()))
	}
	return out
}

// pool is a NodePool as a simulation runs it.
func (x *reader) pool(p *cluster.Pool) (sim.RuledPool, error) {
	object, known := x.state.Pool(p.ID)
	if !known {
		return sim.RuledPool{}, fmt.Errorf("%s is not among the manifests", p.ID)
	}
	if _, why := x.classes.offered(object.Class); why != "" {
		return sim.RuledPool{}, fmt.Errorf("%s: %s", p.ID, why)
	}
	if x.options.Budget != "" {
		object.Disruption.Budgets = []karpv1.Budget{{Nodes: x.options.Budget}}
	}
	if why := launchesNothing(p); why != "" {
		x.notes = append(x.notes, fmt.Sprintf("%s launches nothing: %s", p.ID, why))
	}
	out := sim.RuledPool{Pool: *p, Rules: func(nodes int64, now time.Time) cluster.Policy { return translate.Policy(object, nodes, now) }}
	if after, ever := object.Template.Spec.ExpireAfter.Value(); ever {
		out.Expires = after
	}
	out.Grace, _ = object.Template.Spec.TerminationGracePeriod.Value()
	return out, nil
}

// launchesNothing says why a pool launches nothing for the pods of a workload; empty: it may.
func launchesNothing(p *cluster.Pool) string {
	kept := slices.IndexFunc(p.Taints, func(t constraint.Taint) bool { return t.Effect != constraint.PreferNoSchedule })
	switch {
	case p.NotReady != "":
		return p.NotReady
	case len(feasibility.ForPool(p, nil).Options) == 0:
		return strings.TrimSpace("no instance type of the catalogue has all that it requires. " + translate.Unoffered(p))
	case kept >= 0:
		return fmt.Sprintf("the pods of a workload do not tolerate its taint %s", p.Taints[kept])
	}
	return ""
}

// labelled is a catalogue with the labels of EC2's instance types.
func labelled(c *cluster.Catalogue) *cluster.Catalogue {
	out := &cluster.Catalogue{Revision: c.Revision, Disk: c.Disk, InstanceTypes: slices.Clone(c.InstanceTypes)}
	for i := range out.InstanceTypes {
		k := &out.InstanceTypes[i]
		if len(k.Offerings) == 0 {
			continue
		}
		if more, known := fakecloud.Labels(k.Name, strings.TrimRight(k.Offerings[0].Zone, "abcdefghijklmnopqrstuvwxyz")); known {
			k.Labels = more.Merge(k.Labels)
		}
	}
	return out
}
