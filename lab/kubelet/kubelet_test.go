package kubelet_test

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/daemok/daemok/lab/event"
	"github.com/daemok/daemok/lab/kubelet"
)

func pod(name, node string, annotations ...string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("uid-" + name), Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "pause"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	for i := 0; i+1 < len(annotations); i += 2 {
		p.Annotations[annotations[i]] = annotations[i+1]
	}
	return p
}

// inBubble runs a hub in virtual time and ends it with the test.
func inBubble(t *testing.T, o kubelet.Options, story func(h *kubelet.Hub)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		o.Events = event.NewRecorder(event.Rate{PerSecond: 100, Burst: 100}, slog.New(slog.DiscardHandler))
		h := kubelet.New(o)
		var wg sync.WaitGroup
		wg.Go(func() { _ = o.Events.Run(ctx) })
		wg.Go(func() {
			if err := h.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		story(h)
		cancel()
		wg.Wait()
	})
}

func phase(t *testing.T, c kubernetes.Interface, name string) corev1.PodPhase {
	t.Helper()
	p, err := c.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "gone"
	}
	if err != nil {
		t.Fatal(err)
	}
	return p.Status.Phase
}

// pass lets virtual time go by until everything is stable.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// A pod starts, runs, is deleted and leaves; another one succeeds by itself;
// the pod of a node that has not joined is never touched.
func TestPodsLiveAndDie(t *testing.T) {
	client := fake.NewClientset(pod("web", "n1"), pod("job", "n1", kubelet.SucceedAfter, "30s"), pod("far", "n2"))
	o := kubelet.Options{Client: client, Pace: kubelet.Pace{StartAfter: time.Second, StopAfter: time.Second}}
	inBubble(t, o, func(h *kubelet.Hub) {
		h.Join(kubelet.Node{Name: "n1", IP: "10.0.0.1", Client: client.CoreV1()})
		pass(2 * time.Second)
		if got := phase(t, client, "web"); got != corev1.PodRunning {
			t.Errorf("web after its start = %s, want Running", got)
		}
		pass(31 * time.Second)
		if got := phase(t, client, "job"); got != corev1.PodSucceeded {
			t.Errorf("job after its time = %s, want Succeeded", got)
		}
		markDeleted(t, client, "web", 30)
		pass(2 * time.Second)
		if got := phase(t, client, "web"); got != "gone" {
			t.Errorf("web after it stopped = %s, want gone", got)
		}
		if got := phase(t, client, "far"); got != corev1.PodPending {
			t.Errorf("pod of a node that never joined = %s, want Pending", got)
		}
	})
}

// An instance that loses its power leaves its pods as they are; when it comes back, its
// kubelet goes on with them.
func TestNodeLeavesAndComesBack(t *testing.T) {
	client := fake.NewClientset(pod("web", "n1", kubelet.StartAfter, "10s"))
	inBubble(t, kubelet.Options{Client: client}, func(h *kubelet.Hub) {
		n := kubelet.Node{Name: "n1", IP: "10.0.0.1", Client: client.CoreV1()}
		h.Join(n)
		pass(5 * time.Second)
		h.Leave("n1")
		pass(time.Hour)
		if got := phase(t, client, "web"); got != corev1.PodPending {
			t.Errorf("web on a dead node = %s, want Pending", got)
		}
		h.Join(n)
		pass(time.Second)
		if got := phase(t, client, "web"); got != corev1.PodRunning {
			t.Errorf("web on a node that came back = %s, want Running", got)
		}
	})
}

// runtimeSeen records what it is asked to do with pods that run for real, by name.
type runtimeSeen struct {
	mu             sync.Mutex // guards both below
	synced, killed []string
}

func (r *runtimeSeen) Runs(*corev1.Pod) bool { return true }
func (r *runtimeSeen) Sync(p *corev1.Pod, _ corev1.ResourceList) map[string]corev1.ContainerStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced = append(r.synced, p.Name)
	return nil
}
func (r *runtimeSeen) Stop(*corev1.Pod) bool { return true }
func (r *runtimeSeen) Kill(uid types.UID) {
	r.mu.Lock()
	r.killed = append(r.killed, string(uid))
	r.mu.Unlock()
}
func (r *runtimeSeen) Forget(types.UID) {}

// What runs of an instance's pods ends with its power, and goes on while its kubelet hangs.
func TestProcessesEndWithThePower(t *testing.T) {
	client := fake.NewClientset(pod("web", "n1"), pod("far", "n2"))
	r := &runtimeSeen{}
	inBubble(t, kubelet.Options{Client: client, Runtime: r}, func(h *kubelet.Hub) {
		for _, name := range []string{"n1", "n2"} {
			h.Join(kubelet.Node{Name: name, Client: client.CoreV1()})
		}
		pass(time.Second)
		h.Leave("n1")
		if len(r.killed) != 0 {
			t.Errorf("pods %v of a silent kubelet are killed", r.killed)
		}
		h.PowerOff("n1")
		if want := []string{string(pod("web", "n1").UID)}; !slices.Equal(r.killed, want) {
			t.Errorf("pods %v are killed, want %v", r.killed, want)
		}
		r.synced = nil
		h.Join(kubelet.Node{Name: "n1", Client: client.CoreV1()})
		pass(time.Second)
		if !slices.Contains(r.synced, "web") || len(r.killed) != 1 {
			t.Errorf("with power again, pods %v are started and %v were killed; want web started, and no further one killed", r.synced, r.killed)
		}
	})
}

// A lab that starts and ends instances all day does not grow with their number.
func TestNothingIsKeptOfMachinesWithoutPower(t *testing.T) {
	client := fake.NewClientset()
	inBubble(t, kubelet.Options{Client: client}, func(h *kubelet.Hub) {
		for n := range 10 {
			name := fmt.Sprintf("n%d", n)
			h.Join(kubelet.Node{Name: name, Client: client.CoreV1()})
			if n%2 == 0 {
				h.Leave(name) // its kubelet hung before
			}
			h.PowerOff(name)
		}
		for name, size := range maps(reflect.ValueOf(h).Elem()) {
			if size > 0 {
				t.Errorf("%d entries are left in %s", size, name)
			}
		}
	})
}

// maps returns how many entries the maps of a struct and of those in it have, by the name of their field.
func maps(of reflect.Value) map[string]int {
	sizes := map[string]int{}
	for field, value := range of.Fields() {
		switch value.Kind() {
		case reflect.Map:
			sizes[field.Name] += value.Len()
		case reflect.Struct:
			for name, size := range maps(value) {
				sizes[field.Name+"."+name] += size
			}
		}
	}
	return sizes
}

// halting is a Runtime whose instance loses its power while a pod is started.
type halting struct {
	runtimeSeen
	powerOff func()
}

func (r *halting) Sync(p *corev1.Pod, l corev1.ResourceList) map[string]corev1.ContainerStatus {
	r.powerOff()
	return r.runtimeSeen.Sync(p, l)
}

// A pod that is started just when the power goes does not run on either.
func TestNothingIsStartedWithoutPower(t *testing.T) {
	client := fake.NewClientset(pod("web", "n1"))
	r := &halting{}
	inBubble(t, kubelet.Options{Client: client, Runtime: r}, func(h *kubelet.Hub) {
		r.powerOff = func() { h.PowerOff("n1"); r.killed = nil }
		h.Join(kubelet.Node{Name: "n1", Client: client.CoreV1()})
		pass(time.Second)
		if len(r.synced) == 0 || len(r.killed) == 0 {
			t.Errorf("pods %v were started and then %v killed, want one of both", r.synced, r.killed)
		}
	})
}

// What happens to a pod can be read in its events: its start, its end, once
// each, and why a node refused it.
func TestPodsAreReported(t *testing.T) {
	big := pod("big", "n1")
	big.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("9")}
	client := fake.NewClientset(pod("web", "n1"), big)
	inBubble(t, kubelet.Options{Client: client, Pace: kubelet.Pace{StopAfter: 10 * time.Second}}, func(h *kubelet.Hub) {
		h.Join(kubelet.Node{Name: "n1", IP: "10.0.0.1", Client: client.CoreV1(), Allocatable: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("9")}})
		pass(time.Second)
		markDeleted(t, client, "web", 30)
		pass(time.Second)
		h.Join(kubelet.Node{Name: "n1", IP: "10.0.0.1", Client: client.CoreV1()}) // has it check again
		pass(time.Minute)
		list, err := client.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		reported := map[string][]string{}
		for _, e := range list.Items {
			reported[e.InvolvedObject.Name] = append(reported[e.InvolvedObject.Name], e.Reason)
		}
		slices.Sort(reported["web"])
		if got, want := fmt.Sprint(reported), "map[big:[OutOfcpu] web:[Created Killing Pulled Started]]"; got != want {
			t.Errorf("events = %s, want %s", got, want)
		}
	})
}

type attached struct {
	sync.Mutex
	is bool
}

func (a *attached) Volumes(*corev1.Pod) ([]corev1.UniqueVolumeName, string) {
	a.Lock()
	defer a.Unlock()
	if a.is {
		return []corev1.UniqueVolumeName{"v1"}, ""
	}
	return []corev1.UniqueVolumeName{"v1"}, "v1 is not attached"
}

// A pod names its volume to the node at once, starts when it is attached and releases it
// when it is gone.
func TestVolumesAreMountedAndGivenBack(t *testing.T) {
	client := fake.NewClientset(pod("db", "n1"))
	disk := &attached{}
	var mu sync.Mutex
	var inUse []corev1.UniqueVolumeName
	mounted := func(v []corev1.UniqueVolumeName) { mu.Lock(); inUse = v; mu.Unlock() }
	see := func() []corev1.UniqueVolumeName { mu.Lock(); defer mu.Unlock(); return slices.Clone(inUse) }
	inBubble(t, kubelet.Options{Client: client, Storage: disk}, func(h *kubelet.Hub) {
		h.Join(kubelet.Node{Name: "n1", IP: "10.0.0.1", Client: client.CoreV1(), Mounted: mounted})
		pass(time.Minute)
		if got := phase(t, client, "db"); got != corev1.PodPending || len(see()) != 1 {
			t.Errorf("db before its volume = %s with %v in use, want Pending with v1", got, see())
		}
		disk.Lock()
		disk.is = true
		disk.Unlock()
		pass(time.Second)
		if got := phase(t, client, "db"); got != corev1.PodRunning {
			t.Errorf("db after its volume = %s, want Running", got)
		}
		markDeleted(t, client, "db", 1)
		pass(2 * time.Second)
		if got := phase(t, client, "db"); got != "gone" || len(see()) != 0 {
			t.Errorf("db after its end = %s with %v in use, want gone and none", got, see())
		}
	})
}

func markDeleted(t *testing.T, c kubernetes.Interface, name string, grace int64) {
	t.Helper()
	p, err := c.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := metav1.NewTime(time.Now().Add(time.Duration(grace) * time.Second))
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
	if _, err := c.CoreV1().Pods("default").Update(t.Context(), p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}
