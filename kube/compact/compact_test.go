package compact

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fake "k8s.io/client-go/tools/cache/testing"
)

var start = metav1.NewTime(time.Date(2026, 11, 28, 12, 0, 0, 0, time.Local))

func later(d time.Duration) metav1.Time { return metav1.NewTime(start.Add(d)) }

// running is a pod of a Deployment, as an API server shows it.
func running(name string, change func(*corev1.Pod)) *corev1.Pod {
	controls, began := true, later(2*time.Second)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "7", Generation: 1, CreationTimestamp: start,
			Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"checksum": "1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u", Controller: &controls}}},
		Spec: corev1.PodSpec{NodeName: "n1", PriorityClassName: "high", Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}},
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &began, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: later(time.Second)},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: later(9 * time.Second)}}},
	}
	if change != nil {
		change(p)
	}
	return p
}

// kinds are pods of all kinds that a cluster has, by name.
func kinds() map[string]*corev1.Pod {
	out := map[string]*corev1.Pod{
		"of-a-deployment": running("of-a-deployment", nil),
		"of-a-statefulset": running("of-a-statefulset", func(p *corev1.Pod) {
			p.Spec.Hostname, p.Spec.Subdomain, p.OwnerReferences[0].Kind = "db-0", "db", "StatefulSet"
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-db-0"}}}}
		}),
		"of-a-daemonset": running("of-a-daemonset", func(p *corev1.Pod) {
			p.OwnerReferences[0].Kind = "DaemonSet"
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}}}}}}}
		}),
		"of-a-job": running("of-a-job", func(p *corev1.Pod) { p.Finalizers = []string{"batch.kubernetes.io/job-tracking"} }),
		"waiting": running("waiting", func(p *corev1.Pod) {
			p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending, NominatedNodeName: "n2", Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled,
				Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available", LastProbeTime: start, LastTransitionTime: later(time.Minute)}}}
		}),
		"ending": running("ending", func(p *corev1.Pod) {
			ends, grace := later(time.Hour), int64(30)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &ends, &grace
		}),
		"being-evicted": running("being-evicted", func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: later(time.Hour)})
		}),
		"being-resized": running("being-resized", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}
		}),
		"bare":    {ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "bare"}},
		"another": running("another", func(p *corev1.Pod) { p.Spec.PriorityClassName, p.Labels = "low", map[string]string{"app": "other"} }),
	}
	return out
}

// followed starts an informer of the pods of a source.
func followed(t *testing.T, source *fake.FakeControllerSource, handler cache.ResourceEventHandler) *Pods {
	t.Helper()
	i := NewInformer(source, &corev1.Pod{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}).(*Pods)
	if err := i.AddIndexers(cache.Indexers{"node": func(o any) ([]string, error) { return []string{o.(*corev1.Pod).Spec.NodeName}, nil }}); err != nil {
		t.Fatal(err)
	}
	if handler == nil {
		handler = cache.ResourceEventHandlerFuncs{}
	}
	reported, err := i.AddEventHandler(handler)
	if err != nil {
		t.Fatal(err)
	}
	go i.RunWithContext(t.Context())
	if !cache.WaitForCacheSync(t.Context().Done(), reported.HasSynced) {
		t.Fatal("the informer did not fill")
	}
	return i
}

// Whatever way a Pod is read from the informer, it is what it was.
func TestPodsAreReadAsTheyWere(t *testing.T) {
	source := fake.NewFakeControllerSource()
	for _, p := range kinds() {
		source.Add(p)
	}
	i := followed(t, source, nil)
	reads := map[string]func(p *corev1.Pod) (any, error){
		"by its key": func(p *corev1.Pod) (any, error) {
			o, _, err := i.GetIndexer().GetByKey("shop/" + p.Name)
			return o, err
		},
		"as an object": func(p *corev1.Pod) (any, error) {
			o, _, err := i.GetStore().Get(p)
			return o, err
		},
		"by its node": func(p *corev1.Pod) (any, error) {
			list, err := i.GetIndexer().ByIndex("node", p.Spec.NodeName)
			return named(list, p.Name), err
		},
		"beside others of its namespace": func(p *corev1.Pod) (any, error) {
			list, err := i.GetIndexer().Index(cache.NamespaceIndex, p)
			return named(list, p.Name), err
		},
		"in a list": func(p *corev1.Pod) (any, error) { return named(i.GetStore().List(), p.Name), nil },
		"one after the other": func(p *corev1.Pod) (any, error) {
			for at := range i.All {
				if at.Name == p.Name {
					return at, nil
				}
			}
			return nil, nil
		},
	}
	for name, want := range kinds() {
		want.ResourceVersion = "" // the source numbers them
		for how, read := range reads {
			got, err := read(want)
			if err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
				continue
			}
			pod, is := got.(*corev1.Pod)
			if !is {
				t.Errorf("%s, %s, is %T", name, how, got)
				continue
			}
			if pod = pod.DeepCopy(); pod.ResourceVersion == "" {
				t.Errorf("%s, %s, has no version", name, how)
			}
			if pod.ResourceVersion = ""; !equality.Semantic.DeepEqual(pod, want) {
				t.Errorf("%s, %s:\n%+v\nwant\n%+v", name, how, pod, want)
			}
		}
	}
}

func named(list []any, name string) any {
	at := slices.IndexFunc(list, func(o any) bool { return o.(*corev1.Pod).Name == name })
	if at < 0 {
		return nil
	}
	return list[at]
}

// Handlers hear of whole Pods when they come, change and go.
func TestHandlersHearOfWholePods(t *testing.T) {
	source := fake.NewFakeControllerSource()
	heard := make(chan string, 10)
	say := func(what string, o any) {
		p, is := o.(*corev1.Pod)
		if !is {
			t.Errorf("%s a %T", what, o)
			return
		}
		heard <- fmt.Sprintf("%s %s on %s, ready since %s", what, p.Name, p.Spec.NodeName, p.Status.Conditions[1].LastTransitionTime.Sub(start.Time))
	}
	source.Add(running("web-1", nil))
	followed(t, source, cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(o any, first bool) { say(fmt.Sprintf("first %v", first), o) },
		UpdateFunc: func(old, o any) { say("was", old); say("is", o) },
		DeleteFunc: func(o any) { say("gone", o) },
	})
	source.Modify(running("web-1", func(p *corev1.Pod) { p.Status.Conditions[1].LastTransitionTime = later(time.Minute) }))
	source.Delete(running("web-1", func(p *corev1.Pod) { p.Status.Conditions[1].LastTransitionTime = later(time.Minute) }))
	for _, want := range []string{"first true web-1 on n1, ready since 9s", "was web-1 on n1, ready since 9s", "is web-1 on n1, ready since 1m0s", "gone web-1 on n1, ready since 1m0s"} {
		if got := <-heard; got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
}

// A tombstone, of a pod whose end was not seen, has the whole Pod in it too.
func TestATombstoneHasTheWholePod(t *testing.T) {
	var k packer
	stone := whole(cache.DeletedFinalStateUnknown{Key: "shop/web-1", Obj: k.pack(running("web-1", nil))})
	got, is := stone.(cache.DeletedFinalStateUnknown)
	if !is || !equality.Semantic.DeepEqual(got.Obj, running("web-1", nil)) {
		t.Errorf("%+v", stone)
	}
}

// What is added to an informer that runs sees whole Pods too.
func TestLateHandlersAndIndexesSeeWholePods(t *testing.T) {
	source := fake.NewFakeControllerSource()
	source.Add(running("web-1", nil))
	i := followed(t, source, nil)
	heard := make(chan any, 1)
	late := cache.ResourceEventHandlerFuncs{AddFunc: func(o any) { heard <- o }}
	for way, add := range map[string]func() (cache.ResourceEventHandlerRegistration, error){
		"plainly": func() (cache.ResourceEventHandlerRegistration, error) { return i.AddEventHandler(late) },
		"with a resync": func() (cache.ResourceEventHandlerRegistration, error) {
			return i.AddEventHandlerWithResyncPeriod(late, 0)
		},
		"with options": func() (cache.ResourceEventHandlerRegistration, error) {
			return i.AddEventHandlerWithOptions(late, cache.HandlerOptions{})
		},
	} {
		if _, err := add(); err != nil {
			t.Fatal(err)
		}
		if p, is := (<-heard).(*corev1.Pod); !is || p.Spec.NodeName != "n1" {
			t.Errorf("a late handler added %s heard of %+v", way, p)
		}
	}
	byPhase := cache.Indexers{"phase": func(o any) ([]string, error) { return []string{string(o.(*corev1.Pod).Status.Phase)}, nil }}
	if err := i.GetIndexer().AddIndexers(byPhase); err != nil {
		t.Fatal(err)
	}
	list, err := i.GetIndexer().ByIndex("phase", "Running")
	if err != nil || named(list, "web-1") == nil {
		t.Errorf("a late index has %v (%v), want web-1", list, err)
	}
}

// With KUBE_CACHE_MUTATION_DETECTOR=true client-go compares each object of a store with a copy, and ends a program that
// has written one.
func TestAWriteToAPodIsSeenByItsCopy(t *testing.T) {
	for name, p := range kinds() {
		var k packer
		kept := k.pack(p)
		before := kept.DeepCopyObject()
		if !reflect.DeepEqual(any(before), any(kept)) {
			t.Errorf("%s differs from its copy, a %T", name, before)
		}
		if p := kept.whole(); len(p.Spec.Containers) > 0 {
			p.Spec.Containers[0].Name = "written"
			if reflect.DeepEqual(any(before), any(kept)) {
				t.Errorf("%s: a write is not seen", name)
			}
		}
	}
}

// A transform sees each Pod before it is made compact, and only then: client-go passes Pods of a list twice.
func TestATransformSeesEachPodOnce(t *testing.T) {
	i := NewInformer(fake.NewFakeControllerSource(), &corev1.Pod{}, 0, nil).(*Pods)
	broken, seen := errors.New("broken"), 0
	var twice cache.TransformFunc
	i.SharedIndexInformer = taking{i.SharedIndexInformer, &twice}
	err := i.SetTransform(func(o any) (any, error) {
		p := o.(*corev1.Pod).DeepCopy()
		p.Annotations = nil
		if seen++; p.Name == "broken" {
			return nil, broken
		}
		return p, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	once, err := twice(running("web-1", nil))
	if err != nil {
		t.Fatal(err)
	}
	again, err := twice(once)
	want := running("web-1", func(p *corev1.Pod) { p.Annotations = nil })
	if got := whole(again); err != nil || seen != 1 || !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("seen %d times, %v: %+v", seen, err, got)
	}
	if _, err := twice(running("broken", nil)); !errors.Is(err, broken) {
		t.Errorf("got %v, want the transform's error", err)
	}
}

// taking is an informer that takes out what transforms its objects.
type taking struct {
	cache.SharedIndexInformer
	transform *cache.TransformFunc
}

func (t taking) SetTransform(f cache.TransformFunc) error { *t.transform = f; return nil }

// Pods of one template in one state have one Pod in common, whatever node they are on and however long they run.
func TestPodsOfOneTemplateShareIt(t *testing.T) {
	tests := map[string]struct {
		change func(*corev1.Pod)
		shared bool
	}{
		"on another node":    {func(p *corev1.Pod) { p.Spec.NodeName = "n2" }, true},
		"started later":      {func(p *corev1.Pod) { began := later(time.Hour); p.Status.StartTime = &began }, true},
		"ready later":        {func(p *corev1.Pod) { p.Status.Conditions[1].LastTransitionTime = later(time.Hour) }, true},
		"with another label": {func(p *corev1.Pod) { p.Labels = map[string]string{"statefulset.kubernetes.io/pod-name": "web-2"} }, true},
		"not ready":          {func(p *corev1.Pod) { p.Status.Conditions[1].Status = corev1.ConditionFalse }, false},
		"asks for more": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
		}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var k packer
			a, b := k.pack(running("web-1", nil)), k.pack(running("web-2", tt.change))
			if got := a.common == b.common; got != tt.shared {
				t.Errorf("they have one Pod in common: %v, want %v", got, tt.shared)
			}
		})
	}
}

// What a StatefulSet or DaemonSet gives each of its Pods is kept beside what they have in common.
func TestPodsOfOneSetShareAllElse(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"of-a-statefulset": func(p *corev1.Pod) {
			p.Spec.Hostname, p.Spec.Volumes[0].PersistentVolumeClaim.ClaimName = "db-1", "data-db-1"
		},
		"of-a-daemonset": func(p *corev1.Pod) {
			required := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			p.Spec.NodeName, required.NodeSelectorTerms[0].MatchFields[0].Values[0] = "n2", "n2"
		},
	} {
		var k packer
		one, another := kinds()[name], kinds()[name]
		change(another)
		if k.pack(one).common != k.pack(another).common {
			t.Errorf("two Pods %s have nothing in common", name)
		}
	}
}

// However many different pods come and go, what they had in common does not stay, and each is still what it was.
func TestWhatPodsHadInCommonIsForgotten(t *testing.T) {
	var k packer
	first := k.pack(running("web-1", nil))
	for i := range commonMax {
		k.pack(running("other", func(p *corev1.Pod) { p.Spec.PriorityClassName = fmt.Sprint(i) }))
	}
	if len(k.common.parts) > commonMax/2 {
		t.Errorf("%d are kept", len(k.common.parts))
	}
	if got := first.whole(); !equality.Semantic.DeepEqual(got, running("web-1", nil)) {
		t.Errorf("it became %+v", got)
	}
}

// What one reader keeps of a Pod is not written when another reads.
func TestReadersDoNotDisturbEachOther(t *testing.T) {
	source := fake.NewFakeControllerSource()
	source.Add(running("web-1", nil))
	source.Add(running("web-2", func(p *corev1.Pod) { p.Status.Conditions[1].LastTransitionTime = later(time.Hour) }))
	i := followed(t, source, nil)
	kept := map[string][]corev1.PodCondition{}
	for p := range i.All {
		kept[p.Name] = p.Status.Conditions
	}
	for name, want := range map[string]metav1.Time{"web-1": later(9 * time.Second), "web-2": later(time.Hour)} {
		if got := kept[name][1].LastTransitionTime; !got.Equal(&want) {
			t.Errorf("%s is ready since %s, want %s", name, got, want)
		}
	}
}

// Informers of other kinds are client-go's.
func TestOtherKindsStayAsTheyAre(t *testing.T) {
	if i, compact := NewInformer(fake.NewFakeControllerSource(), &corev1.Node{}, 0, nil).(*Pods); compact {
		t.Errorf("nodes have %T", i)
	}
}
