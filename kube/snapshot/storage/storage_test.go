package storage

import (
	"iter"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
)

// pods are the nodes of the pods that use each claim, and the claims that were said to have changed.
type pods struct {
	nodes   map[types.NamespacedName][]string
	changed []types.NamespacedName
}

func (p *pods) Claims() iter.Seq[types.NamespacedName] { return maps.Keys(p.nodes) }
func (p *pods) NodesOf(claim types.NamespacedName) iter.Seq[string] {
	return slices.Values(p.nodes[claim])
}
func (p *pods) ClaimChanged(claim types.NamespacedName) bool {
	p.changed = append(p.changed, claim)
	return len(p.nodes[claim]) > 0
}

type looked []string

func (n *looked) Changed(name string) { *n = append(*n, name) }

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}

func claim(name, volume string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	c.Spec.VolumeName = volume
	return c
}

// A claim that changes concerns the pods that use it, and their nodes, and no others.
func TestAClaimConcernsThePodsThatUseIt(t *testing.T) {
	used, on := &pods{nodes: map[types.NamespacedName][]string{named("used"): {"n1"}}}, &looked{}
	table := New(used, on)
	if !table.ClaimSeen(claim("used", "v")) || table.ClaimSeen(claim("used", "v")) {
		t.Error("want a change where the claim is new, and none where it says the same")
	}
	if table.ClaimSeen(claim("unused", "w")) {
		t.Error("a claim that no pod uses has changed something")
	}
	if want := []string{"n1"}; !slices.Equal(*on, want) || len(used.changed) != 2 {
		t.Errorf("nodes %v and claims %v were looked at again, want %v", *on, used.changed, want)
	}
	if !table.HasClaim(named("used")) || !table.ClaimGone(claim("used", "v")) || table.HasClaim(named("used")) {
		t.Error("want the claim there until it is gone")
	}
}

// What is attached and not used takes a place from the pods to come.
func TestVolumesLeftBehindTakePlaces(t *testing.T) {
	used := &pods{nodes: map[types.NamespacedName][]string{named("data"): {"n1"}}}
	table := New(used, &looked{})
	count := int32(3)
	table.CSINodeSeen(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "ebs", Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}}})
	table.ClaimSeen(claim("data", "v1"))
	for _, volume := range []string{"v1", "v2"} {
		table.AttachmentSeen(&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: volume}, Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "ebs", NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}}})
	}
	want := []cluster.Attachable{{Driver: "ebs", Count: 2}, {Driver: "efs", Count: 5}}
	if got := table.Attachable("n1", []cluster.Attachable{{Driver: "ebs", Count: 9}, {Driver: "efs", Count: 5}}); !slices.Equal(got, want) {
		t.Errorf("attachable are %v, want %v", got, want)
	}
	table.AttachmentGone(&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "v2"}, Spec: storagev1.VolumeAttachmentSpec{NodeName: "n1"}})
	if got := table.Attachable("n1", nil); len(got) != 1 || got[0].Count != 3 {
		t.Errorf("attachable are %v once the volume is detached, want 3", got)
	}
}
