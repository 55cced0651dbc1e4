package manifest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/daemok/daemok/core/cluster"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/translate"
)

// Delete is the snapshot as it will be once objects are deleted and their controllers have done what they do: pods of
// workloads are gone, and nodes of pools have drifted, since these are being deleted. Nodes that pods leave keep the time
// since when they are quiet, so that what they come to in the end is planned. Objects that the snapshot does not have,
// and classes, which stay until their NodeClaims are gone, are errors.
func Delete(objects []Object, s *cluster.Snapshot) (*cluster.Snapshot, Outcome, error) {
	d := deletion{s: cloned(s), beside: map[string]int{}}
	for _, o := range objects {
		if err := d.object(o); err != nil {
			return nil, Outcome{}, fmt.Errorf("%s: %w", o.At(), err)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(d.beside)) {
		d.Changes = append(d.Changes, fmt.Sprintf("no plan depends on the deletion of %d %s", d.beside[kind], kind))
	}
	d.s.Keep()
	return d.s, d.Outcome, nil
}

type deletion struct {
	Outcome
	s      *cluster.Snapshot
	beside map[string]int // by kind: objects that no plan depends on
}

// cloned is a snapshot whose lists may be written.
func cloned(s *cluster.Snapshot) *cluster.Snapshot {
	out := *s
	out.Waiting, out.Expected, out.PDBs = slices.Clone(s.Waiting), slices.Clone(s.Expected), slices.Clone(s.PDBs)
	out.Pools, out.Daemons = slices.Clone(s.Pools), slices.Clone(s.Daemons)
	out.Nodes, out.Instances = slices.Clone(s.Nodes), slices.Clone(s.Instances)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		n.Pods, n.LaunchedFor = slices.Clone(n.Pods), slices.Clone(n.LaunchedFor)
	}
	for i := range out.Instances {
		out.Instances[i].LaunchedFor = slices.Clone(out.Instances[i].LaunchedFor)
	}
	return &out
}

func (d *deletion) object(o Object) error {
	switch x := o.Object.(type) {
	case *karpv1.NodePool:
		return d.pool(o, cluster.PoolID{Kind: translate.KindNodePool, Name: x.Name})
	case *v1alpha5.Provisioner:
		return d.pool(o, cluster.PoolID{Kind: translate.KindProvisioner, Name: x.Name})
	case *awsv1.EC2NodeClass, *awsv1alpha1.AWSNodeTemplate:
		return errors.New("a class that is deleted stays until its NodeClaims are gone: delete its pools instead")
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.ReplicaSet, *batchv1.Job:
		kind := x.GetObjectKind().GroupVersionKind().Kind
		return d.pods(o,
			func(p *cluster.Pod) bool { return p.Namespace == o.GetNamespace() && p.Owner == kind+"/"+o.GetName() })
	case *appsv1.DaemonSet:
		d.s.Daemons = slices.DeleteFunc(d.s.Daemons,
			func(of cluster.Daemon) bool { return of.Namespace == x.Namespace && of.Name == x.Name })
		return d.pods(o,
			func(p *cluster.Pod) bool {
				return p.Daemon && p.Namespace == x.Namespace && p.Owner == "DaemonSet/"+x.Name
			})
	case *corev1.Pod:
		return d.pods(o, func(p *cluster.Pod) bool { return p.Namespace == x.Namespace && p.Name == x.Name })
	case *policyv1.PodDisruptionBudget:
		return d.budget(o, x)
	}
	d.beside[o.GetObjectKind().GroupVersionKind().Kind]++
	return nil
}

func (d *deletion) change(o Object, format string, args ...any) {
	d.Changes = append(d.Changes, o.String()+": "+fmt.Sprintf(format, args...))
}

func (d *deletion) pool(o Object, id cluster.PoolID) error {
	p, has := d.s.Pool(id)
	if !has {
		return fmt.Errorf("there is no %s to delete", id)
	}
	p.NotReady = cluster.PoolDeleting
	nodes := 0
	for i := range d.s.Nodes {
		if n := &d.s.Nodes[i]; n.Pool == id {
			n.Drifted, nodes = cluster.PoolDeleted, nodes+1
			if n.DriftedAt.IsZero() || n.DriftedAt.After(d.s.Now) {
				n.DriftedAt = d.s.Now.Add(-time.Second)
			}
		}
	}
	d.change(o, "deleted: nothing is launched from it, and its nodes go within its budgets: %d", nodes)
	return nil
}

// pods takes away the pods of a workload.
func (d *deletion) pods(o Object, of func(*cluster.Pod) bool) error {
	gone := 0
	without := func(list []cluster.Pod) []cluster.Pod {
		return slices.DeleteFunc(list, func(p cluster.Pod) bool { return of(&p) })
	}
	counted := func(list []cluster.Pod) []cluster.Pod {
		rest := without(list)
		gone += len(list) - len(rest)
		return rest
	}
	d.s.Waiting, d.s.Expected = counted(d.s.Waiting), without(d.s.Expected)
	for i := range d.s.Nodes {
		n := &d.s.Nodes[i]
		n.Pods, n.LaunchedFor = counted(n.Pods), without(n.LaunchedFor)
	}
	for i := range d.s.Instances {
		d.s.Instances[i].LaunchedFor = without(d.s.Instances[i].LaunchedFor)
	}
	if gone == 0 {
		return errors.New("it has no pods in the cluster, so that nothing changes: check its name and its namespace")
	}
	d.change(o, "deleted with its pods: %d", gone)
	return nil
}

func (d *deletion) budget(o Object, x *policyv1.PodDisruptionBudget) error {
	at := slices.IndexFunc(d.s.PDBs,
		func(b cluster.PodDisruptionBudget) bool { return b.Namespace == x.Namespace && b.Name == x.Name })
	if at < 0 {
		return errors.New("there is no such PodDisruptionBudget to delete")
	}
	d.s.PDBs = slices.Delete(d.s.PDBs, at, at+1)
	for i := range d.s.Nodes {
		for j := range d.s.Nodes[i].Pods {
			if p := &d.s.Nodes[i].Pods[j]; p.Namespace == x.Namespace && p.PDBs != "" {
				names := slices.DeleteFunc(strings.Split(p.PDBs, ","), func(name string) bool { return name == x.Name })
				p.PDBs, p.Kept = strings.Join(names, ","), false
			}
		}
	}
	d.change(o, "deleted: it keeps no pod")
	return nil
}
