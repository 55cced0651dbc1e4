// Package requests is the table of ProvisioningRequests: the shapes of the pods that each asks capacity for, how far it
// is, and which pods consume it.
package requests

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	v1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/provisioningrequest"
	"github.com/daemok/daemok/kube/snapshot/shapes"
	"github.com/daemok/daemok/kube/virtual"
)

// admission fills in what an API server adds to pods.
type admission interface {
	Admit(pod *corev1.Pod) error
}

// namespaces say which of them are being deleted.
type namespaces interface {
	Ends(name string) bool
}

// claims say for which requests NodeClaims were made, by namespace/name.
type claims interface {
	ForRequests() map[string][]string
}

// Table holds ProvisioningRequests. It is not safe for concurrent use. Build it with New.
type Table struct {
	Served   bool   // they have an effect: pods that consume one wait for it
	Instance string // the processorInstance of those that are served; empty: those that name none

	shapes     *shapes.Table
	admission  admission
	namespaces namespaces
	claims     claims
	byName     map[types.NamespacedName]*entry
	consumers  map[types.NamespacedName]consumer // by pod
	others     map[types.NamespacedName]bool     // requests that are not Daemok's to serve: no pod waits for them here
	recalled   map[types.NamespacedName]recalled
}

// recalled is a request of a saved snapshot, for which there is no object.
type recalled struct {
	is     cluster.ProvisioningRequest
	shaped []*shapes.Entry // of its sets
}

// entry is one request.
type entry struct {
	State
	sets []set
}

// set is the pods of one template.
type set struct {
	shaped   *shapes.Entry
	requests corev1.ResourceList
	count    int64
}

// State is a request with what is known of it.
type State struct {
	provisioningrequest.Resolved
	Known         bool      // what it names was read
	ProvisionedAt time.Time // when it had capacity for all its pods; zero: it had not
	RetryAt       time.Time // no plan seeks its capacity before
}

// Name is the namespace and name of the request.
func (s *State) Name() types.NamespacedName { return client.ObjectKeyFromObject(s.Object) }

// consumer is a pod that consumes a request.
type consumer struct {
	request  types.NamespacedName
	waits    bool // it has no node
	failed   bool // another may come in its place
	requests corev1.ResourceList
}

// New returns an empty table.
func New(all *shapes.Table, admission admission, namespaces namespaces, claims claims) *Table {
	return &Table{
		shapes: all, admission: admission, namespaces: namespaces, claims: claims,
		byName: map[types.NamespacedName]*entry{}, consumers: map[types.NamespacedName]consumer{},
		others: map[types.NamespacedName]bool{}, recalled: map[types.NamespacedName]recalled{},
	}
}

// Seen takes in a request, which must not be written any more, and reports whether plans depend on what has changed.
func (t *Table) Seen(r *v1.ProvisioningRequest) (changed bool) {
	name := client.ObjectKeyFromObject(r)
	if !provisioningrequest.Ours(r, t.Instance) {
		changed = t.Gone(r)
		t.others[name] = r.DeletionTimestamp == nil
		return changed || t.others[name]
	}
	delete(t.others, name)
	e, known := t.byName[name]
	if known && e.Object.UID != r.UID {
		t.forget(e)
		known = false
	}
	if !known {
		e = &entry{}
		t.byName[name] = e
	}
	over := known && provisioningrequest.Over(e.Object) != provisioningrequest.Over(r)
	e.Object = r
	at := provisioningrequest.ProvisionedAt(r)
	if at.IsZero() {
		at = e.ProvisionedAt // it was written, and this is what there was before
	}
	changed = !known || over || !at.Equal(e.ProvisionedAt)
	e.ProvisionedAt = at
	return changed
}

// Gone takes in that a request was deleted, or is not to be served, and reports whether plans depend on it.
func (t *Table) Gone(r *v1.ProvisioningRequest) (changed bool) {
	name := client.ObjectKeyFromObject(r)
	e, known := t.byName[name]
	other := t.others[name]
	delete(t.others, name)
	if !known {
		return other
	}
	t.forget(e)
	delete(t.byName, name)
	return true
}

func (t *Table) forget(e *entry) {
	for i := range e.sets {
		t.shapes.Forget(e.sets[i].shaped)
	}
	e.sets = nil
}

// Resolved takes in what a request names, and reports whether plans depend on what has changed. One that is gone,
// or has changed meanwhile, is left as it is.
func (t *Table) Resolved(r provisioningrequest.Resolved) (changed bool) {
	e, known := t.byName[client.ObjectKeyFromObject(r.Object)]
	if !known || e.Object.UID != r.Object.UID {
		return false
	}
	was := e.Known
	e.Known, e.Pods, e.NotReady = true, r.Pods, r.NotReady
	return t.describe(e) || !was
}

// Provisioned takes in that there is capacity for all pods of a request, which its status is to say.
func (t *Table) Provisioned(name types.NamespacedName, at time.Time) {
	if e := t.byName[name]; e != nil {
		e.ProvisionedAt = at
	}
}

// Retry has no plan seek the capacity of a request before.
func (t *Table) Retry(name types.NamespacedName, at time.Time) {
	if e := t.byName[name]; e != nil {
		e.RetryAt = at
	}
}

// AdmissionChanged has the pods of a namespace admitted again, or all where it is empty, and reports whether plans
// depend on what has changed.
func (t *Table) AdmissionChanged(namespace string) (changed bool) {
	for name, e := range t.byName {
		if namespace == "" || name.Namespace == namespace {
			changed = t.describe(e) || changed
		}
	}
	return changed
}

// describe finds the shapes of the pods of a request, and reports whether plans depend on what has changed.
func (t *Table) describe(e *entry) (changed bool) {
	before, why := slices.Clone(e.sets), e.NotReady
	pods := t.admitted(e)
	if len(pods) == 0 {
		t.forget(e)
		return len(before) > 0 || why != e.NotReady
	}
	if len(e.sets) != len(pods) {
		t.forget(e)
		e.sets = make([]set, len(pods))
	}
	for i, pod := range pods {
		x := &e.sets[i]
		x.shaped, x.count = t.shapes.Describe(x.shaped, pod), int64(e.Object.Spec.PodSets[i].Count)
		x.requests = requestsOf(pod)
	}
	return !slices.EqualFunc(before, e.sets, func(a, b set) bool { return a.shaped == b.shaped }) || why != e.NotReady
}

// admitted is the pods as an API server would admit them; none: NotReady says why.
func (t *Table) admitted(e *entry) (out []*corev1.Pod) {
	if len(e.Pods) == 0 {
		return nil
	}
	e.NotReady = virtual.Refusal{}
	refuse := func(why string) []*corev1.Pod {
		e.NotReady = virtual.Refusal{Reason: v1.ReasonResolutionFailed, Message: why}
		return nil
	}
	if t.namespaces.Ends(e.Object.Namespace) {
		return refuse("namespace " + e.Object.Namespace + " is being deleted: no pods can be created there")
	}
	for i := range e.Pods {
		pod := e.Pods[i].DeepCopy()
		if err := t.admission.Admit(pod); err != nil {
			template := e.Object.Spec.PodSets[i].PodTemplateRef.Name
			return refuse(fmt.Sprintf("pods of PodTemplate %s would be refused: %v", template, err))
		}
		out = append(out, pod)
	}
	return out
}

func requestsOf(pod *corev1.Pod) corev1.ResourceList {
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
}

// PodSeen takes in a pod, and reports whether plans depend on what has changed of it.
func (t *Table) PodSeen(pod *corev1.Pod) (changed bool) {
	request, name := provisioningrequest.Consumed(pod), client.ObjectKeyFromObject(pod)
	was, known := t.consumers[name]
	if request == "" {
		delete(t.consumers, name)
		return known
	}
	is := consumer{
		request: types.NamespacedName{Namespace: pod.Namespace, Name: request},
		failed:  pod.Status.Phase == corev1.PodFailed,
	}
	is.waits = pod.Spec.NodeName == "" && !is.failed
	if known && was.request == is.request && was.waits == is.waits && was.failed == is.failed {
		return false
	}
	is.requests = requestsOf(pod)
	t.consumers[name] = is
	return true
}

// PodGone takes in that a pod was deleted.
func (t *Table) PodGone(name types.NamespacedName) { delete(t.consumers, name) }

// States returns every request with its state, the oldest first.
func (t *Table) States() []State {
	out := make([]State, 0, len(t.byName))
	for _, e := range t.byName {
		out = append(out, e.State)
	}
	slices.SortFunc(out, func(a, b State) int {
		came := a.Object.CreationTimestamp.Compare(b.Object.CreationTimestamp.Time)
		return cmp.Or(came, compareNames(a.Name(), b.Name()))
	})
	return out
}

// Recall takes in requests of a saved snapshot.
func (t *Table) Recall(list []cluster.ProvisioningRequest) {
	for i := range list {
		r := recalled{is: list[i]}
		for _, set := range list[i].Sets {
			r.shaped = append(r.shaped, t.shapes.Recall(set.Shape, "", ""))
		}
		t.recalled[types.NamespacedName{Namespace: r.is.Namespace, Name: r.is.Name}] = r
	}
}

// show is the request as a snapshot shows it.
func (r recalled) show() cluster.ProvisioningRequest {
	out := r.is
	out.Sets = slices.Clone(out.Sets)
	for i := range out.Sets {
		out.Sets[i].Shape = r.shaped[i].Shape()
	}
	return out
}

// Show lists the requests in a snapshot, and those that pods consume and that are not there.
func (t *Table) Show(out *cluster.Snapshot) {
	for name, r := range t.recalled {
		if t.byName[name] == nil {
			out.Requested = append(out.Requested, r.show())
		}
	}
	if !t.Served {
		return
	}
	by := map[types.NamespacedName][]types.NamespacedName{}
	for pod, c := range t.consumers {
		by[c.request] = append(by[c.request], pod)
	}
	if len(t.byName)+len(by) == 0 {
		return
	}
	claims := t.claims.ForRequests()
	for name, e := range t.byName {
		r := e.shown(out.Now)
		r.Claims = claims[name.String()]
		if !e.Known && (!r.BookedUntil.IsZero() || len(r.Claims) > 0) {
			out.Unread = "ProvisioningRequests have not been read yet" // what is kept for it is not known
		}
		t.come(&r, e, by[name])
		out.Requested = append(out.Requested, r)
		delete(by, name)
	}
	for name, pods := range by {
		if t.others[name] {
			continue
		}
		r := cluster.ProvisioningRequest{Namespace: name.Namespace, Name: name.Name,
			NotReady: "it is not there: create it, or correct the annotation of the pod"}
		t.come(&r, nil, pods)
		if len(r.Consumers) > 0 {
			out.Requested = append(out.Requested, r)
		}
	}
}

// shown is what a snapshot shows of a request, without its consumers and claims.
func (e *entry) shown(now time.Time) cluster.ProvisioningRequest {
	r := cluster.ProvisioningRequest{
		Namespace: e.Object.Namespace, Name: e.Object.Name, CreatedAt: e.Object.CreationTimestamp.UTC(),
		Launches:    e.Object.Spec.ProvisioningClassName == v1.ClassBestEffortAtomic,
		Provisioned: !e.ProvisionedAt.IsZero(),
	}
	over := provisioningrequest.Over(e.Object)
	switch {
	case r.Provisioned && over == "":
		r.BookedUntil = e.ProvisionedAt.Add(provisioningrequest.BookedFor).UTC()
	case r.Provisioned:
	case over != "":
		r.NotReady = over
	case provisioningrequest.Invalid(e.Object) != "":
		r.NotReady = provisioningrequest.Invalid(e.Object)
	case !e.Known:
		r.NotReady = "its PodTemplates have not been read yet"
	case e.NotReady.Message != "":
		r.NotReady = e.NotReady.Message
	case e.RetryAt.After(now):
		r.RetryAt = e.RetryAt.UTC()
	}
	for i := range e.sets {
		r.Sets = append(r.Sets, cluster.PodSet{Shape: e.sets[i].shaped.Shape(), Pods: e.sets[i].count})
	}
	return r
}

// come counts the pods of a request that have a node, or had one and are done, and lists those that wait. Each counts
// for a set whose pods request the same, if there is one with any left.
func (t *Table) come(r *cluster.ProvisioningRequest, e *entry, pods []types.NamespacedName) {
	slices.SortFunc(pods, compareNames)
	for _, name := range pods {
		switch c := t.consumers[name]; {
		case c.failed:
		case c.waits:
			r.Consumers = append(r.Consumers, name.Name)
		case e != nil:
			if at := e.setOf(r.Sets, c.requests); at >= 0 {
				r.Sets[at].Come++
			}
		}
	}
}

// setOf is for which set a pod with such requests counts; negative: all pods of all sets have come.
func (e *entry) setOf(sets []cluster.PodSet, requests corev1.ResourceList) int {
	any := -1
	for i := range sets {
		switch {
		case sets[i].Come == sets[i].Pods:
		case equality.Semantic.DeepEqual(e.sets[i].requests, requests):
			return i
		case any < 0:
			any = i
		}
	}
	return any
}

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
