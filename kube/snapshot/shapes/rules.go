package shapes

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// rulebook gives pods with equal rules one shared value, and knows which
// labels the selectors of all rules read.
type rulebook struct {
	byKey     map[string]*sharedRules
	selecting map[*sharedRules]struct{} // those that choose namespaces by their labels
	readers   map[string]map[string]int // by namespace, and everywhere: how many rules read a label
}

type sharedRules struct {
	key       string
	rules     podspec.Rules
	namespace string
	shape     cluster.Shape // without labels and volumes
	users     int
}

// everywhere stands for all namespaces; none has this name.
const everywhere = "*"

func newRulebook() rulebook {
	return rulebook{byKey: map[string]*sharedRules{}, selecting: map[*sharedRules]struct{}{}, readers: map[string]map[string]int{}}
}

// intern returns the shared form of rules and counts one more user.
func (b *rulebook) intern(rules podspec.Rules, namespace string, es *entries, chosen func(labels.Selector) []string) *sharedRules {
	key := rules.Key()
	shared, known := b.byKey[key]
	if !known {
		shared = &sharedRules{key: key, rules: rules, namespace: namespace, shape: rules.Shape(chosen)}
		b.byKey[key] = shared
		if rules.LookUpNamespaces() {
			b.selecting[shared] = struct{}{}
		}
		b.count(&shared.shape, 1, es)
	}
	shared.users++
	return shared
}

// release counts one user less and forgets rules without users.
func (b *rulebook) release(shared *sharedRules, es *entries) {
	if shared.users--; shared.users > 0 {
		return
	}
	delete(b.byKey, shared.key)
	delete(b.selecting, shared)
	b.count(&shared.shape, -1, es)
}

// count notes that one set of rules more, or less, reads labels. Where a label
// is read from now on, or no longer, pods must be looked at again.
func (b *rulebook) count(shape *cluster.Shape, by int, es *entries) {
	podspec.Reads(shape, func(namespace string, all bool, key string) {
		if all {
			namespace = everywhere
		}
		keys := b.readers[namespace]
		if keys == nil {
			keys = map[string]int{}
			b.readers[namespace] = keys
		}
		before := keys[key]
		if keys[key] = before + by; before+by == 0 {
			delete(keys, key)
		}
		switch {
		case before != 0 && before+by != 0:
		case all:
			es.allAreOld = true
		default:
			es.staleIn[namespace] = struct{}{}
		}
		if len(keys) == 0 {
			delete(b.readers, namespace)
		}
	})
}

// read lists the labels that any rule reads of a namespace's pods, sorted.
func (b *rulebook) read(namespace string) []string {
	keys := slices.Collect(maps.Keys(b.readers[namespace]))
	keys = slices.AppendSeq(keys, maps.Keys(b.readers[everywhere]))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// chooseAgain looks up the namespaces that rules choose, after a namespace or
// its labels changed; it reports whether any choice did.
func (b *rulebook) chooseAgain(es *entries, chosen func(labels.Selector) []string) bool {
	changed := false
	for shared := range b.selecting {
		next := shared.rules.Shape(chosen)
		if slices.EqualFunc(shared.shape.Neighbours, next.Neighbours, func(x, y cluster.Neighbours) bool {
			return slices.Equal(x.Namespaces, y.Namespaces) // the only part that can differ
		}) {
			continue
		}
		changed = true
		b.count(&next, 1, es)
		b.count(&shared.shape, -1, es)
		shared.shape = next
		es.staleIn[shared.namespace] = struct{}{}
	}
	return changed
}
