package pdbs

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/daemok/daemok/core/cluster"
)

type pdb struct {
	facts    cluster.PodDisruptionBudget
	written  *metav1.LabelSelector
	selector labels.Selector
}

// namespace has the PodDisruptionBudgets of one namespace. A pod is held against
// those alone that demand a label which it has, and those that demand none.
type namespace struct {
	byName map[string]*pdb
	filed  bool // the fields below are as the ones above say
	byPair map[labelPair][]*pdb
	rest   []*pdb
	lists  map[string]string // names in one string, once each
}

type labelPair struct{ key, value string }

func (in *namespace) over(pod labels.Set) string {
	in.file()
	var names []string
	add := func(list []*pdb) {
		for _, one := range list {
			if one.selector.Matches(pod) {
				names = append(names, one.facts.Name)
			}
		}
	}
	add(in.rest)
	if len(in.byPair) > 0 {
		for key, value := range pod {
			add(in.byPair[labelPair{key, value}])
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
	if known, seen := in.lists[list]; seen {
		return known
	}
	in.lists[list] = list
	return list
}

// file sorts the PodDisruptionBudgets by a label that each demands.
func (in *namespace) file() {
	if in.filed {
		return
	}
	in.filed, in.byPair, in.lists = true, map[labelPair][]*pdb{}, map[string]string{}
	for _, one := range in.byName {
		key, values := demanded(one.selector)
		if key == "" {
			in.rest = append(in.rest, one)
			continue
		}
		for _, value := range values {
			in.byPair[labelPair{key, value}] = append(in.byPair[labelPair{key, value}], one)
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
