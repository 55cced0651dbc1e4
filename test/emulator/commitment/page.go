package commitment

import (
	"slices"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// paging is what requests say of pages.
type paging struct {
	MaxResults *int
	NextToken  string
}

// The most results of a page, and how many there are unless a request says it. How many AWS gives then is not
// documented: few show the callers who read one page alone.
const (
	resultsMost  = 1000
	plansUnasked = 10
	ratesUnasked = 100
)

// paged cuts one page out of items, no two of which have the same key: so many as the request says, or unasked. Its
// token is good for the same list alone.
func paged[T any](
	p paging, unasked int, list string, items []T, key func(T) string,
) (page []T, next string, err error) {
	size := unasked
	if p.MaxResults != nil {
		size = *p.MaxResults
	}
	if size < 1 || size > resultsMost {
		return nil, "", invalid("maxResults is %d: it must be between 1 and %d", size, resultsMost)
	}
	items = world.ByKey(items, key)
	if p.NextToken != "" {
		after, err := world.ReadPageToken(list, p.NextToken)
		if err != nil {
			return nil, "", invalid("The nextToken is not valid.")
		}
		items = slices.DeleteFunc(items, func(item T) bool { return key(item) <= after })
	}
	if len(items) <= size {
		return items, "", nil
	}
	return items[:size], world.PageToken(list, key(items[size-1])), nil
}

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("ValidationException", format, args...)
}

// filter is one filter of a request: any of the values, each of them exactly.
type filter struct {
	Name   string
	Values []string
}

// matching are the items that pass all filters. A filter by a name that is none of those known is refused, not ignored.
func matching[T any](items []T, filters []filter, known world.Fields[T]) ([]T, error) {
	for _, f := range filters {
		values := known[f.Name]
		switch {
		case values == nil:
			return nil, invalid("The filter name %q is not valid.", f.Name)
		case len(f.Values) == 0:
			return nil, invalid("The filter %q has no values.", f.Name)
		}
		items = slices.DeleteFunc(slices.Clone(items), func(item T) bool {
			return !slices.ContainsFunc(values(item), func(v string) bool { return slices.Contains(f.Values, v) })
		})
	}
	return items, nil
}
