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
	namespace string
	rules     *sharedRules
	labels    map[string]string // all of them; belongs to the object seen
	uses      []translate.VolumeUse
	shape     *cluster.Shape // nil until it is first found
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

// describe makes a subject say what an object says now; nil stands for one
// that is new. It reports whether anything changed.
func (k *Keeper) describe(s *subject, pod *corev1.Pod, rules translate.Rules, uses []translate.VolumeUse) (*subject, bool) {
	shared := k.rules.intern(rules, pod.Namespace, &k.subjects, k.chosen)
	if s != nil && s.rules == shared && maps.Equal(s.labels, pod.Labels) && slices.EqualFunc(s.uses, uses, translate.VolumeUse.Equal) {
		k.rules.release(shared, &k.subjects)
		s.labels, s.uses = pod.Labels, uses // so that the object seen before can go
		return s, false
	}
	next := &subject{namespace: pod.Namespace, rules: shared, labels: pod.Labels, uses: uses}
	k.forget(s)
	k.subjects.add(next)
	return next, true
}

// forget takes a subject out; nil is none.
func (k *Keeper) forget(s *subject) {
	if s == nil {
		return
	}
	k.subjects.remove(s)
	k.shapes.release(s.shape)
	k.rules.release(s.rules, &k.subjects)
}

// reshape finds the shapes of all stale subjects. Cost: linear in these.
func (k *Keeper) reshape() {
	f := finder{k: k, keys: map[string][]string{}, known: map[sameShape]*cluster.Shape{}}
	for _, s := range k.subjects.old() {
		next := f.find(s)
		k.shapes.release(s.shape)
		s.shape = next
	}
}

// finder finds shapes; it remembers them for subjects that differ in nothing.
type finder struct {
	k     *Keeper
	keys  map[string][]string // by namespace: labels that somebody reads there, sorted
	known map[sameShape]*cluster.Shape
}

type sameShape struct {
	rules  *sharedRules
	labels string
}

func (f *finder) find(s *subject) *cluster.Shape {
	labels := f.read(s)
	same := sameShape{rules: s.rules}
	if len(s.uses) == 0 {
		same.labels = inOne(labels)
		if shape := f.known[same]; shape != nil {
			return f.k.shapes.again(shape)
		}
	}
	shape := s.rules.shape
	shape.Labels = labels
	f.k.storage.AddVolumes(&shape, s.uses)
	found := f.k.shapes.intern(shape)
	if len(s.uses) == 0 {
		f.known[same] = found
	}
	return found
}

// read are the labels of a subject that somebody reads.
func (f *finder) read(s *subject) constraint.Labels {
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
