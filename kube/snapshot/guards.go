package snapshot

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// GuardSeen takes in a PodDisruptionBudget. It must not be written any more.
// Which pods it is about is asked again only where its selector changed; its
// status changes with every pod that comes up.
func (k *Keeper) GuardSeen(b *policyv1.PodDisruptionBudget) {
	next := &guard{facts: translate.Guard(b), written: b.Spec.Selector}
	k.mu.Lock()
	defer k.mu.Unlock()
	g := k.guards.of(b.Namespace)
	before := g.byName[b.Name]
	if before != nil && reflect.DeepEqual(before.written, next.written) {
		if before.facts != next.facts {
			if keepsPods(&before.facts) || keepsPods(&next.facts) {
				k.guards.stale[b.Namespace] = struct{}{}
			}
			before.facts, k.guards.listed = next.facts, nil
			k.bump()
		}
		return
	}
	next.selector = translate.GuardSelector(b)
	g.byName[b.Name] = next
	k.guards.forget(b.Namespace)
	k.bump()
}

// GuardGone takes in that a PodDisruptionBudget was deleted.
func (k *Keeper) GuardGone(namespace, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.guards.of(namespace).byName, name)
	k.guards.forget(namespace)
	k.bump()
}

// guards are the PodDisruptionBudgets of every namespace, and those namespaces
// whose pods must be asked again which of them they are under.
type guards struct {
	in     map[string]*guarded
	stale  map[string]struct{}
	listed []cluster.Guard // as snapshots list them, never written; nil: to be listed anew
}

func newGuards() guards {
	return guards{in: map[string]*guarded{}, stale: map[string]struct{}{}}
}

type guard struct {
	facts    cluster.Guard
	written  *metav1.LabelSelector
	selector labels.Selector
}

// guarded are the PodDisruptionBudgets of one namespace. A pod is held against
// those alone that demand a label which it has, and those that demand none.
type guarded struct {
	byName map[string]*guard
	filed  bool // the fields below are as the ones above say
	byPair map[labelPair][]*guard
	rest   []*guard
	lists  map[string]string // names in one string, once each
}

type labelPair struct{ key, value string }

func (gs *guards) of(namespace string) *guarded {
	if gs.in[namespace] == nil {
		gs.in[namespace] = &guarded{byName: map[string]*guard{}}
	}
	return gs.in[namespace]
}

// forget drops what was worked out about a namespace.
func (gs *guards) forget(namespace string) {
	g := gs.in[namespace]
	gs.stale[namespace], gs.listed = struct{}{}, nil
	if len(g.byName) == 0 {
		delete(gs.in, namespace)
		return
	}
	*g = guarded{byName: g.byName}
}

// over names the budgets that a pod is under, sorted and with commas between;
// equal lists are one string.
func (gs *guards) over(namespace string, pod labels.Set) string {
	g := gs.in[namespace]
	if g == nil {
		return ""
	}
	g.file()
	var names []string
	note := func(list []*guard) {
		for _, one := range list {
			if one.selector.Matches(pod) {
				names = append(names, one.facts.Name)
			}
		}
	}
	note(g.rest)
	if len(g.byPair) > 0 {
		for key, value := range pod {
			note(g.byPair[labelPair{key, value}])
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	slices.Sort(names)
	list := strings.Join(names, ",")
	if known, seen := g.lists[list]; seen {
		return known
	}
	g.lists[list] = list
	return list
}

// file sorts the budgets by a label that each demands.
func (g *guarded) file() {
	if g.filed {
		return
	}
	g.filed, g.byPair, g.lists = true, map[labelPair][]*guard{}, map[string]string{}
	for _, one := range g.byName {
		key, values := demanded(one.selector)
		if key == "" {
			g.rest = append(g.rest, one)
			continue
		}
		for _, value := range values {
			g.byPair[labelPair{key, value}] = append(g.byPair[labelPair{key, value}], one)
		}
	}
}

// demanded is a label of which a selector demands one of some values; an empty
// key where it demands none.
func demanded(selector labels.Selector) (key string, values []string) {
	requirements, _ := selector.Requirements()
	for i := range requirements {
		switch r := &requirements[i]; r.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			return r.Key(), r.ValuesUnsorted()
		}
	}
	return "", nil
}

// guardAgain asks which budgets pods are under where that may have changed.
func (k *Keeper) guardAgain() {
	for namespace := range k.guards.stale {
		for s := range k.subjects.in[namespace] {
			before := s.guards
			if s.guards = both(s.toldGuards, k.guards.over(namespace, s.labels)); before != "" || s.guards != "" {
				k.views.isOld(s.node)
			}
		}
	}
	clear(k.guards.stale)
}

// both are the budgets of two lists, each once.
func both(a, b string) string {
	if a == "" || b == "" || a == b {
		return cmp.Or(a, b)
	}
	names := append(strings.Split(a, ","), strings.Split(b, ",")...)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}

// keepsPods reports whether pods may be shown as kept by a budget.
func keepsPods(g *cluster.Guard) bool { return g.Never && g.Allowed <= 0 }

// guardNamed is a budget as it was seen, or recalled; nil where there is none of that
// name.
func (k *Keeper) guardNamed(namespace, name string) *cluster.Guard {
	if in := k.guards.in[namespace]; in != nil && in.byName[name] != nil {
		return &in.byName[name].facts
	}
	for i := range k.recalled.rest.Guards {
		if g := &k.recalled.rest.Guards[i]; g.Namespace == namespace && g.Name == name {
			return g
		}
	}
	return nil
}

// guardFacts lists every budget, by namespace and name. One that was recalled is as it
// was seen since.
func (k *Keeper) guardFacts() []cluster.Guard {
	if k.guards.listed != nil {
		return k.guards.listed
	}
	var out []cluster.Guard
	for _, g := range k.recalled.rest.Guards {
		if in := k.guards.in[g.Namespace]; in == nil || in.byName[g.Name] == nil {
			out = append(out, g)
		}
	}
	for _, g := range k.guards.in {
		for _, one := range g.byName {
			out = append(out, one.facts)
		}
	}
	slices.SortFunc(out, func(a, b cluster.Guard) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	k.guards.listed = out
	return out
}
