package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/overlay"
)

// Parse reads a snapshot. An error names the line.
func Parse(text string) (*cluster.Snapshot, error) {
	out := &cluster.Snapshot{}
	p := &parser{named: map[string]any{}, levels: []level{under[cluster.Snapshot]{out, top}}}
	for i, line := range strings.Split(text, "\n") {
		w, err := words(line)
		if err == nil && len(w) > 0 {
			err = p.read(w[0], w[1:])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for _, pool := range out.Pools {
		if c := pool.Catalogue; c != nil {
			slices.SortFunc(c.InstanceTypes, func(a, b cluster.InstanceType) int { return cmp.Compare(a.Name, b.Name) })
		}
	}
	out.Sort()
	if err := resolve(out); err != nil {
		return nil, err
	}
	if err := checkNames(out); err != nil {
		return nil, err
	}
	overlay.Apply(out)
	return out, nil
}

// Print writes the whole snapshot in canonical form.
func Print(s *cluster.Snapshot) string {
	p := &printer{names: map[any]string{}, named: map[string]int{}, waiting: byName(s.Waiting)}
	s = overlay.Listed(s)
	for _, x := range top {
		x.print(p, 0, s)
	}
	return p.text.String()
}

// Redact returns a copy in which names are replaced, equal ones by equal ones:
// of namespaces, pods, owners, nodes, claims, instances, pools, daemons, volume
// claims and addresses, the keys and values of labels and taints that are not
// Kubernetes' or Karpenter's own, and all values of pods' labels, with the
// selectors that choose by them. Free text is left out. Amounts, prices, times,
// instance types, zones, ports and volume drivers stay, since they are what a
// report is about.
func Redact(s *cluster.Snapshot) *cluster.Snapshot {
	out := *overlay.Listed(s)
	r := &redactor{names: map[string]map[string]string{}, done: map[any]any{}}
	// Names decide among overlays of one weight.
	r.inOrder("overlay", mapped(out.Overlays, func(o cluster.Overlay) string { return o.Name }))
	for _, x := range top {
		x.redact(r, &out)
	}
	out.Sort()
	overlay.Apply(&out)
	return &out
}

type parser struct {
	named  map[string]any // what the text has names for, by noun and name
	levels []level        // what the next line may belong to, the innermost last
	open   level          // the last thing whose lines are not indented: they may come later too
	given  string         // the name that the text gave to the thing of the line
	count  int            // how many things the line stands for; 0: one
}

// read finds the innermost thing that a line with the noun may belong to.
func (p *parser) read(noun string, words []string) error {
	for i := len(p.levels) - 1; i >= 0; i-- {
		below, known, err := p.levels[i].read(p, noun, words)
		if err != nil {
			return fmt.Errorf("%s: %w", noun, err)
		}
		if below != nil {
			p.levels = append(p.levels[:i+1], below)
		}
		if known {
			return nil
		}
	}
	if p.open == nil {
		return misplaced(noun)
	}
	below, known, err := p.open.read(p, noun, words)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", noun, err)
	case known:
		p.levels = append(p.levels[:1], p.open, below)
		return nil
	}
	return misplaced(noun)
}

type printer struct {
	names   map[any]string // of what has one in the text alone
	named   map[string]int // how many of a noun
	text    strings.Builder
	given   string
	waiting map[[2]string]*cluster.Pod
}

// line writes words that are quoted where necessary already.
func (p *printer) line(depth int, words ...string) {
	p.text.WriteString(strings.Repeat("  ", depth))
	p.text.WriteString(strings.Join(words, " "))
	p.text.WriteByte('\n')
}

// named are lines for things that the text gives names, by which others refer to them.
type named[T any] struct {
	line[T]
	prefix string                       // of the names that printing gives
	from   int                          // the number in the first of them
	all    func(*cluster.Snapshot) []*T // what is printed at its place; nil: each before the line that first refers to it
	clone  func(*T) *T
}

func (n *named[T]) read(p *parser, _ *cluster.Snapshot, _ string, words []string) (level, error) {
	x := new(T)
	*x = n.starts
	if err := n.parse(p, x, words); err != nil {
		return nil, err
	}
	name := n.noun + " " + p.given
	if p.named[name] != nil {
		return nil, fmt.Errorf("%s is there twice", p.given)
	}
	p.named[name] = x
	below := n.enter(x)
	if n.flat {
		p.open = below
	}
	return below, nil
}

func (n *named[T]) print(p *printer, _ int, of *cluster.Snapshot) {
	if n.all != nil {
		for _, x := range n.all(of) {
			n.name(p, x)
		}
	}
}

// name returns what a thing is called in the text, and prints it first if it is not there yet.
func (n *named[T]) name(p *printer, x *T) string {
	if p.names[x] == "" {
		p.given = n.prefix + strconv.Itoa(p.named[n.noun]+n.from)
		p.names[x] = p.given
		p.named[n.noun]++
		n.line.print(p, 0, x)
	}
	return p.names[x]
}

func (n *named[T]) redact(r *redactor, in *cluster.Snapshot) {
	if n.all != nil {
		for _, x := range n.all(in) {
			n.redacted(r, x)
		}
	}
}

func (n *named[T]) redacted(r *redactor, x *T) *T {
	if done, known := r.done[x].(*T); known {
		return done
	}
	out := n.clone(x)
	r.done[x] = out
	n.line.redact(r, out)
	return out
}
