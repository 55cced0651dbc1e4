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

func (p *parser) allocatable(w []string) (err error) {
	if p.parent.allocatable == nil {
		return fmt.Errorf("does not belong here")
	}
	*p.parent.allocatable, err = readAmounts(w)
	return err
}

func (p *parser) capacity(w []string) (err error) {
	if p.parent.capacity == nil {
		return fmt.Errorf("does not belong here")
	}
	p.parent.sized = true
	*p.parent.capacity, err = readAmounts(w)
	return err
}

func (p *parser) labels(w []string) error {
	if p.parent.labels == nil {
		return fmt.Errorf("does not belong here")
	}
	var out constraint.Labels
	for _, word := range w {
		key, value, hasValue, err := pair(word)
		if err != nil {
			return err
		}
		if !hasValue {
			return fmt.Errorf("%s: want key=value", word)
		}
		out = out.With(key, value)
	}
	*p.parent.labels = out
	return nil
}

func (p *parser) require(w []string) error {
	if p.parent.requirements == nil {
		return fmt.Errorf("does not belong here")
	}
	return readRequirement(p.parent.requirements, w)
}

func (p *parser) floor(w []string) error {
	if p.parent.pool == nil {
		return fmt.Errorf("want it below a pool")
	}
	return readRequirement(&p.parent.pool.Floor.Size, w)
}

// room reads what machines of the pool are to leave to pods.
func (p *parser) room(w []string) error {
	if p.parent.pool == nil {
		return fmt.Errorf("want it below a pool")
	}
	room := &p.parent.pool.Floor.Room
	return fields(w, map[string]func(string) error{
		"memory": func(text string) (err error) { room.Memory, err = quantity.ParseBytes(text); return err },
		"system": func(text string) (err error) { room.System, err = strconv.ParseInt(text, 10, 64); return err },
	})
}

func readRequirement(into *constraint.Requirements, w []string) error {
	key, rest, err := named(w)
	if err != nil {
		return err
	}
	r := constraint.Requirement{Key: key, Set: constraint.Anything()}
	for len(rest) > 0 {
		op := rest[0]
		n := 1
		for n < len(rest) && !reserved[rest[n]] {
			n++
		}
		if err := readOperator(&r, op, rest[1:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	*into = into.And(r)
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
	if op == "minvalues" {
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

func (p *parser) taint(w []string) error { return readTaintInto(p.parent.taints, w) }

func (p *parser) startupTaint(w []string) error { return readTaintInto(p.parent.startup, w) }

func readTaintInto(list *[]constraint.Taint, w []string) error {
	if list == nil || len(w) != 1 {
		return fmt.Errorf("want one key=value:effect below a pool, node or machine")
	}
	t, _, err := readTaint(w[0])
	*list = append(*list, t)
	return err
}

// readTaint reads key=value:effect. "*" is an empty key or effect.
func readTaint(word string) (t constraint.Taint, hasValue bool, err error) {
	head, effect, found := cut(word, ':')
	if !found {
		return t, false, fmt.Errorf("%s: want key=value:effect", word)
	}
	key, value, hasValue := cut(head, '=')
	var text [3]string
	for i, part := range []string{key, value, effect} {
		if part == "*" && i != 1 {
			continue
		}
		if text[i], err = unquote(part); err != nil {
			return t, false, err
		}
	}
	return constraint.Taint{Key: text[0], Value: text[1], Effect: constraint.Effect(text[2])}, hasValue, nil
}

// named reads the name that begins a line.
func named(w []string) (name string, rest []string, err error) {
	if len(w) == 0 {
		return "", nil, fmt.Errorf("want a name")
	}
	name, err = unquote(w[0])
	return name, w[1:], err
}

func readSlashed(word string) (a, b string, err error) {
	first, second, found := cut(word, '/')
	if !found {
		return "", "", fmt.Errorf("%s: want two names with a slash between", word)
	}
	if a, err = unquote(first); err != nil {
		return "", "", err
	}
	b, err = unquote(second)
	return a, b, err
}

func readPoolID(word string) (cluster.PoolID, error) {
	kind, name, err := readSlashed(word)
	return cluster.PoolID{Kind: kind, Name: name}, err
}

func readAmounts(w []string) (out quantity.Resources, err error) {
	for _, word := range w {
		if out, err = readAmount(out, word); err != nil {
			return out, err
		}
	}
	return out, nil
}

func readAmount(r quantity.Resources, word string) (quantity.Resources, error) {
	name, value, hasValue, err := pair(word)
	if err != nil {
		return r, err
	}
	if !hasValue || name == "" {
		return r, fmt.Errorf("%s: want resource=amount", word)
	}
	n, err := quantity.ParseAmount(name, value)
	return r.With(name, n), err
}

func readDollars(text string) (quantity.MicroUSDPerHour, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", max(0, 6-len(fraction))), 10, 64)
	if err != nil || len(fraction) > 6 {
		return 0, fmt.Errorf("price %s: want dollars an hour with six decimals at most", text)
	}
	return quantity.MicroUSDPerHour(n), nil
}

func sortLimits(list []quantity.Extended) error {
	slices.SortFunc(list, func(a, b quantity.Extended) int { return cmp.Compare(a.Name, b.Name) })
	return unique("limit", list, func(e quantity.Extended) string { return e.Name })
}
