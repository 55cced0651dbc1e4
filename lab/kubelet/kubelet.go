// Package kubelet emulates the part of every node's kubelet that handles pods: it starts the pods
// bound to a node, reports their status under that node's own credentials, lets them end as their
// annotations say, and stops them gracefully when they are deleted.
//
// It promises that only the node that a pod is bound to touches it, that a pod starts after its
// volumes are attached, and that one thousand nodes cost one watch. It runs only those containers for
// which its Runtime has a program: annotations say what the other pods do (see StartAfter and the
// others). Package machine keeps the Node object and its lease.
package kubelet

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/daemok/daemok/lab/event"
)

// Node is one node as far as its pods are concerned.
type Node struct {
	Name   string
	IP     string
	Client Client // with the node's own credentials

	// Allocatable is what the pods may have together. A pod that asks for more
	// than is left is refused, as a kubelet does. Nil refuses none.
	Allocatable corev1.ResourceList

	// Mounted receives the volumes in use whenever they change, sorted. It may be nil. It
	// is called without locks held and must not block.
	Mounted func([]corev1.UniqueVolumeName)

	off *atomic.Bool // its instance has lost the power that it joined with; set by Join
}

// Client is the part of the Kubernetes API that a kubelet writes to about pods.
type Client interface {
	typedcorev1.PodsGetter
	typedcorev1.EventsGetter
}

// Storage says what a pod needs of its volumes.
type Storage interface {
	// Volumes returns the attachable volumes of a pod, and why it must wait
	// for them; an empty reason means that all are attached to its node.
	Volumes(pod *corev1.Pod) (names []corev1.UniqueVolumeName, waiting string)
}

// Runtime runs the containers of some pods for real, as package container does.
type Runtime interface {
	Runs(pod *corev1.Pod) bool
	// Sync starts what is not started, and returns how the containers that it runs are, by name.
	Sync(pod *corev1.Pod, allocatable corev1.ResourceList) map[string]corev1.ContainerStatus
	// Stop asks the pod's containers to end and returns whether all have.
	Stop(pod *corev1.Pod) (ended bool)
	// Kill ends the pod's containers at once. Sync starts them again.
	Kill(uid types.UID)
	Forget(uid types.UID)
}

// Options are what a Hub is made of.
type Options struct {
	Client  kubernetes.Interface // reads all pods; never writes
	Pace    Pace
	Runtime Runtime         // nil: what containers do is emulated
	Storage Storage         // nil: pods wait for no volume
	Events  *event.Recorder // nil: none are written
	Workers int             // 0 means 32
	Log     *slog.Logger
}

// Hub is the kubelets of all nodes over one shared watch of pods.
type Hub struct {
	options  Options
	informer cache.SharedIndexInformer
	queue    workqueue.TypedRateLimitingInterface[string]
	ips      addresses
	mounts   mounts
	rooms    rooms

	mu    sync.Mutex // guards all below
	nodes map[string]Node
	off   map[string]*atomic.Bool // of each node that has joined and whose instance has power, also of one that left
	seen  map[string]sighting     // by key of pod
}

// sighting is when a kubelet first saw a pod.
type sighting struct {
	uid      string
	at       time.Time
	stopping bool // the deletion of the pod was reported
}

const nodeIndex = "node"

// New returns a hub without nodes. It does nothing before Run.
func New(o Options) *Hub {
	if o.Workers == 0 {
		o.Workers = 32
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{
		options: o,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, 10*time.Second)),
		mounts: mounts{byNode: map[string]map[string][]corev1.UniqueVolumeName{}},
		rooms:  rooms{byNode: map[string]map[string]corev1.ResourceList{}},
		nodes:  map[string]Node{},
		off:    map[string]*atomic.Bool{},
		seen:   map[string]sighting{},
	}
	h.informer = podInformer(o.Client)
	return h
}

func podInformer(client kubernetes.Interface) cache.SharedIndexInformer {
	bound := fields.OneTermNotEqualSelector("spec.nodeName", "").String()
	return coreinformers.NewFilteredPodInformer(client, metav1.NamespaceAll, 0, cache.Indexers{nodeIndex: podNode},
		func(o *metav1.ListOptions) { o.FieldSelector = bound })
}

func podNode(obj any) ([]string, error) {
	return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
}

// Run watches pods and acts for the nodes that have joined until ctx ends. It
// returns after its last worker.
func (h *Hub) Run(ctx context.Context) error {
	if err := h.informer.SetTransform(slim); err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	if _, err := h.informer.AddEventHandler(h.handler()); err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { h.informer.Run(ctx.Done()) })
	if cache.WaitForCacheSync(ctx.Done(), h.informer.HasSynced) {
		for range h.options.Workers {
			wg.Go(func() { h.work(ctx) })
		}
	}
	<-ctx.Done()
	h.queue.ShutDown()
	wg.Wait()
	return nil
}

// slim drops what no kubelet reads.
func slim(obj any) (any, error) {
	if pod, ok := obj.(*corev1.Pod); ok {
		pod.ManagedFields = nil
	}
	return obj, nil
}

func (h *Hub) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { h.enqueue(obj) },
		UpdateFunc: func(_, obj any) { h.enqueue(obj) },
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				h.forget(pod)
			}
		},
	}
}

func (h *Hub) enqueue(obj any) {
	pod := obj.(*corev1.Pod)
	h.ips.observe(pod.Status.PodIP)
	h.rooms.observe(pod)
	h.queue.Add(pod.Namespace + "/" + pod.Name)
}

// Changed has the hub check a pod again, whose containers are not as they were.
func (h *Hub) Changed(namespace, name string) { h.queue.Add(namespace + "/" + name) }

// Join makes the hub act for a node, at once for the pods already bound to it.
func (h *Hub) Join(n Node) {
	h.mu.Lock()
	if h.off[n.Name] == nil {
		h.off[n.Name] = new(atomic.Bool)
	}
	n.off = h.off[n.Name]
	h.nodes[n.Name] = n
	h.mu.Unlock()
	for _, pod := range h.PodsOn(n.Name) {
		h.enqueue(pod)
	}
}

// Leave makes the hub act for a node no longer. Its pods stay as they are.
func (h *Hub) Leave(name string) {
	h.mu.Lock()
	delete(h.nodes, name)
	h.mu.Unlock()
	h.mounts.dropNode(name)
	h.rooms.dropNode(name)
}

// PowerOff is Leave for a node whose instance lost its power: what runs of its pods ends at once,
// while the API goes on to have them as they were.
func (h *Hub) PowerOff(name string) {
	h.mu.Lock()
	if off := h.off[name]; off != nil {
		off.Store(true)
		delete(h.off, name)
	}
	h.mu.Unlock()
	h.Leave(name)
	if h.options.Runtime == nil {
		return
	}
	for _, pod := range h.PodsOn(name) {
		h.options.Runtime.Kill(pod.UID)
	}
}

func (h *Hub) node(name string) (Node, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, ok := h.nodes[name]
	return n, ok
}

// PodsOn returns the pods bound to a node, in no order. They are shared and
// must not be written.
func (h *Hub) PodsOn(node string) []*corev1.Pod {
	objects, _ := h.informer.GetIndexer().ByIndex(nodeIndex, node)
	return asPods(objects)
}

// Pods returns all pods that are bound, in no order. They are shared and must
// not be written.
func (h *Hub) Pods() []*corev1.Pod { return asPods(h.informer.GetStore().List()) }

func asPods(objects []any) []*corev1.Pod {
	out := make([]*corev1.Pod, 0, len(objects))
	for _, obj := range objects {
		out = append(out, obj.(*corev1.Pod))
	}
	return out
}
