package viewer

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/ui/view"
)

// filter is what a user typed to see fewer rows: words that must all match, in capitals or not. A word is
// part of a name, owner, type, zone, capacity type or status; or the value of a field or label, as "zone=b"
// or "team=shop"; behind an exclamation mark, it must not match.
type filter []word

type word struct {
	not        bool
	key, value string // key is empty for a word alone
}

func parseFilter(typed string) filter {
	var out filter
	for _, w := range strings.Fields(typed) {
		rest, not := strings.CutPrefix(w, "!")
		key, value, has := strings.Cut(rest, "=")
		if !has {
			key, value = "", rest
		}
		if rest != "" {
			out = append(out, word{not, key, strings.ToLower(value)})
		}
	}
	return out
}

// fieldOf are the texts of what can be named in front of an equal sign besides labels.
func fieldOf(n *view.Node, key string) (texts []string, is bool) {
	switch strings.ToLower(key) {
	case byName, "node":
		texts = []string{n.Name, n.Claim, n.Instance}
	case byStatus:
		texts = []string{string(n.Status)}
	case byType:
		texts = []string{n.Type}
	case byZone:
		texts = []string{n.Zone}
	case byCapacity:
		texts = []string{n.CapacityType}
	case "arch":
		texts = []string{n.Arch}
	case byOwner, "pool", "nodepool":
		texts = []string{n.Owner.String()}
	case "pod":
		for i := range n.Pods {
			texts = append(texts, n.Pods[i].Namespace+"/"+n.Pods[i].Name)
		}
	default:
		return nil, false
	}
	return texts, true
}

// matches reports whether a node is to be shown.
func (f filter) matches(n *view.Node) bool {
	for _, w := range f {
		if w.matches(n) == w.not {
			return false
		}
	}
	return true
}

func (w word) matches(n *view.Node) bool {
	if w.key == "" {
		return contained(w.value,
			n.Name, n.Claim, n.Instance, n.Owner.String(), n.Type, n.Zone, n.CapacityType, string(n.Status))
	}
	if texts, is := fieldOf(n, w.key); is {
		return contained(w.value, texts...)
	}
	value, has := n.Labels[w.key]
	return has && (w.value == "" || strings.ToLower(value) == w.value)
}

// matchesText reports whether a row that is no node is to be shown: keys are of nodes alone.
func (f filter) matchesText(texts ...string) bool {
	for _, w := range f {
		if w.key == "" && contained(w.value, texts...) == w.not {
			return false
		}
	}
	return true
}

func contained(part string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), part) })
}
