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

// PDBSeen takes in a PodDisruptionBudget. It must not be written any more.
// Which pods it is about is asked again only where its selector changed; its
// status changes with every pod that comes up.
func (k *ClusterState) PDBSeen(b *policyv1.PodDisruptionBudget) {
	next := &pdb{facts: translate.PodDisruptionBudget(b), written: b.Spec.Selector}
	k.mu.Lock()
	defer k.mu.Unlock()
	g := k.pdbs.of(b.Namespace)
	before := g.byName[b.Name]
	if before != nil && reflect.DeepEqual(before.written, next.written) {
		if before.facts != next.facts {
			if keepsPods(&before.facts) || keepsPods(&next.facts) {
				k.pdbs.stale[b.Namespace] = struct{}{}
			}
			before.facts, k.pdbs.listed = next.facts, nil
			k.bump()
		}
		return
	}
	next.selector = translate.PDBSelector(b)
	g.byName[b.Name] = next
	k.pdbs.forget(b.Namespace)
	k.bump()
}

// PDBGone takes in that a PodDisruptionBudget was deleted.
func (k *ClusterState) PDBGone(namespace, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.pdbs.of(namespace).byName, name)
	k.pdbs.forget(namespace)
	k.bump()
}

// pdbs are the PodDisruptionBudgets of every namespace, and those namespaces
// whose pods must be asked again which of them they are under.
type pdbs struct {
	in     map[string]*namespacePDBs
	stale  map[string]struct{}
	listed []cluster.PodDisruptionBudget // as snapshots list them, never written; nil: to be listed again
}

func newPDBs() pdbs {
	return pdbs{in: map[string]*namespacePDBs{}, stale: map[string]struct{}{}}
}

type pdb struct {
	facts    cluster.PodDisruptionBudget
	written  *metav1.LabelSelector
	selector labels.Selector
}

// namespacePDBs are the PodDisruptionBudgets of one namespace. A pod is held against
// those alone that demand a label which it has, and those that demand none.
type namespacePDBs struct {
	byName map[string]*pdb
	filed  bool // the fields below are as the ones above say
	byPair map[labelPair][]*pdb
	rest   []*pdb
	lists  map[string]string // names in one string, once each
}

type labelPair struct{ key, value string }

func (gs *pdbs) of(namespace string) *namespacePDBs {
	if gs.in[namespace] == nil {
		gs.in[namespace] = &namespacePDBs{byName: map[string]*pdb{}}
	}
	return gs.in[namespace]
}

// forget drops what was worked out about a namespace.
func (gs *pdbs) forget(namespace string) {
	g := gs.in[namespace]
	gs.stale[namespace], gs.listed = struct{}{}, nil
	if len(g.byName) == 0 {
		delete(gs.in, namespace)
		return
	}
	*g = namespacePDBs{byName: g.byName}
}

// over names the budgets that a pod is under, sorted and with commas between;
// equal lists are one string.
func (gs *pdbs) over(namespace string, pod labels.Set) string {
	g := gs.in[namespace]
	if g == nil {
		return ""
	}
	g.file()
	var names []string
	note := func(list []*pdb) {
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
func (g *namespacePDBs) file() {
	if g.filed {
		return
	}
	g.filed, g.byPair, g.lists = true, map[labelPair][]*pdb{}, map[string]string{}
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

// pdbAgain asks which budgets pods are under where that may have changed.
func (k *ClusterState) pdbAgain() {
	for namespace := range k.pdbs.stale {
		for s := range k.subjects.in[namespace] {
			before := s.pdbs
			if s.pdbs = both(s.reportedPDBs, k.pdbs.over(namespace, s.labels)); before != "" || s.pdbs != "" {
				k.views.isOld(s.node)
			}
		}
	}
	clear(k.pdbs.stale)
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
func keepsPods(g *cluster.PodDisruptionBudget) bool { return g.Never && g.Allowed <= 0 }

// pdbNamed is a budget as it was seen, or recalled; nil where there is none of that
// name.
func (k *ClusterState) pdbNamed(namespace, name string) *cluster.PodDisruptionBudget {
	if in := k.pdbs.in[namespace]; in != nil && in.byName[name] != nil {
		return &in.byName[name].facts
	}
	for i := range k.recalled.rest.PDBs {
		if g := &k.recalled.rest.PDBs[i]; g.Namespace == namespace && g.Name == name {
			return g
		}
	}
	return nil
}

// pdbFacts lists every budget, by namespace and name. One that was recalled is as it
// was seen since.
func (k *ClusterState) pdbFacts() []cluster.PodDisruptionBudget {
	if k.pdbs.listed != nil {
		return k.pdbs.listed
	}
	var out []cluster.PodDisruptionBudget
	for _, g := range k.recalled.rest.PDBs {
		if in := k.pdbs.in[g.Namespace]; in == nil || in.byName[g.Name] == nil {
			out = append(out, g)
		}
	}
	for _, g := range k.pdbs.in {
		for _, one := range g.byName {
			out = append(out, one.facts)
		}
	}
	slices.SortFunc(out, func(a, b cluster.PodDisruptionBudget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	k.pdbs.listed = out
	return out
}
