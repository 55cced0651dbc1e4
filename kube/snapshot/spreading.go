package snapshot

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/translate"
)

// spreading gives pods without spreads of their own those of the scheduler's
// configuration. Whom these count follows from services and owners.
type spreading struct {
	defaults []corev1.TopologySpreadConstraint // none: of what is below selectors of owners are not used
	services map[types.NamespacedName]map[string]string
	byPair   map[pair]map[types.NamespacedName]struct{} // services by the first label they choose by
	owners   map[ownerID]workload
	owned    map[ownerID]map[*subject]struct{}
	stale    map[*subject]struct{}
	staleIn  map[string]struct{}
}

type pair struct{ namespace, key, value string }

// workload is what an owner says of its pods.
type workload struct {
	selector *metav1.LabelSelector
	asks     quantity.Resources // by its template
	translate.Workload
}

// ownerID names a controller of pods that is watched; the zero value is any
// other, or none.
type ownerID struct{ namespace, kind, name string }

func newSpreading() spreading {
	return spreading{
		services: map[types.NamespacedName]map[string]string{}, byPair: map[pair]map[types.NamespacedName]struct{}{},
		owners: map[ownerID]workload{}, owned: map[ownerID]map[*subject]struct{}{},
		stale: map[*subject]struct{}{}, staleIn: map[string]struct{}{},
	}
}

// SpreadByDefault sets the spreads of pods without any of their own. It is
// called before anything is seen.
func (k *ClusterState) SpreadByDefault(defaults []corev1.TopologySpreadConstraint) {
	k.spreading.defaults = defaults
}

// spread adds the defaults to rules without spreads.
func (sp *spreading) spread(rules *translate.Rules, namespace string, labels map[string]string, owner ownerID) translate.Rules {
	return rules.WithSpreads(sp.defaults, sp.choosing(namespace, labels), sp.owners[owner].selector)
}

// choosing lists the selectors of the services that choose a pod.
func (sp *spreading) choosing(namespace string, labels map[string]string) []map[string]string {
	var out []map[string]string
	for _, name := range sp.namesOf(namespace, labels) {
		out = append(out, sp.services[name])
	}
	return out
}

// namesOf lists the services that choose a pod.
func (sp *spreading) namesOf(namespace string, labels map[string]string) []types.NamespacedName {
	var out []types.NamespacedName
	for key, value := range labels {
		for name := range sp.byPair[pair{namespace, key, value}] {
			if within(sp.services[name], labels) {
				out = append(out, name)
			}
		}
	}
	return out
}

func within(selector, labels map[string]string) bool {
	for key, value := range selector {
		if has, there := labels[key]; !there || has != value {
			return false
		}
	}
	return true
}

// follow begins to look after a subject that takes the defaults.
func (sp *spreading) follow(s *subject) {
	if s.own == nil || s.owner == (ownerID{}) {
		return
	}
	if sp.owned[s.owner] == nil {
		sp.owned[s.owner] = map[*subject]struct{}{}
	}
	sp.owned[s.owner][s] = struct{}{}
}

func (sp *spreading) leave(s *subject) {
	delete(sp.stale, s)
	delete(sp.owned[s.owner], s)
	if len(sp.owned[s.owner]) == 0 {
		delete(sp.owned, s.owner)
	}
}

// ownerOf names the controller of a pod, if it is watched.
func ownerOf(pod *corev1.Pod) ownerID {
	o := metav1.GetControllerOfNoCopy(pod)
	if o == nil {
		return ownerID{}
	}
	switch o.APIVersion + "/" + o.Kind {
	case "apps/v1/ReplicaSet", "apps/v1/StatefulSet", "v1/ReplicationController", "batch/v1/Job":
		return ownerID{pod.Namespace, o.Kind, o.Name}
	}
	return ownerID{}
}

// spreadAgain finds the rules of the subjects whose services or owner changed.
func (k *ClusterState) spreadAgain() {
	sp := &k.spreading
	for namespace := range sp.staleIn {
		for s := range k.subjects.in[namespace] {
			sp.stale[s] = struct{}{}
		}
	}
	for s := range sp.stale {
		if s.own == nil {
			continue
		}
		shared := k.rules.intern(sp.spread(s.own, s.namespace, s.labels, s.owner), s.namespace, &k.subjects, k.chosen)
		if shared != s.rules {
			k.subjects.stale[s] = struct{}{}
		}
		s.rules, shared = shared, s.rules
		k.rules.release(shared, &k.subjects)
	}
	clear(sp.stale)
	clear(sp.staleIn)
}

// ServiceSeen takes in a service. It must not be written any more.
func (k *ClusterState) ServiceSeen(s *corev1.Service) {
	k.serviceIs(s.Namespace, s.Name, s.Spec.Selector)
}

// ServiceGone takes in that a service was deleted.
func (k *ClusterState) ServiceGone(namespace, name string) { k.serviceIs(namespace, name, nil) }

func (k *ClusterState) serviceIs(namespace, name string, selector map[string]string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	sp, id := &k.spreading, types.NamespacedName{Namespace: namespace, Name: name}
	before := sp.services[id]
	if maps.Equal(before, selector) {
		return
	}
	if len(before) > 0 {
		at := firstPair(namespace, before)
		delete(sp.services, id)
		if delete(sp.byPair[at], id); len(sp.byPair[at]) == 0 {
			delete(sp.byPair, at)
		}
	}
	if len(selector) > 0 {
		at := firstPair(namespace, selector)
		sp.services[id] = selector
		if sp.byPair[at] == nil {
			sp.byPair[at] = map[types.NamespacedName]struct{}{}
		}
		sp.byPair[at][id] = struct{}{}
	}
	switch {
	case len(k.subjects.in[namespace]) == 0:
	case len(sp.defaults) > 0:
		sp.staleIn[namespace] = struct{}{}
		k.bump()
	default:
		k.revision++ // it may say of which pods one is the last that is ready
	}
}

func firstPair(namespace string, selector map[string]string) pair {
	key := slices.Min(slices.Collect(maps.Keys(selector)))
	return pair{namespace, key, selector[key]}
}
