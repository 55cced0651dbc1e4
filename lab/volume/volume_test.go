package volume_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/daemok/daemok/lab/volume"
)

func class(mode storagev1.VolumeBindingMode, zones ...string) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "gp3"}, Provisioner: volume.DriverName, VolumeBindingMode: &mode}
	if len(zones) > 0 {
		c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
			{Key: "topology.kubernetes.io/zone", Values: zones}}}}
	}
	return c
}

// claim asks for 1500Mi of the class, handed to the driver by the cluster.
func claim(annotations ...string) *corev1.PersistentVolumeClaim {
	name := "gp3"
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: "default", UID: "u1", Annotations: map[string]string{
			"volume.kubernetes.io/storage-provisioner": volume.DriverName}},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &name, Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1500Mi")}}},
	}
	for i := 0; i+1 < len(annotations); i += 2 {
		c.Annotations[annotations[i]] = annotations[i+1]
	}
	return c
}

const selected = "volume.kubernetes.io/selected-node"

func node(name, zone string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"topology.ebs.csi.aws.com/zone": zone}}}
}

// inBubble runs a driver over objects in virtual time.
func inBubble(t *testing.T, objects []runtime.Object, story func(*fake.Clientset, *volume.Driver)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		client := fake.NewClientset(objects...)
		d := volume.New(volume.Options{Client: client, AttachAfter: 3 * time.Second, DetachAfter: 4 * time.Second})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := d.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		pass(time.Second)
		story(client, d)
		cancel()
		wg.Wait()
	})
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func zoneOf(t *testing.T, c *fake.Clientset) string {
	t.Helper()
	all, err := c.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Items) == 0 {
		return ""
	}
	return all.Items[0].Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]
}

func TestProvisionsInZone(t *testing.T) {
	wait, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	nodes := []runtime.Object{node("n1", "us-east-1a"), node("n2", "us-east-1b")}
	tests := map[string]struct {
		claim *corev1.PersistentVolumeClaim
		class *storagev1.StorageClass
		want  string // zone; "" when nothing is provisioned
	}{
		"of the selected node":                      {claim(selected, "n2"), class(wait), "us-east-1b"},
		"not before a node is selected":             {claim(), class(wait), ""},
		"not on a node that is gone":                {claim(selected, "n9"), class(wait), ""},
		"at once in an allowed one":                 {claim(), class(now, "us-east-1c"), "us-east-1c"},
		"not for another driver's claim":            {claim("volume.kubernetes.io/storage-provisioner", "efs"), class(now, "us-east-1c"), ""},
		"at once in one where the driver has nodes": {claim(), class(now), "us-east-1b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, append([]runtime.Object{tt.claim, tt.class}, nodes...), func(c *fake.Clientset, _ *volume.Driver) {
				if got := zoneOf(t, c); got != tt.want {
					t.Errorf("zone of the volume = %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// A volume is a whole number of GiB, made for its claim and deleted as its
// class says.
func TestProvisionedVolume(t *testing.T) {
	objects := []runtime.Object{claim(selected, "n1"), class(storagev1.VolumeBindingWaitForFirstConsumer), node("n1", "a")}
	inBubble(t, objects, func(c *fake.Clientset, _ *volume.Driver) {
		v, err := c.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-u1", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if size := v.Spec.Capacity[corev1.ResourceStorage]; size.String() != "2Gi" {
			t.Errorf("size = %s, want 2Gi", size.String())
		}
		if ref := v.Spec.ClaimRef; ref.UID != "u1" || ref.Name != "data" || !strings.HasPrefix(v.Spec.CSI.VolumeHandle, "vol-0") {
			t.Errorf("volume = %+v, want one of the claim with an EBS id", v.Spec)
		}
		v.Status.Phase = corev1.VolumeReleased
		if _, err := c.CoreV1().PersistentVolumes().UpdateStatus(t.Context(), v, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if got := zoneOf(t, c); got != "" {
			t.Errorf("released volume is still there in %s", got)
		}
	})
}

// The selection of a node that is gone is taken back for the scheduler.
func TestSelectionOfLostNodeIsTakenBack(t *testing.T) {
	objects := []runtime.Object{claim(selected, "n9"), class(storagev1.VolumeBindingWaitForFirstConsumer)}
	inBubble(t, objects, func(c *fake.Clientset, _ *volume.Driver) {
		got, err := c.CoreV1().PersistentVolumeClaims("default").Get(t.Context(), "data", metav1.GetOptions{})
		if err != nil || got.Annotations[selected] != "" {
			t.Errorf("selected node = %q, %v; want none", got.Annotations[selected], err)
		}
	})
}

func attachment(t *testing.T, c *fake.Clientset) *storagev1.VolumeAttachment {
	t.Helper()
	all, err := c.StorageV1().VolumeAttachments().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(all.Items) != 1 {
		t.Fatalf("attachments = %+v, %v; want one", all.Items, err)
	}
	return &all.Items[0]
}

// A pod waits until its claim is bound and the volume attached, which takes a
// while each way; the attachment is held until the volume is off.
func TestAttachAndDetach(t *testing.T) {
	bound := claim()
	bound.Spec.VolumeName, bound.Status.Phase = "pv1", corev1.ClaimBound
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv1"}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: volume.DriverName, VolumeHandle: "vol-1"}}}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default"}, Spec: corev1.PodSpec{NodeName: "n1",
		Volumes: []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}}}
	inBubble(t, []runtime.Object{bound, pv}, func(c *fake.Clientset, d *volume.Driver) {
		names, waiting := d.Volumes(pod)
		if len(names) != 1 || names[0] != "kubernetes.io/csi/ebs.csi.aws.com^vol-1" || !strings.Contains(waiting, "not attached") {
			t.Fatalf("Volumes = %v, %q; want vol-1, not attached", names, waiting)
		}
		preference := &storagev1.VolumeAttachment{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("csi-%x", sha256.Sum256([]byte("vol-1"+volume.DriverName+"n1"))), CreationTimestamp: metav1.Now()},
			Spec:       storagev1.VolumeAttachmentSpec{Attacher: volume.DriverName, NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv.Name}},
		}
		if _, err := c.StorageV1().VolumeAttachments().Create(t.Context(), preference, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Second)
		if a := attachment(t, c); a.Status.Attached || len(a.Finalizers) != 1 {
			t.Errorf("attachment after two seconds = %+v, want it held and not attached", a)
		}
		pass(2 * time.Second)
		if _, waiting := d.Volumes(pod); waiting != "" {
			t.Errorf("pod waits for %q after four seconds, want nothing", waiting)
		}
		going := attachment(t, c)
		at := metav1.Now()
		going.DeletionTimestamp = &at
		if _, err := c.StorageV1().VolumeAttachments().Update(t.Context(), going, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(3 * time.Second)
		if a := attachment(t, c); len(a.Finalizers) != 1 {
			t.Error("volume is off after three seconds, want four")
		}
		pass(2 * time.Second)
		all, err := c.StorageV1().VolumeAttachments().List(t.Context(), metav1.ListOptions{})
		if err != nil || len(all.Items) > 0 && len(all.Items[0].Finalizers) > 0 {
			t.Errorf("attachments = %+v, %v; want none held", all.Items, err)
		}
	})
}

// attach asks for a volume to be attached to node n1.
func attach(t *testing.T, c *fake.Clientset, name string) {
	t.Helper()
	_, err := c.StorageV1().VolumeAttachments().Create(t.Context(), &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Now()},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: volume.DriverName, NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// A node gets as many volumes as its CSINode says, the oldest attachment first; what is refused says why, and is attached
// once there is a place.
func TestANodeGetsNoMoreVolumesThanItTakes(t *testing.T) {
	two := int32(2)
	takes := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "efs.csi.aws.com", NodeID: "i-1"},
		{Name: volume.DriverName, NodeID: "i-1", Allocatable: &storagev1.VolumeNodeResources{Count: &two}},
	}}}
	inBubble(t, []runtime.Object{takes}, func(c *fake.Clientset, _ *volume.Driver) {
		get := func(name string) *storagev1.VolumeAttachment {
			t.Helper()
			a, err := c.StorageV1().VolumeAttachments().Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		stand := func(when, want string) {
			t.Helper()
			var got []string
			for _, name := range []string{"one", "two", "three", "four"} {
				switch a := get(name); {
				case a.Status.Attached:
					got = append(got, name)
				case a.Status.AttachError != nil && strings.Contains(a.Status.AttachError.Message, "AttachmentLimitExceeded"):
					got = append(got, "("+name+")")
				}
			}
			if is := strings.Join(got, " "); is != want {
				t.Errorf("%s: %s; want %s", when, is, want)
			}
		}
		attach(t, c, "one")
		pass(10 * time.Second)
		for _, name := range []string{"three", "two", "four"} {
			attach(t, c, name)
			time.Sleep(time.Second)
		}
		pass(10 * time.Second)
		stand("with two places", "one (two) three (four)")
		going, at := get("one"), metav1.Now()
		going.DeletionTimestamp = &at
		if _, err := c.StorageV1().VolumeAttachments().Update(t.Context(), going, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(3 * time.Second)
		stand("while the first is detached", "one (two) three (four)")
		pass(2 * time.Second)
		if err := c.StorageV1().VolumeAttachments().Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err) // the store in memory may keep what no finalizer holds
		}
		pass(10 * time.Second)
		if a := get("two"); !a.Status.Attached || a.Status.AttachError != nil {
			t.Errorf("the next is %+v, want it attached without an error", a.Status)
		}
		if a := get("four"); a.Status.Attached {
			t.Error("the last is attached, beyond what the node takes")
		}
	})
}

// Whatever keeps a pod waiting is said by name.
func TestVolumesWaiting(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default"}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
	}}}
	inBubble(t, nil, func(_ *fake.Clientset, d *volume.Driver) {
		if names, waiting := d.Volumes(pod); len(names) != 0 || waiting != "claim db-scratch not found" {
			t.Errorf("Volumes = %v, %q; want no volume and the claim's name", names, waiting)
		}
	})
}
