package emulator

import (
	"encoding/base64"
	"sort"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
)

// pageLimits are what an action allows in MaxResults, and how much it gives at
// most when the caller does not say; 0 there means everything. Where most is 0, any number
// is taken, and no more than unasked are given.
type pageLimits struct{ least, most, unasked int }

// paged cuts one page out of items, which must be sorted by key with no two
// keys equal. The token names the last key seen, so that items which come and
// go between two pages neither repeat nor hide others. Its text is opaque and
// good for the same action alone.
func paged[T any](c *call, items []T, limits pageLimits, key func(T) string) ([]T, string, error) {
	size, err := pageSize(c.params, limits)
	if err != nil {
		return nil, "", err
	}
	if token := c.params.String("NextToken"); token != "" {
		after, err := readPageToken(c.action, token)
		if err != nil {
			return nil, "", err
		}
		items = items[sort.Search(len(items), func(i int) bool { return key(items[i]) > after }):]
	}
	if size == 0 || len(items) <= size {
		return items, "", nil
	}
	return items[:size], pageToken(c.action, key(items[size-1])), nil
}

// list is how an action lists items: what they are filtered by, and how they
// are cut into pages.
type list[T any] struct {
	fields fields[T]
	tags   func(T) tags // nil for items without
	limits pageLimits
	key    func(T) string // no two keys are equal
}

// page returns those of the items that the call asks for, in their order,
// which must be that of their keys, and the token of the next page.
func (l list[T]) page(c *call, items []T) ([]T, string, error) {
	found, err := matching(c.params, items, l.fields, l.tags)
	if err != nil {
		return nil, "", err
	}
	return paged(c, found, l.limits, l.key)
}

func pageSize(params *wire.Node, limits pageLimits) (int, error) {
	size, err := params.Int("MaxResults", 0)
	if err != nil {
		return 0, err
	}
	if size == 0 && params.String("MaxResults") == "" {
		return limits.unasked, nil
	}
	if limits.most == 0 && size >= limits.least {
		return min(size, limits.unasked), nil
	}
	if size < limits.least || size > limits.most {
		return 0, wire.Errorf("InvalidParameterValue", "Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.",
			size, limits.least, limits.most)
	}
	return size, nil
}

func pageToken(action, last string) string {
	return base64.URLEncoding.EncodeToString([]byte(action + "\x00" + last))
}

func readPageToken(action, token string) (string, error) {
	data, err := base64.URLEncoding.DecodeString(token)
	of, last, found := strings.Cut(string(data), "\x00")
	if err != nil || !found || of != action {
		return "", wire.Errorf("InvalidNextToken", "The token '%s' is invalid", token)
	}
	return last, nil
}
