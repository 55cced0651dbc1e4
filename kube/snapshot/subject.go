package snapshot

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/translate"
)

// subject is something with a shape: a pod, or what a DaemonSet would make. It
// holds what the object says; its shape is found when a snapshot needs it.
type subject struct {
	namespace    string
	node         string // where the pod is; empty while it waits
	rules        *sharedRules
	own          *translate.Rules  // without the default spreads; nil where none can be added
	owner        ownerID           // of a pod: whom the scheduler would ask, and who creates it again
	labels       map[string]string // all of them; belongs to the object seen
	reported     constraint.Labels // of a pod recalled: all that is known
	uses         []translate.VolumeUse
	shape        *cluster.Shape // nil until it is first found
	reportedPDBs string         // of a pod recalled: those that it was under
	pdbs         string         // the PodDisruptionBudgets it is under, unless those of its namespace are stale
}

// subjects are all that have a shape, and which of them must be looked at
// again because something that their shapes depend on has changed.
type subjects struct {
	in         map[string]map[*subject]struct{} // by namespace
	stale      map[*subject]struct{}
	staleIn    map[string]struct{} // namespaces all of whose subjects are stale
	allAreOld  bool
	claimUsers map[types.NamespacedName]map[*subject]struct{}
}

func newSubjects() subjects {
	return subjects{
		in: map[string]map[*subject]struct{}{}, stale: map[*subject]struct{}{}, staleIn: map[string]struct{}{},
		claimUsers: map[types.NamespacedName]map[*subject]struct{}{},
	}
}

// add counts a subject and its claims.
func (ss *subjects) add(s *subject) {
	if ss.in[s.namespace] == nil {
		ss.in[s.namespace] = map[*subject]struct{}{}
	}
	ss.in[s.namespace][s] = struct{}{}
	ss.stale[s] = struct{}{}
	for _, use := range s.uses {
		if use.Claim.Name == "" {
			continue
		}
		if ss.claimUsers[use.Claim] == nil {
			ss.claimUsers[use.Claim] = map[*subject]struct{}{}
		}
		ss.claimUsers[use.Claim][s] = struct{}{}
		if len(ss.claimUsers[use.Claim]) == 2 { // shared from now on
			ss.claimChanged(use.Claim)
		}
	}
}

func (ss *subjects) remove(s *subject) {
	delete(ss.stale, s)
	delete(ss.in[s.namespace], s)
	if len(ss.in[s.namespace]) == 0 {
		delete(ss.in, s.namespace)
	}
	for _, use := range s.uses {
		users := ss.claimUsers[use.Claim]
		delete(users, s)
		switch len(users) {
		case 0:
			delete(ss.claimUsers, use.Claim)
		case 1: // no longer shared
			ss.claimChanged(use.Claim)
		}
	}
}

// claimChanged reports whether anybody uses the claim.
func (ss *subjects) claimChanged(claim types.NamespacedName) bool {
	for s := range ss.claimUsers[claim] {
		ss.stale[s] = struct{}{}
	}
	return len(ss.claimUsers[claim]) > 0
}

func (ss *subjects) shared(claim types.NamespacedName) bool { return len(ss.claimUsers[claim]) > 1 }

// old lists the stale subjects, each once, and forgets that they are.
func (ss *subjects) old() []*subject {
	var out []*subject
	for namespace, list := range ss.in {
		if _, all := ss.staleIn[namespace]; all || ss.allAreOld {
			for s := range list {
				out = append(out, s)
				delete(ss.stale, s)
			}
		}
	}
	for s := range ss.stale {
		out = append(out, s)
	}
	clear(ss.stale)
	clear(ss.staleIn)
	ss.allAreOld = false
	return out
}

// describePod makes a subject say what a pod says now; nil stands for one that
// is new.
func (k *ClusterState) describePod(s *subject, pod *corev1.Pod) *subject {
	rules := translate.RulesOf(pod)
	next := subject{namespace: pod.Namespace, node: pod.Spec.NodeName, labels: pod.Labels, uses: translate.VolumeUses(pod), owner: ownerOf(pod)}
	if len(k.spreading.defaults) > 0 && !rules.SpreadsItself() {
		own := rules
		next.own = &own
		rules = k.spreading.spread(&own, pod.Namespace, pod.Labels, next.owner)
	}
	s, _ = k.become(s, next, rules)
	return s
}

// describeDaemon makes a subject say what the pods of a DaemonSet say, and
// reports whether anything changed. No pod has no subject.
func (k *ClusterState) describeDaemon(s *subject, pod *corev1.Pod) (*subject, bool) {
	if pod == nil {
		k.forget(s)
		return nil, s != nil
	}
	return k.become(s, subject{namespace: pod.Namespace, labels: pod.Labels}, translate.ForEveryNode(pod))
}

func (k *ClusterState) become(s *subject, next subject, rules translate.Rules) (*subject, bool) {
	next.rules = k.rules.intern(rules, next.namespace, &k.subjects, k.chosen)
	if s != nil && s.rules == next.rules && s.owner == next.owner && maps.Equal(s.labels, next.labels) &&
		slices.EqualFunc(s.uses, next.uses, translate.VolumeUse.Equal) {
		k.rules.release(next.rules, &k.subjects)
		s.node, s.own, s.labels, s.uses = next.node, next.own, next.labels, next.uses // so that the object seen before can go
		if s.shape != nil && !k.comesBack(s).Equal(s.shape.Requests) {
			k.subjects.stale[s] = struct{}{}
		}
		return s, false
	}
	k.forget(s)
	next.pdbs = k.pdbs.over(next.namespace, next.labels)
	k.subjects.add(&next)
	k.spreading.follow(&next)
	return &next, true
}

// forget takes a subject out; nil is none.
func (k *ClusterState) forget(s *subject) {
	if s == nil {
		return
	}
	k.subjects.remove(s)
	k.spreading.leave(s)
	k.shapes.release(s.shape)
	k.rules.release(s.rules, &k.subjects)
}

// reshape finds the shapes of all stale subjects. Cost: linear in these.
func (k *ClusterState) reshape() {
	k.spreadAgain()
	k.askAgain()
	f := finder{k: k, keys: map[string][]string{}, known: map[sameShape]*cluster.Shape{}}
	for _, s := range k.subjects.old() {
		next := f.find(s)
		k.shapes.release(s.shape)
		if next != s.shape {
			s.shape = next
			k.views.isOld(s.node)
		}
	}
}

// finder finds shapes; it remembers them for subjects that differ in nothing.
type finder struct {
	k     *ClusterState
	keys  map[string][]string // by namespace: labels that somebody reads there, sorted
	known map[sameShape]*cluster.Shape
}

type sameShape struct {
	rules  *sharedRules
	labels string
	owner  ownerID // whose pods ask for more when they are made; the zero value: nobody
}

func (f *finder) find(s *subject) *cluster.Shape {
	labels, requests := f.read(s), f.k.comesBack(s)
	same := sameShape{rules: s.rules}
	if !requests.Equal(s.rules.shape.Requests) {
		same.owner = s.owner
	}
	if len(s.uses) == 0 {
		same.labels = inOne(labels)
		if shape := f.known[same]; shape != nil {
			return f.k.shapes.again(shape)
		}
	}
	shape := s.rules.shape
	shape.Labels, shape.Requests = labels, requests
	f.k.storage.AddVolumes(&shape, s.uses)
	found := f.k.shapes.intern(shape)
	if len(s.uses) == 0 {
		f.known[same] = found
	}
	return found
}

// read are the labels of a subject that somebody reads.
func (f *finder) read(s *subject) constraint.Labels {
	if len(s.reported) > 0 {
		return s.reported
	}
	keys, known := f.keys[s.namespace]
	if !known {
		keys = f.k.rules.read(s.namespace)
		f.keys[s.namespace] = keys
	}
	var out constraint.Labels
	for _, key := range keys {
		if value, has := s.labels[key]; has {
			out = append(out, constraint.Label{Key: key, Value: value})
		}
	}
	return out
}

func inOne(labels constraint.Labels) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteString(l.Key + "=" + l.Value + ",") // neither can hold these
	}
	return b.String()
}
