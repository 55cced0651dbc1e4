package emulator

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// Rules of EC2 and IAM on tags.
const (
	tagsMax     = 50
	tagKeyMax   = 128
	tagValueMax = 256
)

// tag is one tag of a resource.
type tag struct {
	Key          string    `xml:"key"`
	Value        string    `xml:"value"`
	SearchableAt time.Time `xml:"-" json:",omitzero"` // until then tag filters do not see it
}

// tags is sorted by key.
type tags []tag

func tagsFrom(m map[string]string) tags {
	var t tags
	for k, v := range m {
		t = t.with(tag{Key: k, Value: v})
	}
	return t
}

func (t tags) get(key string) string {
	i, found := t.find(key)
	if !found {
		return ""
	}
	return t[i].Value
}

func (t tags) find(key string) (int, bool) {
	return slices.BinarySearchFunc(t, key, func(a tag, key string) int { return cmp.Compare(a.Key, key) })
}

// with returns a copy in which n replaces the tag of the same key.
func (t tags) with(n tag) tags {
	next := slices.Clone(t)
	i, found := next.find(n.Key)
	if found {
		next[i] = n
		return next
	}
	return slices.Insert(next, i, n)
}

// withAll returns a copy in which the others replace tags of the same keys.
func (t tags) withAll(others tags) tags {
	for _, o := range others {
		t = t.with(o)
	}
	return t
}

func (t tags) without(key string) tags {
	return slices.DeleteFunc(slices.Clone(t), func(a tag) bool { return a.Key == key })
}

func (t tags) valuesOf(key string) []string {
	i, found := t.find(key)
	if !found {
		return nil
	}
	return []string{t[i].Value}
}

func (t tags) keys() []string {
	keys := make([]string, 0, len(t))
	for _, a := range t {
		keys = append(keys, a.Key)
	}
	return keys
}

func (t tags) values() []string {
	values := make([]string, 0, len(t))
	for _, a := range t {
		values = append(values, a.Value)
	}
	return values
}

// searchable returns the tags that filters see at a moment.
func (t tags) searchable(now time.Time) tags {
	return slices.DeleteFunc(slices.Clone(t), func(a tag) bool { return a.SearchableAt.After(now) })
}

// asMap returns the tags as a map of its own.
func (t tags) asMap() map[string]string {
	m := make(map[string]string, len(t))
	for _, a := range t {
		m[a.Key] = a.Value
	}
	return m
}

// count is the number that counts against the limit: tags that AWS itself put
// there do not.
func (t tags) count() int {
	n := 0
	for _, a := range t {
		if !strings.HasPrefix(a.Key, "aws:") {
			n++
		}
	}
	return n
}

// readTags decodes a Tag.N list and applies the rules of EC2.
func readTags(items []*wire.Node) (tags, error) {
	var t tags
	for _, n := range items {
		next := tag{Key: n.String("Key"), Value: n.String("Value")}
		if err := checkTag(next); err != nil {
			return nil, err
		}
		if _, twice := t.find(next.Key); twice {
			return nil, wire.Errorf("InvalidParameterValue", "Duplicate tag key '%s' specified.", next.Key)
		}
		t = t.with(next)
	}
	return t, checkTagCount(t)
}

func checkTag(t tag) error {
	switch {
	case t.Key == "":
		return wire.Errorf("InvalidParameterValue", "Tag keys must not be empty")
	case strings.HasPrefix(strings.ToLower(t.Key), "aws:"):
		return wire.Errorf("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
	case len([]rune(t.Key)) > tagKeyMax:
		return wire.Errorf("InvalidParameterValue", "Tag key exceeds the maximum length of %d characters", tagKeyMax)
	case len([]rune(t.Value)) > tagValueMax:
		return wire.Errorf("InvalidParameterValue", "Tag value exceeds the maximum length of %d characters", tagValueMax)
	}
	return nil
}

func checkTagCount(t tags) error {
	if t.count() > tagsMax {
		return wire.Errorf("TagLimitExceeded", "More than %d tags specified", tagsMax)
	}
	return nil
}

// tagSpecification is the tags that a request gives to one kind of resource.
type tagSpecification struct {
	ResourceType string `xml:"resourceType"`
	Tags         tags   `xml:"tagSet>item"`
}

// taggable are the kinds that a launch may tag on creation.
var taggable = []string{
	"fleet", "instance", "launch-template", "network-interface", "spot-instances-request", "volume",
	"capacity-reservation", "placement-group", "security-group", "subnet", "vpc", "image", "snapshot",
}

// readTagSpecifications decodes TagSpecification.N.
func readTagSpecifications(params *wire.Node) ([]tagSpecification, error) {
	return readTagSpecificationsFrom(params.List("TagSpecification"))
}

// readTagSpecificationsFrom decodes them where a call names the list otherwise.
func readTagSpecificationsFrom(list []*wire.Node) ([]tagSpecification, error) {
	var specs []tagSpecification
	for _, n := range list {
		kind := n.String("ResourceType")
		if !slices.Contains(taggable, kind) {
			return nil, wire.Errorf("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", kind)
		}
		t, err := readTags(n.List("Tag"))
		if err != nil {
			return nil, err
		}
		specs = append(specs, tagSpecification{ResourceType: kind, Tags: t})
	}
	return specs, nil
}

// tagsFor joins what all specifications say about one kind; later ones win.
func tagsFor(specs []tagSpecification, kind string) tags {
	var t tags
	for _, s := range specs {
		if s.ResourceType == kind {
			t = t.withAll(s.Tags)
		}
	}
	return t
}
