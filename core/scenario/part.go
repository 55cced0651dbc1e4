package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// labelsOf is the line of the labels of a P, which replaces those that it has without one.
func labelsOf[P any](at func(*P) *constraint.Labels, usual func(*P) constraint.Labels, value hiding, means string) *one[P, constraint.Labels] {
	return &one[P, constraint.Labels]{anew: true, at: at,
		line: line[constraint.Labels]{noun: "labels", means: means, facts: pairs(value)},
		when: func(of *P) bool { return !slices.Equal(*at(of), usual(of)) }}
}

// noLabels are what most things have where no line says otherwise.
func noLabels[P any](*P) constraint.Labels { return nil }

// requirements are the lines of what labels must be.
func requirements[P any](noun string, at func(*P) *constraint.Requirements, value hiding, means string) *list[P, constraint.Requirement] {
	return &list[P, constraint.Requirement]{
		line: line[constraint.Requirement]{noun: noun, means: means, starts: constraint.Requirement{Set: constraint.Anything()}, facts: requirementFacts(value)},
		at:   func(of *P) *[]constraint.Requirement { return (*[]constraint.Requirement)(at(of)) },
		put:  func(to *P, r constraint.Requirement) { *at(to) = at(to).And(r) }}
}

func requirementFacts(value hiding) []fact[constraint.Requirement] {
	label := argument("a key", func(r *constraint.Requirement) *string { return &r.Key }, word, "of the label")
	label.hides = replaced
	return []fact[constraint.Requirement]{label,
		{word: "operator value", place: rest, means: "operators of Kubernetes (In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte), of which several may follow each other; minvalues takes a number",
			hides: replaced, read: readOperators, print: printOperators,
			redact: func(r *redactor, in *constraint.Requirement) { r.requirement(in, value) }}}
}

func readOperators(_ *parser, to *constraint.Requirement, words []string) error {
	for len(words) > 0 {
		n := 1
		for n < len(words) && !reserved[words[n]] {
			n++
		}
		if err := readOperator(to, words[0], words[1:n]); err != nil {
			return err
		}
		words = words[n:]
	}
	return nil
}

func readOperator(r *constraint.Requirement, op string, w []string) error {
	values := make([]string, len(w))
	for i := range w {
		var err error
		if values[i], err = unquote(w[i]); err != nil {
			return err
		}
	}
	if op == minValues {
		if len(values) != 1 {
			return fmt.Errorf("minvalues takes one number")
		}
		n, err := strconv.Atoi(values[0])
		r.MinValues = max(r.MinValues, n)
		return err
	}
	set, err := constraint.NewSet(constraint.Operator(op), values...)
	r.Set = r.Set.Intersect(set)
	return err
}

func printOperators(_ *printer, of *constraint.Requirement) string {
	var out []string
	for _, t := range of.Set.Terms() {
		out = append(append(out, string(t.Op)), mapped(t.Values, quote)...)
	}
	if of.MinValues != 0 {
		out = append(out, minValues, strconv.Itoa(of.MinValues))
	}
	return strings.Join(out, " ")
}

// selects are the lines of the pods that a rule counts.
type selects[P any] struct {
	*list[P, constraint.Requirement]
	selector func(*P) *cluster.Selector
}

func selecting[P any](at func(*P) *cluster.Selector) selects[P] {
	return selects[P]{selector: at, list: requirements("select", func(of *P) *constraint.Requirements { return &at(of).Requirements }, (*redactor).anyValue,
		"The pods that the rule counts, by their labels. All lines must be satisfied; without a line the rule counts every pod, and with only `nothing` no pod.")}
}

func (s selects[P]) read(p *parser, to *P, noun string, words []string) (level, error) {
	if len(words) == 1 && words[0] == nothing {
		s.selector(to).Nothing = true
		return nil, nil
	}
	return s.list.read(p, to, noun, words)
}

func (s selects[P]) print(p *printer, depth int, of *P) {
	if s.selector(of).Nothing {
		p.line(depth, s.noun, nothing)
	}
	s.list.print(p, depth, of)
}

// taints are the lines of the taints of a node.
func taints[P any](noun string, at func(*P) *[]constraint.Taint, means string) *list[P, constraint.Taint] {
	return &list[P, constraint.Taint]{at: at, line: line[constraint.Taint]{noun: noun, means: means, facts: []fact[constraint.Taint]{
		argument("key=value:effect", func(t *constraint.Taint) *constraint.Taint { return t }, taint, "the taint")}}}
}

// sizes are the lines of what a node has for pods, and in all where that is not the same.
func sizes[P any](allocatable, capacity func(*P) *quantity.Resources) []part[P] {
	return []part[P]{
		&one[P, quantity.Resources]{at: allocatable, anew: true, when: func(of *P) bool { return !allocatable(of).IsZero() },
			after: func(to *P, before quantity.Resources) {
				if capacity(to).Equal(before) {
					*capacity(to) = *allocatable(to)
				}
			},
			line: resourcesLine("allocatable", forPods)},
		&one[P, quantity.Resources]{at: capacity, anew: true, when: func(of *P) bool { return !capacity(of).Equal(*allocatable(of)) },
			line: resourcesLine("capacity", "What it has in all; as `allocatable` if left out.")}}
}

const forPods = "What it has for pods; for an instance type, the total capacity if left out."

func resourcesLine(noun, means string) line[quantity.Resources] {
	return line[quantity.Resources]{noun: noun, means: means,
		facts: []fact[quantity.Resources]{amounts(func(r *quantity.Resources) *quantity.Resources { return r }, printAmounts, "an amount")}}
}

// attachable is the line of how many volumes a node takes.
func attachable[P any](at func(*P) *[]cluster.Attachable) *one[P, []cluster.Attachable] {
	return &one[P, []cluster.Attachable]{at: at, when: func(of *P) bool { return len(*at(of)) > 0 },
		line: line[[]cluster.Attachable]{noun: "attachable", means: "How many volumes it can attach, by their driver. A driver that is not named has no limit.",
			facts: []fact[[]cluster.Attachable]{
				several("driver=number", each, func(l *[]cluster.Attachable) *[]cluster.Attachable { return l }, attached, "of volumes")},
			ends: func(list *[]cluster.Attachable) error {
				slices.SortFunc(*list, func(a, b cluster.Attachable) int { return cmp.Compare(a.Driver, b.Driver) })
				return unique("driver", *list, func(a cluster.Attachable) string { return a.Driver })
			}}}
}

func attached() codec[cluster.Attachable] {
	return codec[cluster.Attachable]{parts: true,
		read: func(word string) (cluster.Attachable, error) {
			driver, value, _, err := pair(word)
			if err != nil {
				return cluster.Attachable{}, err
			}
			n, err := number[int64]().parse(driver, value)
			return cluster.Attachable{Driver: driver, Count: n}, err
		},
		print: func(a cluster.Attachable) string { return quote(a.Driver) + "=" + strconv.FormatInt(a.Count, 10) }}
}
