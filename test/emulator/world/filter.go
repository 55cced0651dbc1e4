package world

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
)

// Listed are names, sorted, in one text.
func Listed(names iter.Seq[string]) string { return strings.Join(slices.Sorted(names), ", ") }

// Limits of EC2 on filters.
const filterValuesMax = 200

// filter is one Filter.N of a request: any of the values, with wildcards.
type filter struct {
	name   string
	values []string
}

// Fields tells what a resource of one kind can be filtered by, by the filter's
// name. Tags are handled by the filter code itself.
type Fields[T any] map[string]func(T) []string

// One makes a filterable field of a function with a single value.
func One[T any](f func(T) string) func(T) []string {
	return func(item T) []string { return []string{f(item)} }
}

// With returns the fields and more of them.
func (f Fields[T]) With(more Fields[T]) Fields[T] {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}

// Lacking returns the fields with further ones that resources of AWS may have, and none has here: filters
// by them find nothing, as they do at AWS in an account without.
func (f Fields[T]) Lacking(names ...string) Fields[T] {
	all := maps.Clone(f)
	for _, name := range names {
		all[name] = func(T) []string { return nil }
	}
	return all
}

// readFilters decodes the filters of a request. EC2 refuses empty ones and
// more than 200 values in all.
func readFilters(params *wire.Node) ([]filter, error) {
	var filters []filter
	values := 0
	for _, n := range params.List("Filter") {
		f := filter{name: n.String("Name"), values: n.Strings("Value")}
		if f.name == "" || len(f.values) == 0 {
			return nil, wire.Errorf("InvalidParameterValue", "The filter '%s' needs a name and at least one value", f.name)
		}
		values += len(f.values)
		filters = append(filters, f)
	}
	if values > filterValuesMax {
		return nil, wire.Errorf("FilterLimitExceeded", "The maximum number of filter values specified on a single call is %d", filterValuesMax)
	}
	return filters, nil
}

// Matching returns the items that pass all filters of the request. tagsOf is
// nil for resources that have no tags. An unknown filter name is an error, as
// with EC2, never an empty answer.
func Matching[T any](params *wire.Node, items []T, known Fields[T], tagsOf func(T) Tags) ([]T, error) {
	filters, err := readFilters(params)
	if err != nil {
		return nil, err
	}
	kept := items
	for _, f := range filters {
		values, err := filterValues(f, known, tagsOf)
		if err != nil {
			return nil, err
		}
		var next []T
		for _, item := range kept {
			if matchAny(f.values, values(item)) {
				next = append(next, item)
			}
		}
		kept = next
	}
	return kept, nil
}

func filterValues[T any](f filter, known Fields[T], tagsOf func(T) Tags) (func(T) []string, error) {
	if values, ok := known[f.name]; ok {
		return values, nil
	}
	if tagsOf != nil {
		if key, ok := strings.CutPrefix(f.name, "tag:"); ok {
			return func(item T) []string { return tagsOf(item).valuesOf(key) }, nil
		}
		if f.name == "tag-key" {
			return func(item T) []string { return tagsOf(item).Keys() }, nil
		}
		if f.name == "tag-value" {
			return func(item T) []string { return tagsOf(item).values() }, nil
		}
	}
	names := Listed(maps.Keys(known))
	if tagsOf != nil {
		names += ", tag:KEY, tag-key, tag-value"
	}
	return nil, wire.Errorf("InvalidParameterValue", "The filter '%s' is invalid: the emulator knows %s", f.name, names)
}

func matchAny(patterns, values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return matchPattern(p, v) })
	})
}

// matchPattern compares as EC2 filters do: case counts, * is any run of
// characters, ? is exactly one, and a backslash takes the next one literally.
func matchPattern(pattern, value string) bool {
	if !strings.ContainsAny(pattern, `*?\`) {
		return pattern == value
	}
	return matchRunes([]rune(pattern), []rune(value))
}

func matchRunes(p, v []rune) bool {
	for len(p) > 0 {
		switch p[0] {
		case '*':
			for i := len(v); i >= 0; i-- {
				if matchRunes(p[1:], v[i:]) {
					return true
				}
			}
			return false
		case '?':
			if len(v) == 0 {
				return false
			}
		default:
			if p[0] == '\\' && len(p) > 1 {
				p = p[1:]
			}
			if len(v) == 0 || p[0] != v[0] {
				return false
			}
		}
		p, v = p[1:], v[1:]
	}
	return len(v) == 0
}

// BoolText is a boolean as filters write it.
func BoolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// ByKey sorts a copy of items by a key, which is asked for once an item.
func ByKey[T any](items []T, key func(T) string) []T {
	type keyed struct {
		key  string
		item T
	}
	sorted := make([]keyed, len(items))
	for i, item := range items {
		sorted[i] = keyed{key(item), item}
	}
	slices.SortFunc(sorted, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	out := make([]T, len(items))
	for i := range sorted {
		out[i] = sorted[i].item
	}
	return out
}
