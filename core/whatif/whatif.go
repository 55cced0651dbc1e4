// Package whatif changes what pools may launch in a snapshot, as `daemok plan --what-if` asks.
//
// It promises that a question changes only what it names, and that it never modifies the original
// snapshot. It decides nothing: the caller makes plans for the original and for the changed snapshot,
// and compares them.
package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
)

// Question is changes to pools, in their order.
type Question struct {
	Text    string // as it was asked
	changes []change
}

// change is one word of a question, for the pools that stand before it.
type change struct {
	pool       string // empty: all pools
	key, value string
}

// poolKey begins the changes of one pool.
const poolKey = "pool"

// The changes. Those of one pool take effect in this order, however they are
// written, so that a family can be had for which the processor is opened too.
var changes = []struct {
	key, meaning string
	apply        func(e *edit, values []string) error
}{
	{"machine-cost", "dollars an hour for each instance beside its type and volumes", (*edit).instanceCost},
	{"capacity", "on-demand, spot, reserved or any", (*edit).capacity},
	{"zone", "a zone or any; several are several changes", (*edit).zone},
	{"arch", "amd64, arm64 or any", (*edit).arch},
	{"add-family", "a family of types, such as m8g", (*edit).addFamily},
	{"add-type", "a type, such as m8g.large", (*edit).addType},
	{"drop-family", "a family of types", (*edit).dropFamily},
	{"drop-type", "a type", (*edit).dropType},
}

// aliases are other words for changes.
var aliases = map[string]string{"remove-family": "drop-family", "remove-type": "drop-type"}

// Parse reads a question: words key=value with commas between them, such as
// "pool=default,add-family=m8g,capacity=any". A pool stands for the changes
// that follow it; changes before the first one are for every pool.
func Parse(text string) (Question, error) {
	out := Question{Text: text}
	pool, open := "", false // open: a pool is named that nothing is changed of yet
	for _, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok || value == "":
			return out, fmt.Errorf("%q: want key=value; %s", word, Possible())
		case key == poolKey && open:
			return out, fmt.Errorf("nothing is changed of pool %s before %q", pool, word)
		case key == poolKey:
			pool, open = value, true
			continue
		}
		if other, known := aliases[key]; known {
			key = other
		}
		if !slices.Contains(keys(), key) {
			return out, fmt.Errorf("%q is no change; %s", key, Possible())
		}
		out.changes, open = append(out.changes, change{pool, key, value}), false
	}
	if open {
		return out, fmt.Errorf("nothing is changed of pool %s; %s", pool, Possible())
	}
	return out, nil
}

// Possible lists in words what questions are made of.
func Possible() string {
	out := "possible are pool=NAME and after it"
	for i, c := range changes {
		if i > 0 {
			out += ";"
		}
		out += " " + c.key + "= (" + c.meaning + ")"
	}
	return out
}

// Keys are the words that may stand before an equal sign in a question.
func Keys() []string { return append([]string{poolKey}, keys()...) }

func keys() []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.key)
	}
	return out
}

// Apply returns the situation as it would be with the changes. What is there
// already stays as it is: only what may be launched differs. A pool that is not named
// and cannot be changed, as where its class is not ready, stays as it is, and notes
// say so; it is an error where no pool can be changed.
func (q Question) Apply(s *cluster.Snapshot) (changed *cluster.Snapshot, notes []string, err error) {
	out := *s
	out.Pools = slices.Clone(s.Pools)
	edited := map[int]map[string][]string{} // by pool: values by key
	named := map[int]bool{}
	for _, c := range q.changes {
		at, err := find(out.Pools, c.pool)
		if err != nil {
			return nil, nil, err
		}
		for _, i := range at {
			named[i] = named[i] || c.pool != ""
			if edited[i] == nil {
				edited[i] = map[string][]string{}
			}
			edited[i][c.key] = append(edited[i][c.key], c.value)
		}
	}
	for i := range out.Pools {
		if edited[i] == nil {
			continue
		}
		wrong := apply(&out.Pools[i], edited[i])
		if wrong == nil {
			continue
		}
		wrong = fmt.Errorf("%s: %w", out.Pools[i].ID, wrong)
		if named[i] {
			return nil, nil, wrong
		}
		out.Pools[i] = s.Pools[i]
		notes, err = append(notes, wrong.Error()), cmp.Or(err, wrong)
	}
	if len(notes) == len(edited) {
		return nil, nil, err
	}
	return &out, notes, nil
}

// find returns the positions of the pools that a name means: "default",
// "NodePool/default", or all for no name.
func find(pools []cluster.Pool, name string) ([]int, error) {
	var out []int
	var names []string
	for i := range pools {
		id := pools[i].ID
		if name == "" || name == id.Name || name == id.String() {
			out = append(out, i)
		}
		names = append(names, id.String())
	}
	switch {
	case len(out) == 0:
		return nil, fmt.Errorf("there is no pool %q; there are: %s", name, some(names))
	case len(out) > 1 && name != "":
		return nil, fmt.Errorf("pool %q may be several: say which of %s", name, some(names))
	}
	return out, nil
}

// someMax is how many names an error lists.
const someMax = 20

func some(names []string) string {
	text := strings.Join(names[:min(len(names), someMax)], ", ")
	if more := len(names) - someMax; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if text == "" {
		return "none"
	}
	return text
}
