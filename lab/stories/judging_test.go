package stories_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// twoZones is a world of nodes a1 and a2 in zone a and b1 in zone b, each with
// two cores, room for three pods and one disk.
func twoZones() world {
	w := world{nodes: map[string]*corev1.Node{}, namespaces: map[string]labels.Set{"default": {}, "other": {"team": "noisy"}},
		claims: map[string]*corev1.PersistentVolumeClaim{}, volumes: map[string]*corev1.PersistentVolume{}, attaches: map[string]int32{}}
	for _, name := range []string{"a1", "a2", "b1"} {
		w.nodes[name] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hostLabel: name, zoneLabel: name[:1]}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourcePods: resource.MustParse("3"),
			}},
		}
		w.attaches[name] = 1
	}
	return w
}

// put runs a pod of a workload, named after it, on a node.
func (w *world) put(app, node string, preferences ...preference) {
	template := podOf(app, preferences)
	name := fmt.Sprintf("%s-%d", app, len(w.pods))
	pod := corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: template.Spec}
	pod.Name, pod.Namespace, pod.UID, pod.Spec.NodeName = name, "default", types.UID(name), node
	w.pods = append(w.pods, pod)
}

// disk gives a claim a volume in a zone.
func (w *world) disk(claim, zone string, mode corev1.PersistentVolumeAccessMode) {
	c := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
		VolumeName: claim, AccessModes: []corev1.PersistentVolumeAccessMode{mode},
	}}
	w.claims["default/"+claim] = c
	w.volumes[claim] = &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{NodeAffinity: &corev1.VolumeNodeAffinity{
		Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: zoneLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}},
		}}}},
	}}}
}

// using mounts claims.
func using(claims ...string) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) {
		for _, c := range claims {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: c, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c},
			}})
		}
	}
}

// atLeast has the pod's spreads want so many domains.
func atLeast(domains int32) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) {
		pod.Spec.TopologySpreadConstraints[0].MinDomains = &domains
	}
}

// eachVersion has the pod's spreads count only pods of its own version.
func eachVersion(version string) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) {
		pod.Labels["version"] = version
		pod.Spec.TopologySpreadConstraints[0].MatchLabelKeys = []string{"version"}
	}
}

// The judge of manifests finds each kind of fault, and none where there is
// none.
func TestJudge(t *testing.T) {
	tests := map[string]struct {
		happen func(w *world)
		want   string // "" when all is well
	}{
		"pods spread evenly": {func(w *world) { w.put("web", "a1", spreadOver(zoneLabel)); w.put("web", "b1", spreadOver(zoneLabel)) }, ""},
		"a zone left empty": {func(w *world) {
			w.put("web", "a1", spreadOver(zoneLabel))
			w.put("web", "a2", spreadOver(zoneLabel))
		}, "want a skew of 1"},
		"a zone left empty that the pods may not use": {func(w *world) {
			w.put("web", "a1", spreadOver(zoneLabel), on(zoneLabel, "a"))
			w.put("web", "a2", spreadOver(zoneLabel), on(zoneLabel, "a"))
		}, ""},
		"fewer domains than wanted": {func(w *world) {
			for _, n := range []string{"a1", "a1", "b1", "b1"} {
				w.put("web", n, spreadOver(zoneLabel), atLeast(3))
			}
		}, "want a skew of 1"},
		"versions that even each other out": {func(w *world) {
			for n, v := range map[string]string{"a1": "v1", "b1": "v2"} {
				w.put("web", n, spreadOver(zoneLabel), eachVersion(v))
				w.put("web", n, spreadOver(zoneLabel), eachVersion(v))
			}
		}, "want a skew of 1"},
		"another zone than selected":    {func(w *world) { w.put("web", "a1", on(zoneLabel, "b")) }, "another kind of node"},
		"a taint":                       {func(w *world) { w.taint("a1", corev1.TaintEffectNoSchedule); w.put("web", "a1") }, "does not tolerate"},
		"a taint that is tolerated":     {func(w *world) { w.taint("a1", corev1.TaintEffectNoSchedule); w.put("web", "a1", tolerating("spare")) }, ""},
		"a taint to be avoided":         {func(w *world) { w.taint("a1", corev1.TaintEffectPreferNoSchedule); w.put("web", "a1") }, ""},
		"two that keep off each other":  {func(w *world) { w.put("web", "a1", apart(hostLabel)); w.put("web", "a1", apart(hostLabel)) }, "must keep off"},
		"apart by host, in one zone":    {func(w *world) { w.put("web", "a1", apart(hostLabel)); w.put("web", "a2", apart(hostLabel)) }, ""},
		"beside nobody":                 {func(w *world) { w.put("db", "b1"); w.put("web", "a1", beside(zoneLabel, "db")) }, "no pod that it must be beside"},
		"beside by zone":                {func(w *world) { w.put("db", "a2"); w.put("web", "a1", beside(zoneLabel, "db")) }, ""},
		"the first of its kind":         {func(w *world) { w.put("web", "a1", beside(zoneLabel)) }, ""},
		"two groups that should be one": {func(w *world) { w.put("web", "a1", beside(zoneLabel)); w.put("web", "b1", beside(zoneLabel)) }, "no pod that it must be beside"},
		"a port taken twice":            {func(w *world) { w.put("web", "a1", onPort(80)); w.put("api", "a1", onPort(80)) }, "has port 80 too"},
		"a port on two nodes":           {func(w *world) { w.put("web", "a1", onPort(80)); w.put("api", "a2", onPort(80)) }, ""},
		"more cores than there are":     {func(w *world) { w.put("web", "a1", asking("cpu", "1500m")); w.put("api", "a1", asking("cpu", "1")) }, "too little"},
		"more pods than there may be":   {func(w *world) { w.put("a", "a1"); w.put("b", "a1"); w.put("c", "a1"); w.put("d", "a1") }, "4 pods, want 3"},
		"a disk in another zone":        {func(w *world) { w.disk("data", "b", corev1.ReadWriteOnce); w.put("db", "a1", using("data")) }, "cannot be there"},
		"a disk in its zone":            {func(w *world) { w.disk("data", "a", corev1.ReadWriteOnce); w.put("db", "a1", using("data")) }, ""},
		"a disk that nobody made":       {func(w *world) { w.put("db", "a1", using("data")) }, "has no volume"},
		"more disks than may be there": {func(w *world) {
			w.disk("x", "a", corev1.ReadWriteOnce)
			w.disk("y", "a", corev1.ReadWriteOnce)
			w.put("db", "a1", using("x", "y"))
		}, "2 volumes, want 1"},
		"a disk for one pod used by two": {func(w *world) {
			w.disk("x", "a", corev1.ReadWriteOncePod)
			w.put("db", "a1", using("x"))
			w.put("db", "a1", using("x"))
		}, "has claim x too"},
		"a node that is not there": {func(w *world) { w.put("web", "gone") }, "not there"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := twoZones()
			tt.happen(&w)
			got := w.judge("default")
			if tt.want == "" && len(got) > 0 || tt.want != "" && !strings.Contains(strings.Join(got, "\n"), tt.want) {
				t.Errorf("judge says %q, want %q", got, tt.want)
			}
		})
	}
}

func (w *world) taint(node string, effect corev1.TaintEffect) {
	w.nodes[node].Spec.Taints = []corev1.Taint{{Key: "spare", Effect: effect}}
}
