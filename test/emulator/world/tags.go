package world

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// Rules of EC2 and IAM on tags.
const (
	TagsMax     = 50
	tagKeyMax   = 128
	tagValueMax = 256
)

// Tag is one tag of a resource.
type Tag struct {
	Key          string    `xml:"key"`
	Value        string    `xml:"value"`
	SearchableAt time.Time `xml:"-" json:",omitzero"` // until then tag filters do not see it
}

// Tags is sorted by key.
type Tags []Tag

// TagsFrom makes tags of keys and values, sorted by key.
func TagsFrom(m map[string]string) Tags {
	var t Tags
	for k, v := range m {
		t = t.With(Tag{Key: k, Value: v})
	}
	return t
}

// Get is the value of a key; empty where it is missing.
func (t Tags) Get(key string) string {
	i, found := t.find(key)
	if !found {
		return ""
	}
	return t[i].Value
}

func (t Tags) find(key string) (int, bool) {
	return slices.BinarySearchFunc(t, key, func(a Tag, key string) int { return cmp.Compare(a.Key, key) })
}

// With returns a copy in which n replaces the tag of the same key.
func (t Tags) With(n Tag) Tags {
	next := slices.Clone(t)
	i, found := next.find(n.Key)
	if found {
		next[i] = n
		return next
	}
	return slices.Insert(next, i, n)
}

// WithAll returns a copy in which the others replace tags of the same keys.
func (t Tags) WithAll(others Tags) Tags {
	for _, o := range others {
		t = t.With(o)
	}
	return t
}

// Without is the tags but for a key.
func (t Tags) Without(key string) Tags {
	return slices.DeleteFunc(slices.Clone(t), func(a Tag) bool { return a.Key == key })
}

func (t Tags) valuesOf(key string) []string {
	i, found := t.find(key)
	if !found {
		return nil
	}
	return []string{t[i].Value}
}

// Keys are the keys, in the order of the tags.
func (t Tags) Keys() []string {
	keys := make([]string, 0, len(t))
	for _, a := range t {
		keys = append(keys, a.Key)
	}
	return keys
}

func (t Tags) values() []string {
	values := make([]string, 0, len(t))
	for _, a := range t {
		values = append(values, a.Value)
	}
	return values
}

// Searchable returns the tags that filters see at a moment.
func (t Tags) Searchable(now time.Time) Tags {
	return slices.DeleteFunc(slices.Clone(t), func(a Tag) bool { return a.SearchableAt.After(now) })
}

// AsMap returns the tags as a map of its own.
func (t Tags) AsMap() map[string]string {
	m := make(map[string]string, len(t))
	for _, a := range t {
		m[a.Key] = a.Value
	}
	return m
}

// Count is the number that counts against the limit: tags that AWS itself put
// there do not.
func (t Tags) Count() int {
	n := 0
	for _, a := range t {
		if !strings.HasPrefix(a.Key, "aws:") {
			n++
		}
	}
	return n
}

// ReadTags decodes a Tag.N list and applies the rules of EC2.
func ReadTags(items []*wire.Node) (Tags, error) {
	var t Tags
	for _, n := range items {
		next := Tag{Key: n.String("Key"), Value: n.String("Value")}
		if err := checkTag(next); err != nil {
			return nil, err
		}
		if _, twice := t.find(next.Key); twice {
			return nil, wire.Errorf("InvalidParameterValue", "Duplicate tag key '%s' specified.", next.Key)
		}
		t = t.With(next)
	}
	return t, CheckTagCount(t)
}

func checkTag(t Tag) error {
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

// CheckTagCount refuses more tags than AWS allows.
func CheckTagCount(t Tags) error {
	if t.Count() > TagsMax {
		return wire.Errorf("TagLimitExceeded", "More than %d tags specified", TagsMax)
	}
	return nil
}

// TagSpecification is the tags that a request gives to one kind of resource.
type TagSpecification struct {
	ResourceType string `xml:"resourceType"`
	Tags         Tags   `xml:"tagSet>item"`
}

// taggable are the kinds that a launch may tag on creation.
var taggable = []string{
	"fleet", "instance", "launch-template", "network-interface", "spot-instances-request", "volume",
	"capacity-reservation", "placement-group", "security-group", "subnet", "vpc", "image", "snapshot",
}

// ReadTagSpecifications decodes TagSpecification.N.
func ReadTagSpecifications(params *wire.Node) ([]TagSpecification, error) {
	return ReadTagSpecificationsFrom(params.List("TagSpecification"))
}

// ReadTagSpecificationsFrom decodes them where a call names the list otherwise.
func ReadTagSpecificationsFrom(list []*wire.Node) ([]TagSpecification, error) {
	var specs []TagSpecification
	for _, n := range list {
		kind := n.String("ResourceType")
		if !slices.Contains(taggable, kind) {
			return nil, wire.Errorf("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", kind)
		}
		t, err := ReadTags(n.List("Tag"))
		if err != nil {
			return nil, err
		}
		specs = append(specs, TagSpecification{ResourceType: kind, Tags: t})
	}
	return specs, nil
}

// TagsFor joins what all specifications say about one kind; later ones win.
func TagsFor(specs []TagSpecification, kind string) Tags {
	var t Tags
	for _, s := range specs {
		if s.ResourceType == kind {
			t = t.WithAll(s.Tags)
		}
	}
	return t
}
