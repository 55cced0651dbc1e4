// Package store is an API server in memory for tests of reconcilers: list, watch, conflicts, admission
// and faults. Writes have finalizers, grace periods and evictions as in a cluster, and watches lag or
// break.
//
// It promises what controllers rely on: one order of revisions, optimistic locks, preconditions,
// generations, a separate status subresource, and pods that end only when their kubelet reports so.
// Daemok's own kinds get their defaults, or are refused, as their definitions say. It works in a
// testing/synctest bubble. It validates no other kind, keeps the status that an object is created
// with, which saves tests a call, and collects no garbage.
package store

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Server holds the objects of a cluster. Build it with New. It is safe for
// concurrent use; what it holds is replaced, never written.
type Server struct {
	scheme *runtime.Scheme
	now    func() time.Time

	mu       sync.Mutex
	revision uint64
	changed  map[schema.GroupVersionKind]uint64 // revision of the last write, by kind
	objects  map[schema.GroupVersionKind]map[types.NamespacedName]client.Object
	bodies   map[types.UID]fields // spec and status of Daemok's kinds, as they were written
	streams  map[*stream]struct{}
	blocked  func(*corev1.Pod) bool // pods whose eviction a budget forbids
	audit    func(Audit)            // reported every write; nil: nothing is
	user     string                 // that made the call
	call     Call                   // that is carried out
}

// New opens an empty server for the kinds of a scheme.
func New(scheme *runtime.Scheme, now func() time.Time) *Server {
	return &Server{
		scheme: scheme, now: now, streams: map[*stream]struct{}{}, bodies: map[types.UID]fields{},
		changed: map[schema.GroupVersionKind]uint64{},
		objects: map[schema.GroupVersionKind]map[types.NamespacedName]client.Object{},
	}
}

// BlockEvictions makes evictions of the pods that blocked picks answer 429,
// as a PodDisruptionBudget does; nil allows all again.
func (s *Server) BlockEvictions(blocked func(*corev1.Pod) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocked = blocked
}

func (s *Server) kindOf(o runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(o, s.scheme)
}

func resourceOf(kind schema.GroupVersionKind) schema.GroupResource {
	plural, _ := meta(kind)
	return plural.GroupResource()
}

func (s *Server) get(kind schema.GroupVersionKind, key types.NamespacedName) (client.Object, error) {
	o, known := s.objects[kind][key]
	if !known {
		return nil, apierrors.NewNotFound(resourceOf(kind), key.Name)
	}
	return o, nil
}

// all lists the objects of a kind, by namespace and name.
func (s *Server) all(kind schema.GroupVersionKind) []client.Object {
	return slices.SortedFunc(maps.Values(s.objects[kind]), func(a, b client.Object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
}

func (s *Server) create(kind schema.GroupVersionKind, o client.Object) error {
	key := client.ObjectKeyFromObject(o)
	if _, there := s.objects[kind][key]; there {
		return apierrors.NewAlreadyExists(resourceOf(kind), key.Name)
	}
	if o.GetResourceVersion() != "" {
		return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	o.SetUID(types.UID(fmt.Sprintf("uid-%06d", s.revision+1)))
	o.SetGeneration(1)
	o.SetCreationTimestamp(metav1.NewTime(s.now().Truncate(time.Second)))
	o.SetDeletionTimestamp(nil)
	stored, err := s.admitCreated(kind, o)
	if err != nil {
		return err
	}
	s.put(kind, stored, added)
	copyInto(o, stored)
	return nil
}

// put stores an object under the next revision and notifies the watches. The object is cloned.
func (s *Server) put(kind schema.GroupVersionKind, o client.Object, what change) {
	s.revise(kind, o)
	kept := o.DeepCopyObject().(client.Object)
	if s.objects[kind] == nil {
		s.objects[kind] = map[types.NamespacedName]client.Object{}
	}
	key := client.ObjectKeyFromObject(o)
	before := s.objects[kind][key]
	if what == deleted {
		delete(s.objects[kind], key)
		delete(s.bodies, o.GetUID())
	} else {
		s.objects[kind][key] = kept
	}
	if s.audit != nil {
		now := Audit{User: s.user, Call: s.call, Before: before}
		if what != deleted {
			now.After = kept
		}
		s.audit(now)
	}
	s.report(kind, what, kept)
}

func (s *Server) revise(kind schema.GroupVersionKind, o client.Object) {
	s.revision++
	s.changed[kind] = s.revision
	o.SetResourceVersion(strconv.FormatUint(s.revision, 10))
}

func (s *Server) report(kind schema.GroupVersionKind, what change, o client.Object) {
	for w := range s.streams {
		if w.kind == kind {
			w.push(event{what, o, s.now()})
		}
	}
}

// Put takes objects over as they are, with their UIDs, times and status, and admits nothing:
// they are not to be written afterwards, and may share what they hold. Each is new, or takes the place
// of one of its name.
func (s *Server) Put(objects ...client.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range objects {
		kind, err := s.kindOf(o)
		if err != nil {
			return err
		}
		key, what := client.ObjectKeyFromObject(o), added
		if s.objects[kind] == nil {
			s.objects[kind] = map[types.NamespacedName]client.Object{}
		}
		if s.objects[kind][key] != nil {
			what = modified
		}
		s.revise(kind, o)
		s.objects[kind][key] = o
		s.report(kind, what, o)
	}
	return nil
}

// remove begins or completes a deletion, as finalizers and grace allow.
func (s *Server) remove(kind schema.GroupVersionKind, key types.NamespacedName, o client.DeleteOptions) error {
	have, err := s.get(kind, key)
	if err != nil {
		return err
	}
	if err := precondition(kind, have, o.Preconditions); err != nil {
		return err
	}
	if policy := o.PropagationPolicy; policy != nil && *policy == metav1.DeletePropagationOrphan {
		s.orphan(have.GetUID())
	}
	next := have.DeepCopyObject().(client.Object)
	grace, graceful := s.grace(next, o.GracePeriodSeconds)
	if !graceful && len(next.GetFinalizers()) == 0 {
		s.put(kind, next, deleted)
		return nil
	}
	at := metav1.NewTime(s.now().Add(grace).Truncate(time.Second))
	if before := next.GetDeletionTimestamp(); before != nil && !at.Before(before) {
		return nil // it goes sooner already
	}
	next.SetDeletionTimestamp(&at)
	seconds := int64(grace / time.Second)
	next.SetDeletionGracePeriodSeconds(&seconds)
	s.put(kind, next, modified)
	return nil
}

// orphan takes an owner off all objects, as the garbage collector does.
func (s *Server) orphan(owner types.UID) {
	is := func(o metav1.OwnerReference) bool { return o.UID == owner }
	for kind, all := range s.objects {
		for _, o := range all {
			if slices.ContainsFunc(o.GetOwnerReferences(), is) {
				free := o.DeepCopyObject().(client.Object)
				free.SetOwnerReferences(slices.DeleteFunc(free.GetOwnerReferences(), is))
				s.put(kind, free, modified)
			}
		}
	}
}

// grace is how long a pod on a node may take to end. Other objects have none.
func (s *Server) grace(o client.Object, asked *int64) (time.Duration, bool) {
	pod, ok := o.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		return 0, false
	}
	seconds := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		seconds = *pod.Spec.TerminationGracePeriodSeconds
	}
	if asked != nil {
		seconds = *asked
	}
	return time.Duration(seconds) * time.Second, seconds > 0
}

func precondition(kind schema.GroupVersionKind, have client.Object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != have.GetUID() {
		return apierrors.NewConflict(resourceOf(kind), have.GetName(), fmt.Errorf("UID in precondition: %s, in record: %s", *p.UID, have.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != have.GetResourceVersion() {
		return apierrors.NewConflict(resourceOf(kind), have.GetName(), fmt.Errorf("revision in precondition: %s, in record: %s", *p.ResourceVersion, have.GetResourceVersion()))
	}
	return nil
}

// evict deletes a pod where no budget forbids it.
func (s *Server) evict(kind schema.GroupVersionKind, key types.NamespacedName, o *metav1.DeleteOptions) error {
	have, err := s.get(kind, key)
	if err != nil {
		return err
	}
	if pod, ok := have.(*corev1.Pod); ok {
		if err := s.withinBudgets(pod); err != nil {
			return err
		}
	}
	var options client.DeleteOptions
	if o != nil {
		options.Preconditions, options.GracePeriodSeconds = o.Preconditions, o.GracePeriodSeconds
	}
	return s.remove(kind, key, options)
}

// Revision grows with every write; equal revisions mean that nothing changed.
func (s *Server) Revision() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}
