package constraint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Requirement limits one label. MinValues, where positive, asks that what is
// launched stays open to at least so many different values of the label.
type Requirement struct {
	Key       string
	Set       Set
	MinValues int
}

// Requirements limits many labels, at most one Requirement a key, sorted by
// key. A label without a requirement may be anything. The zero value limits
// nothing. Values are shared between copies and never written.
type Requirements []Requirement

// NewRequirements sorts the given requirements and intersects those with the
// same key; of several MinValues the largest counts.
func NewRequirements(list ...Requirement) Requirements {
	var out Requirements
	for _, r := range list {
		out = out.And(r)
	}
	return out
}

// And returns a copy that is also limited by r.
func (rs Requirements) And(r Requirement) Requirements {
	i, found := rs.find(r.Key)
	out := slices.Clone(rs)
	if !found {
		return slices.Insert(out, i, r)
	}
	out[i].Set = out[i].Set.Intersect(r.Set)
	out[i].MinValues = max(out[i].MinValues, r.MinValues)
	return out
}

// AndAll returns a copy that is also limited by every requirement of other.
func (rs Requirements) AndAll(other Requirements) Requirements {
	for _, r := range other {
		rs = rs.And(r)
	}
	return rs
}

// LowerMinValues returns a copy whose MinValues, where there are any, are at most this much by key. Keys that are not
// listed stay.
func (rs Requirements) LowerMinValues(most map[string]int) Requirements {
	out := slices.Clone(rs)
	for i, r := range out {
		if least, listed := most[r.Key]; listed && r.MinValues > 0 {
			out[i].MinValues = min(r.MinValues, least)
		}
	}
	return out
}

// Get returns the set for a key: Anything where the key is not limited.
func (rs Requirements) Get(key string) Set {
	if i, found := rs.find(key); found {
		return rs[i].Set
	}
	return Anything()
}

// Has reports whether the key is limited.
func (rs Requirements) Has(key string) bool {
	_, found := rs.find(key)
	return found
}

// Allow reports whether a thing with exactly these labels meets every
// requirement; if not, it names the first key in order that fails.
func (rs Requirements) Allow(labels Labels) (failed string, ok bool) {
	for _, r := range rs {
		value, present := labels.Get(r.Key)
		if present && !r.Set.Allows(value) || !present && !r.Set.AllowsAbsent() {
			return r.Key, false
		}
	}
	return "", true
}

// Conflict names the first key on which both cannot be met at once.
func (rs Requirements) Conflict(other Requirements) (key string, conflict bool) {
	for _, r := range other {
		if i, found := rs.find(r.Key); found && !rs[i].Set.Intersects(r.Set) {
			return r.Key, true
		}
	}
	return "", false
}

// Equal reports whether both hold the same keys, sets and MinValues.
func (rs Requirements) Equal(other Requirements) bool {
	return slices.EqualFunc(rs, other, func(a, b Requirement) bool {
		return a.Key == b.Key && a.MinValues == b.MinValues && a.Set.Equal(b.Set)
	})
}

// String prints "key set; key set" in key order.
func (rs Requirements) String() string {
	words := make([]string, len(rs))
	for i, r := range rs {
		words[i] = r.Key + " " + r.Set.String()
		if r.MinValues > 0 {
			words[i] += fmt.Sprintf(" minvalues %d", r.MinValues)
		}
	}
	return strings.Join(words, "; ")
}

func (rs Requirements) find(key string) (int, bool) {
	return slices.BinarySearchFunc(rs, key, func(r Requirement, k string) int { return cmp.Compare(r.Key, k) })
}

// Label is one key with its value.
type Label struct{ Key, Value string }

// Labels is a set of labels sorted by key, one value a key. Values are shared
// between copies and never written.
type Labels []Label

// NewLabels sorts a map.
func NewLabels(m map[string]string) Labels {
	out := make(Labels, 0, len(m))
	for k, v := range m {
		out = append(out, Label{k, v})
	}
	slices.SortFunc(out, func(a, b Label) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// Get returns the value of a key.
func (l Labels) Get(key string) (string, bool) {
	i, found := slices.BinarySearchFunc(l, key, func(x Label, k string) int { return cmp.Compare(x.Key, k) })
	if !found {
		return "", false
	}
	return l[i].Value, true
}

// With returns a copy with one label set.
func (l Labels) With(key, value string) Labels {
	i, found := slices.BinarySearchFunc(l, key, func(x Label, k string) int { return cmp.Compare(x.Key, k) })
	out := slices.Clone(l)
	if found {
		out[i].Value = value
		return out
	}
	return slices.Insert(out, i, Label{key, value})
}

// Merge returns both; where a key is in both, the value of other counts.
func (l Labels) Merge(other Labels) Labels {
	out := make(Labels, 0, len(l)+len(other))
	i := 0
	for _, x := range other {
		for ; i < len(l) && l[i].Key < x.Key; i++ {
			out = append(out, l[i])
		}
		if i < len(l) && l[i].Key == x.Key {
			i++
		}
		out = append(out, x)
	}
	return append(out, l[i:]...)
}

// Map returns the labels as a new map.
func (l Labels) Map() map[string]string {
	m := make(map[string]string, len(l))
	for _, x := range l {
		m[x.Key] = x.Value
	}
	return m
}
