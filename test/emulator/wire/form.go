package wire

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Node is one level of a decoded query form: "Filter.1.Value.2=x" becomes
// nested nodes. All methods work on a nil Node, which is an absent parameter.
type Node struct {
	text     string
	children map[string]*Node
}

// ParseForm decodes dotted names into a tree. Values given twice keep the first.
func ParseForm(form url.Values) *Node {
	root := &Node{}
	for name, values := range form {
		at := root
		for part := range strings.SplitSeq(name, ".") {
			at = at.child(part)
		}
		if len(values) > 0 {
			at.text = values[0]
		}
	}
	return root
}

func (n *Node) child(name string) *Node {
	if n.children == nil {
		n.children = map[string]*Node{}
	}
	if n.children[name] == nil {
		n.children[name] = &Node{}
	}
	return n.children[name]
}

// At walks down by names; it returns nil where the request has nothing.
func (n *Node) At(names ...string) *Node {
	for _, name := range names {
		if n == nil {
			return nil
		}
		n = n.children[name]
	}
	return n
}

// Has tells whether the request gave the parameter, empty or not.
func (n *Node) Has(name string) bool { return n.At(name) != nil }

// Text returns the node's own value.
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	return n.text
}

// String returns a parameter's value, or "" when absent.
func (n *Node) String(name string) string { return n.At(name).Text() }

// Bool returns a parameter that reads "true"; everything else is false.
func (n *Node) Bool(name string) bool { return strings.EqualFold(n.String(name), "true") }

// BoolPtr returns nil for an absent parameter.
func (n *Node) BoolPtr(name string) *bool {
	if !n.Has(name) {
		return nil
	}
	b := n.Bool(name)
	return &b
}

// Int returns a whole number, the default when absent, or an Error naming the
// parameter when it is not a number.
func (n *Node) Int(name string, def int) (int, error) {
	text := n.String(name)
	if text == "" {
		return def, nil
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, Errorf("InvalidParameterValue", "Invalid value '%s' for %s: it is not a number", text, name)
	}
	return v, nil
}

// Float returns a number, or the default when absent or malformed.
func (n *Node) Float(name string, def float64) float64 {
	v, err := strconv.ParseFloat(n.String(name), 64)
	if err != nil {
		return def
	}
	return v
}

// List returns the items of a numbered list in order of their numbers. The
// step "member" of the older query protocol is skipped.
func (n *Node) List(name string) []*Node {
	list := n.At(name)
	if member := list.At("member"); member != nil {
		list = member
	}
	if list == nil {
		return nil
	}
	numbers := make([]int, 0, len(list.children))
	for key := range list.children {
		if i, err := strconv.Atoi(key); err == nil {
			numbers = append(numbers, i)
		}
	}
	slices.Sort(numbers)
	items := make([]*Node, 0, len(numbers))
	for _, i := range numbers {
		items = append(items, list.children[strconv.Itoa(i)])
	}
	return items
}

// Strings returns the items of a numbered list of plain values.
func (n *Node) Strings(name string) []string {
	items := n.List(name)
	if len(items) == 0 {
		return nil
	}
	values := make([]string, 0, len(items))
	for _, item := range items {
		values = append(values, item.Text())
	}
	return values
}

// Canonical writes all parameters but the named top-level ones as sorted
// lines, so that two requests with the same meaning compare equal.
func (n *Node) Canonical(without ...string) string {
	var lines []string
	if n != nil {
		for name, c := range n.children {
			if !slices.Contains(without, name) {
				lines = c.lines(name, lines)
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (n *Node) lines(path string, to []string) []string {
	if len(n.children) == 0 {
		return append(to, path+"="+n.text)
	}
	for name, c := range n.children {
		to = c.lines(path+"."+name, to)
	}
	return to
}
