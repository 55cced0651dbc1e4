package oracle

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/ephemeral"

	"github.com/daemok/daemok/kube/api"
)

// storageClasses are the same in every world but for the zones of one.
func (g *generator) storageClasses() {
	class := func(name, driver string, mode storagev1.VolumeBindingMode, zones ...string) {
		c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: driver, VolumeBindingMode: &mode}
		if len(zones) > 0 {
			c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: api.LabelZone, Values: zones}}}}
		}
		g.Classes = append(g.Classes, c)
	}
	class("late", driverEBS, storagev1.VolumeBindingWaitForFirstConsumer)
	class("zoned", driverEBS, storagev1.VolumeBindingWaitForFirstConsumer, some(g.dice, "zone-a", "zone-b", "zone-c")...)
	class("early", driverEBS, storagev1.VolumeBindingImmediate)
	class("shared", driverEFS, storagev1.VolumeBindingImmediate)
}

// volumeRules draws volumes of a pod: claims of its own deployment, which all
// its pods share, or one that is made for each pod.
func (g *generator) volumeRules(pod *corev1.Pod) {
	if !g.features.volumes || g.one(2) {
		return
	}
	for i := range 1 + g.IntN(2) {
		name := fmt.Sprintf("data-%d", i)
		v := corev1.Volume{Name: name}
		if g.one(3) {
			v.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
				Spec: claimSpec(pick(g.dice, "late", "zoned"), corev1.ReadWriteOnce)}}
		} else {
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: pod.Name + "-" + name}
			g.claim(pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, v)
	}
}

func claimSpec(class string, mode corev1.PersistentVolumeAccessMode) corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{mode},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
}

// claim draws a volume claim, in any state it may be in; some are missing.
func (g *generator) claim(namespace, name string) {
	class := pick(g.dice, g.Classes...)
	mode := pick(g.dice, corev1.ReadWriteOnce, corev1.ReadWriteOnce, corev1.ReadWriteMany, corev1.ReadWriteOncePod)
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)}, Spec: claimSpec(class.Name, mode)}
	c.Status.Phase = corev1.ClaimPending
	switch state := g.IntN(12); {
	case state < 6 || class.Provisioner == driverEFS && state < 10:
		reach := zoneTerms(some(g.dice, "zone-a", "zone-b", "zone-c")...)
		if class.Provisioner == driverEFS {
			reach = nil
		}
		g.Volumes = append(g.Volumes, g.older(volumeFor(c, class, reach)))
	case state == 11 && g.one(3):
		return // missing
	case state == 10 && g.one(3):
		c.Status.Phase, c.Spec.VolumeName = corev1.ClaimLost, "pv-gone"
	case state == 9 && g.one(3):
		at := metav1.NewTime(began)
		c.DeletionTimestamp, c.Finalizers = &at, []string{"kubernetes.io/pvc-protection"}
	}
	g.Requests = append(g.Requests, c)
}

// stabilize binds the claims of a pod that runs: it could not run without.
func (g *generator) stabilize(pod *corev1.Pod, n *corev1.Node) {
	for _, name := range claimsOf(pod) {
		for _, c := range g.Requests {
			if c.Namespace != pod.Namespace || c.Name != name || c.Spec.VolumeName != "" {
				continue
			}
			at := slices.IndexFunc(g.Classes, func(class *storagev1.StorageClass) bool { return class.Name == *c.Spec.StorageClassName })
			g.Volumes = append(g.Volumes, volumeFor(c, g.Classes[at], reachFrom(g.Classes[at], n)))
		}
	}
}

// reachFrom is where a volume can be attached that was made for a pod on the
// node: volumes of EBS stay in its zone. Of a node that does not say in which it
// is, only the node itself is sure to be there.
func reachFrom(class *storagev1.StorageClass, n *corev1.Node) *corev1.VolumeNodeAffinity {
	if class.Provisioner != driverEBS {
		return nil
	}
	if _, known := n.Labels[api.LabelZone]; !known {
		return only(api.LabelHostname, n.Labels[api.LabelHostname])
	}
	return zoneTerms(n.Labels[api.LabelZone])
}

// older gives some volumes of EBS the form that they had before drivers had to be
// installed: named by the old source, or with their zones in a label.
func (g *generator) older(v *corev1.PersistentVolume) *corev1.PersistentVolume {
	if v.Spec.CSI.Driver != driverEBS {
		return v
	}
	if g.one(8) {
		v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: v.Spec.CSI.VolumeHandle}}
	}
	if g.one(6) {
		v.Spec.NodeAffinity = nil
		v.Labels = map[string]string{api.LabelZone: strings.Join(some(g.dice, "zone-a", "zone-b", "zone-c"), "__")}
	}
	return v
}

// ephemeralClaim makes the claim that belongs to one volume of one pod.
func ephemeralClaim(pod *corev1.Pod, v *corev1.Volume) *corev1.PersistentVolumeClaim {
	name := ephemeral.VolumeClaimName(pod, v)
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, UID: types.UID("uid-" + name), OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: new(true), BlockOwnerDeletion: new(true)}}},
		Spec: *v.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy(),
	}
	c.Status.Phase = corev1.ClaimPending
	return c
}
