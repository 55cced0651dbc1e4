package world

import (
	"encoding/base64"
	"slices"
	"sort"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
)

// ChosenByID returns the items that a request names by ID, or all when it
// names none. An unknown ID is an error.
func ChosenByID[T any](ids []string, items []T, id func(T) string, code, format string) ([]T, error) {
	if len(ids) == 0 {
		return items, nil
	}
	var chosen []T
	for _, item := range items {
		if slices.Contains(ids, id(item)) {
			chosen = append(chosen, item)
		}
	}
	for _, want := range ids {
		if !slices.ContainsFunc(chosen, func(item T) bool { return id(item) == want }) {
			return nil, wire.Errorf(code, format, want)
		}
	}
	return chosen, nil
}

// PageLimits are what an action allows in MaxResults, and how much it gives at
// most when the caller does not say; 0 there means everything. Where most is 0, any number
// is taken, and no more than unasked are given.
type PageLimits struct{ Least, Most, Unasked int }

// Paged cuts one page out of items, which must be sorted by key with no two
// keys equal. The token names the last key seen, so that items which come and
// go between two pages neither repeat nor hide others. Its text is opaque and
// good for the same action alone.
func Paged[T any](c *Call, items []T, limits PageLimits, key func(T) string) ([]T, string, error) {
	size, err := pageSize(c.Params, limits)
	if err != nil {
		return nil, "", err
	}
	if token := c.Params.String("NextToken"); token != "" {
		after, err := ReadPageToken(c.Action, token)
		if err != nil {
			return nil, "", err
		}
		items = items[sort.Search(len(items), func(i int) bool { return key(items[i]) > after }):]
	}
	if size == 0 || len(items) <= size {
		return items, "", nil
	}
	return items[:size], PageToken(c.Action, key(items[size-1])), nil
}

// List is how an action lists items: what they are filtered by, and how they
// are cut into pages.
type List[T any] struct {
	Fields Fields[T]
	Tags   func(T) Tags // nil for items without
	Limits PageLimits
	Key    func(T) string // no two keys are equal
}

// Page returns those of the items that the call asks for, in their order,
// which must be that of their keys, and the token of the next page.
func (l List[T]) Page(c *Call, items []T) ([]T, string, error) {
	found, err := Matching(c.Params, items, l.Fields, l.Tags)
	if err != nil {
		return nil, "", err
	}
	return Paged(c, found, l.Limits, l.Key)
}

func pageSize(params *wire.Node, limits PageLimits) (int, error) {
	size, err := params.Int("MaxResults", 0)
	if err != nil {
		return 0, err
	}
	if size == 0 && params.String("MaxResults") == "" {
		return limits.Unasked, nil
	}
	if limits.Most == 0 && size >= limits.Least {
		return min(size, limits.Unasked), nil
	}
	if size < limits.Least || size > limits.Most {
		return 0, wire.Errorf("InvalidParameterValue", "Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.",
			size, limits.Least, limits.Most)
	}
	return size, nil
}

// PageToken is what the next page of an action is called by; last is the last on this page.
func PageToken(action, last string) string {
	return base64.URLEncoding.EncodeToString([]byte(action + "\x00" + last))
}

// ReadPageToken returns the last item on the page before, and an error where the token is of another action.
func ReadPageToken(action, token string) (string, error) {
	data, err := base64.URLEncoding.DecodeString(token)
	of, last, found := strings.Cut(string(data), "\x00")
	if err != nil || !found || of != action {
		return "", wire.Errorf("InvalidNextToken", "The token '%s' is invalid", token)
	}
	return last, nil
}
