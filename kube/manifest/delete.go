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
	requestv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	overlays "github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
)

// Delete is the snapshot as it will be once objects are deleted and their controllers have done what they do: pods
// of workloads are gone, and nodes of pools have drifted, since these are being deleted. Nodes that pods leave keep
// the time since when they are quiet, so that what they come to in the end is planned. Objects that the snapshot
// does not have, and classes without their pools, which stay until their NodeClaims are gone, are errors. A note
// names kinds that a plan depends on and whose deletion changes nothing here. live is what the snapshot is of: what
// DisruptionPolicies ask for is taken away there. It is nil where the snapshot was saved, which does not say what it
// has from which of them.
func Delete(objects []Object, s *cluster.Snapshot, live *snapshot.ClusterState) (*cluster.Snapshot, Outcome, error) {
	d := deletion{objects: objects, beside: map[string]int{}, stays: map[string]int{}}
	d.s = cloned(d.withoutPolicies(s, live))
	for _, step := range []func(Object) error{d.object, d.namespace} {
		for _, o := range objects {
			if err := step(o); err != nil {
				return nil, Outcome{}, fmt.Errorf("%s: %w", o.At(), err)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(d.beside)) {
		d.Changes = append(d.Changes, fmt.Sprintf("no plan depends on the deletion of %d %s", d.beside[kind], kind))
	}
	for _, kind := range slices.Sorted(maps.Keys(d.stays)) {
		d.Notes = append(d.Notes,
			fmt.Sprintf("%d %s: the deletion is not modelled, and the plan is made as if it stayed", d.stays[kind], kind))
	}
	d.s.Keep()
	return d.s, d.Outcome, nil
}

type deletion struct {
	Outcome
	s       *cluster.Snapshot
	objects []Object
	beside  map[string]int  // by kind: objects that no plan depends on
	stays   map[string]int  // by kind: objects that plans depend on, and whose deletion is not planned for
	unknown map[string]bool // DisruptionPolicies that the live cluster does not have
}

// cloned is a snapshot whose lists may be written.
func cloned(s *cluster.Snapshot) *cluster.Snapshot {
	out := *s
	out.Waiting, out.Expected, out.PDBs = slices.Clone(s.Waiting), slices.Clone(s.Expected), slices.Clone(s.PDBs)
	out.Pools, out.Daemons, out.Buffers = slices.Clone(s.Pools), slices.Clone(s.Daemons), slices.Clone(s.Buffers)
	out.Requested = slices.Clone(s.Requested)
	out.Nodes, out.Instances, out.Quotas = slices.Clone(s.Nodes), slices.Clone(s.Instances), slices.Clone(s.Quotas)
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
	if b, is := bufferOf(o.Object); is {
		return d.buffer(o, b.Namespace, b.Name)
	}
	switch x := o.Object.(type) {
	case *requestv1.ProvisioningRequest:
		return d.request(o, x.Namespace, x.Name)
	case *karpv1.NodePool:
		return d.pool(o, cluster.PoolID{Kind: translate.KindNodePool, Name: x.Name})
	case *v1alpha5.Provisioner:
		return d.pool(o, cluster.PoolID{Kind: translate.KindProvisioner, Name: x.Name})
	case *awsv1.EC2NodeClass:
		return d.class(o, translate.KindNodePool)
	case *awsv1alpha1.AWSNodeTemplate:
		return d.class(o, translate.KindProvisioner)
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
	case *batchv1.CronJob:
		job := "Job/" + x.Name + "-"
		gone := d.without(func(p *cluster.Pod) bool {
			number, of := strings.CutPrefix(p.Owner, job)
			return of && p.Namespace == x.Namespace && number != "" && strings.Trim(number, "0123456789") == ""
		})
		d.change(o, "deleted with the pods of its Jobs: %d", gone)
		return nil
	case *overlays.NodeOverlay:
		return d.overlay(o)
	case *v1beta1.CapacityQuota:
		return d.quota(o)
	case *v1alpha1.DisruptionPolicy:
		if d.unknown[x.Name] {
			return errors.New("there is no such DisruptionPolicy to delete")
		}
		return nil
	case *corev1.Namespace:
		return nil // it goes once all that is named is gone
	case *corev1.ConfigMap:
		if isFreeze(x) {
			d.freeze(o)
			return nil
		}
		if isKnown(x) {
			if d.s.Commitments = d.s.Commitments.OfAccount(); d.s.Commitments.Any() {
				d.change(o, "deleted: plans use what AWS says of the account alone")
			} else {
				d.change(o, "deleted: plans use no commitments")
			}
			return nil
		}
	}
	kind := o.GetObjectKind().GroupVersionKind().Kind
	if _, aside := aside(o.Object); aside {
		d.beside[kind]++
	} else {
		d.stays[kind]++
	}
	return nil
}

// request takes away a ProvisioningRequest.
func (d *deletion) request(o Object, namespace, name string) error {
	before := len(d.s.Requested)
	d.s.Requested = slices.DeleteFunc(d.s.Requested,
		func(r cluster.ProvisioningRequest) bool { return r.Namespace == namespace && r.Name == name })
	if len(d.s.Requested) == before {
		return errors.New("there is no such ProvisioningRequest to delete")
	}
	d.change(o, "deleted: its capacity is neither sought nor kept")
	return nil
}

// buffer takes away a CapacityBuffer.
func (d *deletion) buffer(o Object, namespace, name string) error {
	before := len(d.s.Buffers)
	d.s.Buffers = slices.DeleteFunc(d.s.Buffers,
		func(b cluster.Buffer) bool { return b.Namespace == namespace && b.Name == name })
	if len(d.s.Buffers) == before {
		return errors.New("there is no such CapacityBuffer to delete")
	}
	d.change(o, "deleted: no capacity is kept for its pods")
	return nil
}

// class takes in that a class goes once the NodeClaims of pools are gone that are deleted as well.
func (d *deletion) class(o Object, pools string) error {
	if !slices.ContainsFunc(d.objects,
		func(p Object) bool { return p.GetObjectKind().GroupVersionKind().Kind == pools }) {
		return errors.New("a class that is deleted stays until its NodeClaims are gone: delete its pools too")
	}
	d.change(o, "goes once no NodeClaim uses it: its nodes in other pools than those of the manifests keep it")
	return nil
}

// freeze ends a freeze, where it is by this ConfigMap.
func (d *deletion) freeze(o Object) {
	if by := "frozen by " + o.String(); d.s.Freeze == by || strings.HasPrefix(d.s.Freeze, by+":") ||
		strings.HasPrefix(d.s.Freeze, by+",") {
		d.s.Freeze, d.s.FreezeUntil = "", time.Time{}
		d.change(o, "deleted: nodes may be disrupted voluntarily")
		return
	}
	d.change(o, "deleted: it kept no node")
}

// withoutPolicies is the snapshot without what DisruptionPolicies among the objects asked for.
func (d *deletion) withoutPolicies(s *cluster.Snapshot, live *snapshot.ClusterState) *cluster.Snapshot {
	gone := map[string]bool{}
	d.unknown = map[string]bool{}
	for _, o := range d.objects {
		if p, is := o.Object.(*v1alpha1.DisruptionPolicy); is {
			gone[p.Name], d.unknown[p.Name] = true, live != nil
			if live == nil {
				d.Notes = append(d.Notes, fmt.Sprintf("%s is planned with as if it stayed: a saved snapshot does not say which "+
					"nodes are kept by which policy; plan on the live cluster", o))
			} else {
				d.change(o, "deleted: it keeps no node")
			}
		}
	}
	if live == nil || len(gone) == 0 {
		return s
	}
	var stay []v1alpha1.DisruptionPolicy
	for _, p := range live.Policies() {
		delete(d.unknown, p.Object.Name)
		if !gone[p.Object.Name] {
			stay = append(stay, *p.Object)
		}
	}
	live.PoliciesAre(stay)
	return live.Snapshot()
}

// namespace takes away all that is left in a namespace.
func (d *deletion) namespace(o Object) error {
	x, is := o.Object.(*corev1.Namespace)
	if !is {
		return nil
	}
	gone := d.without(func(p *cluster.Pod) bool { return p.Namespace == x.Name })
	before := len(d.s.Daemons) + len(d.s.PDBs)
	d.s.Daemons = slices.DeleteFunc(d.s.Daemons, func(of cluster.Daemon) bool { return of.Namespace == x.Name })
	d.s.PDBs = slices.DeleteFunc(d.s.PDBs, func(b cluster.PodDisruptionBudget) bool { return b.Namespace == x.Name })
	d.s.Buffers = slices.DeleteFunc(d.s.Buffers, func(b cluster.Buffer) bool { return b.Namespace == x.Name })
	d.s.Requested = slices.DeleteFunc(d.s.Requested,
		func(r cluster.ProvisioningRequest) bool { return r.Namespace == x.Name })
	if gone == 0 && before == len(d.s.Daemons)+len(d.s.PDBs) &&
		!slices.ContainsFunc(d.objects, func(o Object) bool { return o.GetNamespace() == x.Name }) {
		return errors.New("there is nothing in it that a plan depends on: check its name")
	}
	d.change(o, "deleted with all else that is in it: %s", counted(gone))
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
	gone := d.without(of)
	if gone == 0 {
		return errors.New("it has no pods in the cluster, so that nothing changes: check its name and its namespace")
	}
	d.change(o, "deleted with its pods: %d", gone)
	return nil
}

// without takes pods away, and counts them.
func (d *deletion) without(of func(*cluster.Pod) bool) (gone int) {
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
	return gone
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
