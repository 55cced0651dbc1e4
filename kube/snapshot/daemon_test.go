package snapshot

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

func daemonSet() *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"}}
	ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: "agent"}}
	ds.Spec.Template.Spec.RuntimeClassName = new("sandbox")
	return ds
}

func daemonAsks(k *ClusterState) string { return k.Snapshot().Daemons[0].Shape.Requests.String() }

// TestWhatAPodOfADaemonAsksFor: the template with what admission would add,
// whichever is heard of first, until a pod shows what it really is.
func TestWhatAPodOfADaemonAsksFor(t *testing.T) {
	k := newClusterState()
	k.Seen(daemonSet())
	if got := daemonAsks(k); got != "pods=1" {
		t.Errorf("the template asks for %s, want nothing", got)
	}
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "limits"}}
	limits.Spec.Limits = []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}}}
	k.Seen(limits)
	if got := daemonAsks(k); got != "cpu=100m pods=1" {
		t.Errorf("SC-87: with a limit range the template asks for %s", got)
	}
	k.Seen(&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "sandbox"},
		Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")}}})
	if got := daemonAsks(k); got != "cpu=150m pods=1" {
		t.Errorf("SC-64: with a runtime class the template asks for %s", got)
	}
	real := pod("agent-1", "300m", "n", func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent"}} })
	k.Seen(real)
	if got := daemonAsks(k); got != "cpu=300m pods=1" {
		t.Errorf("SC-86: beside a real pod the template's word counts: %s", got)
	}
	k.Gone(&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "limits"}})
	k.Gone(&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "sandbox"}})
	if got := daemonAsks(k); got != "cpu=300m pods=1" {
		t.Errorf("SC-86: what the real pod asks for changed to %s", got)
	}
}

// A DaemonSet makes pods where its template tolerates the taints. What its runtime class
// lets its pods tolerate counts for nothing, not even once such a pod is there, whichever
// of both is heard of first.
func TestADaemonToleratesWhatItsTemplateDoes(t *testing.T) {
	sandbox := []corev1.Toleration{{Key: "sandbox", Operator: corev1.TolerationOpExists}}
	member := pod("agent-1", "300m", "n", func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent"}}
		p.Spec.Tolerations = sandbox
	})
	tolerates := func(k *ClusterState) bool {
		for _, x := range k.Snapshot().Daemons[0].Shape.Tolerations {
			if x.Key == "sandbox" {
				return true
			}
		}
		return false
	}
	for name, podFirst := range map[string]bool{"its pod first": true, "the DaemonSet first": false} {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.Seen(&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "sandbox"}, Scheduling: &nodev1.Scheduling{Tolerations: sandbox}})
			if podFirst {
				k.Listed(member)
			}
			k.Seen(daemonSet())
			if tolerates(k) {
				t.Error("it tolerates what its runtime class does")
			}
			if !podFirst {
				k.Seen(member)
			}
			if tolerates(k) {
				t.Error("after its first pod it tolerates what its runtime class does")
			}
			if got := daemonAsks(k); got != "cpu=300m pods=1" {
				t.Errorf("it asks for %s, want what its pod does", got)
			}
		})
	}
}

// The API server refuses pods whose node selector contradicts that of their runtime class:
// there are none, and no room is kept for them.
func TestADaemonWhosePodsAreRefusedTakesNothing(t *testing.T) {
	k := newClusterState()
	ds := daemonSet()
	ds.Spec.Template.Spec.NodeSelector = map[string]string{"isolation": "none"}
	class := func(isolation string) *nodev1.RuntimeClass {
		return &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "sandbox"}, Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"isolation": isolation}}}
	}
	daemons := func() int { return len(k.Snapshot().Daemons) }
	k.Seen(ds)
	if got := daemons(); got != 1 {
		t.Errorf("%d DaemonSets count while no runtime class contradicts, want 1", got)
	}
	k.Seen(class("vm"))
	if got := daemons(); got != 0 {
		t.Errorf("%d DaemonSets count whose pods are refused, want none", got)
	}
	k.Seen(class("none"))
	if got := daemons(); got != 1 {
		t.Errorf("%d DaemonSets count once their pods are admitted, want 1", got)
	}
}

// TestHowManyVolumesANodeTakes: what its drivers say and, until these have
// registered, what its kind takes.
func TestHowManyVolumesANodeTakes(t *testing.T) {
	const ebs = "ebs.csi.aws.com"
	kinds := func(karpv1.NodeClassReference) (*cluster.Catalogue, string) {
		return &cluster.Catalogue{Revision: 1, InstanceTypes: []cluster.InstanceType{
			{Name: "m5.large", Attachable: []cluster.Attachable{{Driver: ebs, Count: 27}}},
			{Name: "m5.metal", Attachable: []cluster.Attachable{{Driver: ebs, Count: 15}}},
		}}, ""
	}
	k := New(kinds, newClusterState().now)
	claim := claimOf("n")
	k.Seen(claim)
	if got := k.Snapshot().Instances[0].Attachable; len(got) != 1 || got[0].Count != 15 {
		t.Errorf("SC-189: a machine that may be either takes %v, want the least of both", got)
	}
	claim = claimOf("n", karpv1.ClaimRegistered)
	claim.Labels[api.LabelInstanceType] = "m5.large"
	k.Seen(claim)
	k.Seen(node("n"))
	if got := k.Snapshot().Nodes[0].Attachable; len(got) != 1 || got[0].Count != 27 {
		t.Errorf("SC-189: a node whose driver has not registered takes %v, want what its kind takes", got)
	}
	drivers := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	drivers.Spec.Drivers = []storagev1.CSINodeDriver{{Name: ebs, Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(25))}}}
	k.Seen(drivers)
	if got := k.Snapshot().Nodes[0].Attachable; len(got) != 1 || got[0].Count != 25 {
		t.Errorf("SC-189: a node takes %v, want what its driver says", got)
	}
	before := k.Snapshot()
	k.Seen(claimOf("n", karpv1.ClaimRegistered, karpv1.ClaimInitialized))
	if got := k.Snapshot().Nodes[0].Attachable; len(got) != 1 || got[0] != before.Nodes[0].Attachable[0] {
		t.Errorf("SC-197: after a change of its claim the node takes %v", got)
	}
	k.Gone(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	if got := k.Snapshot().Nodes[0].Attachable; len(got) != 0 {
		t.Errorf("an initialized node without drivers takes %v, want no limit, as the scheduler sees it", got)
	}
}

// TestVolumesLeftBehindCount: a volume that is still attached takes its place
// until it is detached, unless a pod that is there uses it and is counted.
func TestVolumesLeftBehindCount(t *testing.T) {
	const ebs = "ebs.csi.aws.com"
	k := newClusterState()
	k.Seen(node("n"))
	drivers := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	drivers.Spec.Drivers = []storagev1.CSINodeDriver{{Name: ebs, Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(25))}}}
	k.Seen(drivers)
	takes := func() int64 { return k.Snapshot().Nodes[0].Attachable[0].Count }
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}}
	claim.Spec.VolumeName = "v"
	k.Seen(claim)
	user := pod("db-0", "1", "n")
	user.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	k.Seen(user)
	attached := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-1"}}
	attached.Spec.Attacher, attached.Spec.NodeName, attached.Spec.Source.PersistentVolumeName = ebs, "n", new("v")
	k.Seen(attached)
	if got := takes(); got != 25 {
		t.Errorf("SC-189: beside the pod that uses the volume the node takes %d, want 25 in all", got)
	}
	k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db-0"}})
	if got := takes(); got != 24 {
		t.Errorf("SC-189: with a volume left behind the node takes %d, want 24", got)
	}
	waiting := user.DeepCopy()
	waiting.Spec.NodeName = ""
	k.Seen(waiting)
	if got := takes(); got != 25 {
		t.Errorf("SC-189: while its user waits, or its binding has not been seen, the node takes %d, want 25", got)
	}
	elsewhere := user.DeepCopy()
	elsewhere.Spec.NodeName = "m"
	k.Seen(elsewhere)
	if got := takes(); got != 24 {
		t.Errorf("SC-189: while its user runs elsewhere the node takes %d, want 24", got)
	}
	k.Gone(&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-1"}, Spec: storagev1.VolumeAttachmentSpec{NodeName: "n"}})
	if got := takes(); got != 25 {
		t.Errorf("SC-189: after it was detached the node takes %d, want 25", got)
	}
}
