package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

// shop is a world of objects that depend on each other, for tests.
type shop struct {
	rng  *rand.Rand
	kept *ClusterState
	have map[string]client.Object // by kind and name
}

// report lets a cluster state see an object.
func report(k *ClusterState, o client.Object) {
	switch o := o.(type) {
	case *corev1.Pod:
		k.Listed(o)
	case *corev1.Namespace:
		k.Seen(o)
	case *corev1.PersistentVolumeClaim:
		k.Seen(o)
	case *corev1.PersistentVolume:
		k.Seen(o)
	case *storagev1.StorageClass:
		k.Seen(o)
	case *storagev1.CSINode:
		k.Seen(o)
	case *policyv1.PodDisruptionBudget:
		k.Seen(o)
	case *corev1.LimitRange:
		k.Seen(o)
	case *appsv1.DaemonSet:
		k.Seen(o)
	case *corev1.Node:
		k.Seen(o)
	case *storagev1.VolumeAttachment:
		k.Seen(o)
	case *corev1.Service:
		k.Seen(o)
	case *appsv1.ReplicaSet:
		k.Seen(o)
	case *appsv1.StatefulSet:
		k.Seen(o)
	case *corev1.ReplicationController:
		k.Seen(o)
	}
}

func end(k *ClusterState, o client.Object) {
	switch o := o.(type) {
	case *corev1.Pod:
		k.Gone(o)
	case *corev1.Namespace:
		k.Gone(o)
	case *corev1.PersistentVolumeClaim:
		k.Gone(o)
	case *corev1.PersistentVolume:
		k.Gone(o)
	case *storagev1.StorageClass:
		k.Gone(o)
	case *storagev1.CSINode:
		k.Gone(o)
	case *policyv1.PodDisruptionBudget:
		k.Gone(o)
	case *corev1.LimitRange:
		k.Gone(o)
	case *appsv1.DaemonSet:
		k.Gone(o)
	case *corev1.Node:
		k.Gone(o)
	case *storagev1.VolumeAttachment:
		k.Gone(o)
	case *corev1.Service:
		k.Gone(o)
	case *appsv1.ReplicaSet:
		k.Gone(o)
	case *appsv1.StatefulSet:
		k.Gone(o)
	case *corev1.ReplicationController:
		k.Gone(o)
	}
}

func (s *shop) change() {
	o := s.object()
	key := fmt.Sprintf("%T %s/%s", o, o.GetNamespace(), o.GetName())
	if before := s.have[key]; before != nil && s.rng.IntN(3) == 0 {
		delete(s.have, key)
		end(s.kept, before)
		return
	}
	s.have[key] = o
	report(s.kept, o)
}

func (s *shop) object() client.Object {
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{s.one("app", "team", "tier"): s.one("a", "b"), "own": name}}
	}
	namespace := s.one("default", "shop", "bank")
	switch s.rng.IntN(19) {
	case 0:
		return &corev1.Namespace{ObjectMeta: meta("", namespace)}
	case 1:
		return s.claim(meta(namespace, s.one("c1", "c2")))
	case 2:
		return &corev1.PersistentVolume{ObjectMeta: meta("", s.one("v1", "v2")), Spec: corev1.PersistentVolumeSpec{
			StorageClassName: s.one("local", "gp3"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}, NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: api.LabelZone, Operator: "In", Values: []string{s.one("a", "b")}}}}}}},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "v"}},
		}, Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable}}
	case 3:
		class := &storagev1.StorageClass{ObjectMeta: meta("", s.one("local", "gp3")), Provisioner: "ebs.csi.aws.com", VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer)}
		if class.Name == "local" {
			class.Provisioner = "kubernetes.io/no-provisioner"
		}
		if s.rng.IntN(2) == 0 {
			class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		}
		return class
	case 4:
		return &storagev1.CSINode{ObjectMeta: meta("", "n1"), Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
			{Name: "ebs.csi.aws.com", Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(s.rng.IntN(3)))}}}}}
	case 5:
		return &corev1.LimitRange{ObjectMeta: meta(namespace, "limits"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(s.one("1Gi", "2Gi"))}}}}}
	case 6:
		ds := &appsv1.DaemonSet{ObjectMeta: meta(namespace, "agent")}
		ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: "agent"}}
		return ds
	case 7:
		return node(s.one("n1", "n2"))
	case 8:
		return &corev1.Service{ObjectMeta: meta(namespace, s.one("s1", "s2")), Spec: corev1.ServiceSpec{Selector: map[string]string{s.one("app", "team"): s.one("a", "b"), "app": s.one("a", "b")}}}
	case 11, 12:
		return s.pdb(meta(namespace, s.one("g1", "g2", "g3")))
	case 10:
		volume := s.one("v1", "v2")
		a := &storagev1.VolumeAttachment{ObjectMeta: meta("", volume+"-on-n1")}
		a.Spec.Attacher, a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = "ebs.csi.aws.com", "n1", &volume
		return a
	case 9:
		chosen := map[string]string{"app": s.one("a", "b")}
		switch s.rng.IntN(3) {
		case 0:
			return &corev1.ReplicationController{ObjectMeta: meta(namespace, "owner"), Spec: corev1.ReplicationControllerSpec{Selector: chosen}}
		case 1:
			return &appsv1.StatefulSet{ObjectMeta: meta(namespace, "owner"), Spec: appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: chosen}}}
		}
		return &appsv1.ReplicaSet{ObjectMeta: meta(namespace, "owner"), Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: chosen}}}
	}
	return s.pod(namespace)
}

func (s *shop) claim(meta metav1.ObjectMeta) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}}}
	switch s.rng.IntN(4) {
	case 0:
		c.Spec.VolumeName = s.one("v1", "v2")
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	case 1:
		c.Spec.StorageClassName = new(s.one("local", "gp3"))
	case 2:
		c.DeletionTimestamp = &metav1.Time{Time: start}
	}
	return c
}

func (s *shop) pdb(meta metav1.ObjectMeta) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: meta, Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(s.rng.IntN(3))}}
	switch s.rng.IntN(5) {
	case 0:
		b.Spec.Selector = &metav1.LabelSelector{}
	case 1:
		b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist}, {Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", s.one("b", "c")}}}}
	case 2, 3:
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{s.one("app", "team"): s.one("a", "b"), "app": "a"}}
	}
	return b
}

func (s *shop) pod(namespace string) *corev1.Pod {
	p := pod(fmt.Sprint("p", s.rng.IntN(6)), "1", s.one("", "n1", "n2"))
	p.Namespace = namespace
	p.Labels = map[string]string{"app": s.one("a", "b"), "team": s.one("a", "b"), "pod": p.Name}
	if s.rng.IntN(3) == 0 {
		p.Status.StartTime = &metav1.Time{Time: start.Add(-time.Hour)}
		p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: s.one("true", "30m", "2h", "soon")}
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionStatus(s.one("True", "False"))})
	}
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: s.one("ReplicaSet", "StatefulSet"), Name: "owner", Controller: new(true)}
	if s.rng.IntN(3) == 0 {
		owner.APIVersion, owner.Kind = "v1", "ReplicationController"
	}
	if s.rng.IntN(2) == 0 {
		p.OwnerReferences = []metav1.OwnerReference{owner}
	}
	chosen := &metav1.LabelSelector{MatchLabels: map[string]string{s.one("app", "team", "tier"): s.one("a", "b")}}
	switch s.rng.IntN(8) {
	case 0:
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: api.LabelZone, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: chosen, MatchLabelKeys: []string{"team"}}}
	case 1:
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: api.LabelHostname, LabelSelector: chosen, Namespaces: []string{s.one("shop", "bank")}}}}}
	case 2:
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: api.LabelZone, LabelSelector: chosen, NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": s.one("a", "b")}}}}}}
	case 3:
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 5, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: api.LabelZone, LabelSelector: chosen, NamespaceSelector: &metav1.LabelSelector{}}}}}}
	case 4, 5:
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: s.one("c1", "c2")}}}}
	case 6:
		p.Status.Phase = corev1.PodSucceeded
	}
	return p
}

func (s *shop) one(of ...string) string { return of[s.rng.IntN(len(of))] }

// TestShapesKeptEqualShapesFoundAgain: after any sequence of changes of pods and
// of what their shapes depend on, with snapshots taken in between, the next
// snapshot equals that of a cluster state that saw only what is left, in any order.
func TestShapesKeptEqualShapesFoundAgain(t *testing.T) {
	var seen struct{ labelled, unable, terms, shared, attachable, byDefault, protectedByPDB bool }
	for seed := range uint64(300) {
		clusterState := func() *ClusterState {
			k := newClusterState()
			if seed%2 == 0 {
				k.Configure(func(s *Settings) { s.Spreads = byHost })
			}
			return k
		}
		s := &shop{rng: rand.New(rand.NewPCG(seed, 1)), kept: clusterState(), have: map[string]client.Object{}}
		for range 12 {
			for range s.rng.IntN(20) {
				s.change()
			}
			fresh := clusterState()
			keys := slices.Sorted(maps.Keys(s.have))
			s.rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			for _, key := range keys {
				report(fresh, s.have[key])
			}
			got, want := plain(s.kept.Snapshot()), plain(fresh.Snapshot())
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: kept snapshot differs from the one built anew\n got: %s\nwant: %s", seed, inWords(got), inWords(want))
			}
			for _, shape := range got.Shapes() {
				seen.labelled = seen.labelled || len(shape.Labels) > 0
				seen.unable = seen.unable || shape.Unable != ""
				seen.terms = seen.terms || len(shape.VolumeTerms) > 0
				seen.byDefault = seen.byDefault || slices.ContainsFunc(shape.Spread, func(s cluster.Spread) bool { return s.Key == api.LabelHostname })
				seen.shared = seen.shared || slices.ContainsFunc(shape.Volumes, func(v cluster.Volume) bool { return v.Exclusive })
			}
			for _, n := range got.Nodes {
				seen.protectedByPDB = seen.protectedByPDB || slices.ContainsFunc(n.Pods, func(p cluster.Pod) bool { return strings.Contains(p.PDBs, ",") })
			}
			seen.attachable = seen.attachable || slices.ContainsFunc(got.Nodes, func(n cluster.Node) bool { return len(n.Attachable) > 0 })
		}
	}
	if !seen.labelled || !seen.unable || !seen.terms || !seen.shared || !seen.attachable || !seen.byDefault || !seen.protectedByPDB {
		t.Errorf("the worlds were too plain to show anything: %+v", seen)
	}
}

// plain leaves out what is history.
func plain(s *cluster.Snapshot) *cluster.Snapshot {
	s.Revision = 0
	for i := range s.Nodes {
		s.Nodes[i].QuietSince = time.Time{}
	}
	return s
}

func inWords(s *cluster.Snapshot) string {
	out := ""
	for _, shape := range s.Shapes() {
		out += fmt.Sprintf("\n  %+v", *shape)
	}
	return out
}

// TestOnlyLabelsThatAreReadAreShown: a label that no selector reads
// would make every pod a shape of its own.
func TestOnlyLabelsThatAreReadAreShown(t *testing.T) {
	k := newClusterState()
	labelled := func(name, namespace string) *corev1.Pod {
		p := pod(name, "1", "")
		p.Namespace, p.Labels = namespace, map[string]string{"app": "web", "index": name}
		return p
	}
	for i := range 20 {
		k.Seen(labelled(fmt.Sprint("web-", i), "default"))
		k.Seen(labelled(fmt.Sprint("web-", i), "shop"))
	}
	shapes := func() map[string]int {
		out := map[string]int{}
		for _, s := range k.Snapshot().Shapes() {
			out[s.Namespace+fmt.Sprint(s.Labels)]++
		}
		return out
	}
	if got := shapes(); len(got) != 2 || got["default[]"] != 1 {
		t.Errorf("shapes = %v, want one a namespace without labels", got)
	}
	reader := labelled("reader", "default")
	reader.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: api.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Namespaces: []string{"shop"}}}}}
	k.Seen(reader)
	if got := shapes(); got["shop[{app web}]"] != 1 || got["default[]"] != 2 || len(got) != 2 {
		t.Errorf("shapes = %v, want the label app in the namespace that is read, and no other", got)
	}
	k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "reader"}})
	if got := shapes(); got["shop[]"] != 1 || got["default[]"] != 1 || len(got) != 2 {
		t.Errorf("shapes = %v, want no labels again", got)
	}
}

// TestAChangedClaimConcernsItsUsersAlone: other pods keep their very shapes.
func TestAChangedClaimConcernsItsUsersAlone(t *testing.T) {
	k := newClusterState()
	user := pod("user", "1", "")
	user.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	k.Seen(user)
	k.Seen(pod("other", "2", ""))
	k.Snapshot()
	kept := k.Snapshot().Waiting[0].Shape
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "gp3"}, Provisioner: "ebs.csi.aws.com", VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer)}
	k.Seen(class)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}}
	claim.Spec.StorageClassName = new("gp3")
	k.Seen(claim)
	s := k.Snapshot()
	if got := s.Waiting[1].Shape; got.Unable != "" || len(got.Volumes) != 1 || got.Volumes[0].Driver != "ebs.csi.aws.com" {
		t.Errorf("SC-179: the user's shape is %+v, want its volume to count", got)
	}
	if s.Waiting[0].Shape != kept {
		t.Error("the other pod's shape was found again")
	}
	revision := s.Revision
	k.Seen(claim.DeepCopy())
	if next := k.Snapshot().Revision; next != revision {
		t.Error("a claim that says the same made a new revision")
	}
}

var byHost = []corev1.TopologySpreadConstraint{{TopologyKey: api.LabelHostname, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule}}

// TestDefaultSpreads: pods without spreads of their own get those of the
// scheduler's configuration, and count whom services and owners choose.
func TestDefaultSpreads(t *testing.T) {
	web := map[string]string{"app": "web", "hash": "1"}
	service := func(namespace string, selector map[string]string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: corev1.ServiceSpec{Selector: selector}}
	}
	revision := func(namespace, hash string) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-" + hash},
			Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"hash": hash}}}}
	}
	owned := func(kind, group, name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: group, Kind: kind, Name: name, Controller: new(true)}}
		}
	}
	tests := map[string]struct {
		pod    func(*corev1.Pod)
		others []client.Object
		want   string
	}{
		"SC-155 nobody to count: none":          {func(*corev1.Pod) {}, nil, ""},
		"SC-156 a service":                      {func(*corev1.Pod) {}, []client.Object{service("default", map[string]string{"app": "web"})}, "app in web"},
		"SC-156 a service of others":            {func(*corev1.Pod) {}, []client.Object{service("default", map[string]string{"app": "db"})}, ""},
		"SC-156 a service of another namespace": {func(*corev1.Pod) {}, []client.Object{service("shop", map[string]string{"app": "web"})}, ""},
		"SC-156 a service without selector":     {func(*corev1.Pod) {}, []client.Object{service("default", nil)}, ""},
		"SC-155 each revision by itself":        {owned("ReplicaSet", "apps/v1", "web-1"), []client.Object{revision("default", "1"), revision("default", "2")}, "hash in 1"},
		"SC-156 an owner that is missing":       {owned("ReplicaSet", "apps/v1", "gone"), []client.Object{revision("default", "1")}, ""},
		"SC-156 an owner of another namespace":  {owned("ReplicaSet", "apps/v1", "web-1"), []client.Object{revision("shop", "1")}, ""},
		"SC-156 an owner that is none for this": {owned("Job", "batch/v1", "web-1"), []client.Object{revision("default", "1")}, ""},
		"SC-156 the StatefulSet's selector":     {owned("StatefulSet", "apps/v1", "db"), []client.Object{&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"}, Spec: appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}}, "app in web"},
		"SC-156 the ReplicationController's":    {owned("ReplicationController", "v1", "rc"), []client.Object{&corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "rc"}, Spec: corev1.ReplicationControllerSpec{Selector: map[string]string{"app": "web"}}}}, "app in web"},
		"SC-156 service and owner":              {owned("ReplicaSet", "apps/v1", "web-1"), []client.Object{revision("default", "1"), service("default", map[string]string{"app": "web"})}, "app in web; hash in 1"},
		"SC-155 a pod with a spread of its own": {func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: api.LabelZone, MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"own": "yes"}}}}
		}, []client.Object{service("default", map[string]string{"app": "web"})}, "own in yes"},
	}
	for name, tt := range tests {
		for _, podFirst := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " first the pod ", podFirst), func(t *testing.T) {
				k := newClusterState()
				k.Configure(func(s *Settings) { s.Spreads = byHost })
				p := pod("web-0", "1", "", func(p *corev1.Pod) { p.Labels = web }, tt.pod)
				if podFirst {
					report(k, p)
					k.Snapshot()
				}
				for _, o := range tt.others {
					report(k, o)
				}
				if !podFirst {
					report(k, p)
				}
				got := ""
				for _, s := range k.Snapshot().Waiting[0].Shape.Spread {
					got += s.Selector.Requirements.String()
				}
				if got != tt.want {
					t.Errorf("counted are %q, want %q", got, tt.want)
				}
				for _, o := range tt.others {
					end(k, o)
				}
				if got := k.Snapshot().Waiting[0].Shape.Spread; len(got) != 0 && got[0].Key != api.LabelZone {
					t.Errorf("when all are gone the pod is spread by %+v", got)
				}
			})
		}
	}
}
