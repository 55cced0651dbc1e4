package whatif

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// labelFamily is the family of a type. Types without it have the part of their
// name before the dot.
const labelFamily = "karpenter.k8s.aws/instance-family"

// anyValue opens what a change is about to every value.
const anyValue = "any"

// edit is one pool while it is changed.
type edit struct{ *cluster.Pool }

func apply(p *cluster.Pool, values map[string][]string) error {
	if p.Catalogue == nil {
		return fmt.Errorf("its offerings are not known: %s", p.NotReady)
	}
	e := &edit{Pool: p}
	for _, c := range changes {
		if len(values[c.key]) == 0 {
			continue
		}
		if err := c.apply(e, values[c.key]); err != nil {
			return err
		}
		if feasibility.ForPool(p, nil).Available().Count() == 0 {
			return fmt.Errorf("with %s=%s no offering is left", c.key, strings.Join(values[c.key], " and "))
		}
	}
	return nil
}

func (e *edit) instanceCost(values []string) error {
	dollars, err := strconv.ParseFloat(values[0], 64)
	if err != nil || len(values) > 1 || !(dollars >= 0 && dollars < 1e6) {
		return fmt.Errorf("machine-cost=%s: want one number of dollars an hour, such as 0.02", strings.Join(values, " and "))
	}
	e.InstanceCost = quantity.MicroUSDPerHour(math.Round(float64(dollars * 1e6)))
	return nil
}

func (e *edit) capacity(values []string) error {
	return e.setOffered(cluster.LabelCapacityType, "capacity type", values, func(o *cluster.Offering) string { return string(o.Option) })
}

func (e *edit) zone(values []string) error {
	return e.setOffered(cluster.LabelZone, "zone", values, func(o *cluster.Offering) string { return o.Zone })
}

// setOffered makes the pool launch only offerings with one of the values.
func (e *edit) setOffered(key, noun string, values []string, of func(*cluster.Offering) string) error {
	var known []string
	for k := range e.Catalogue.InstanceTypes {
		for i := range e.Catalogue.InstanceTypes[k].Offerings {
			known = append(known, of(&e.Catalogue.InstanceTypes[k].Offerings[i]))
		}
	}
	return e.set(key, noun, values, known)
}

func (e *edit) arch(values []string) error {
	var known []string
	for k := range e.Catalogue.InstanceTypes {
		if value, ok := e.Catalogue.InstanceTypes[k].Labels.Get(cluster.LabelArch); ok {
			known = append(known, value)
		}
	}
	return e.set(cluster.LabelArch, "processor", values, known)
}

// set replaces what the pool requires of the label, minValues aside.
func (e *edit) set(key, noun string, values, known []string) error {
	slices.Sort(known)
	known = slices.Compact(known)
	if slices.Contains(values, anyValue) {
		if len(values) > 1 {
			return errors.New("any leaves nothing to name beside it")
		}
		values = known
	}
	for _, v := range values {
		if !slices.Contains(known, v) {
			return fmt.Errorf("its class offers no %s %q; there are: %s", noun, v, some(known))
		}
	}
	set := constraint.Values(values...)
	e.require(key, set)
	if label, ok := e.Labels.Get(key); ok && !set.Allows(label) {
		return fmt.Errorf("its label %s=%s allows no other %s", key, label, noun)
	}
	return nil
}

// require replaces the values of one requirement, or adds it.
func (e *edit) require(key string, set constraint.Set) {
	e.Requirements = slices.Clone(e.Requirements)
	for i := range e.Requirements {
		if e.Requirements[i].Key == key {
			e.Requirements[i].Set = set
			return
		}
	}
	e.Requirements = e.Requirements.And(constraint.Requirement{Key: key, Set: set})
}

func (e *edit) addFamily(values []string) error { return e.each("family", values, family, e.admit) }
func (e *edit) addType(values []string) error   { return e.each("type", values, name, e.admit) }

func (e *edit) dropFamily(values []string) error {
	return e.each("family", values, family, func(of []bool) error { e.bar(of); return nil })
}

func (e *edit) dropType(values []string) error {
	return e.each("type", values, name, func(of []bool) error { e.bar(of); return nil })
}

// each does something about the instance types of each of the values.
func (e *edit) each(noun string, values []string, of func(*cluster.InstanceType) string, do func([]bool) error) error {
	for _, value := range values {
		marked, found := make([]bool, len(e.Catalogue.InstanceTypes)), false
		var names []string
		for k := range e.Catalogue.InstanceTypes {
			is := of(&e.Catalogue.InstanceTypes[k])
			marked[k] = is == value
			found = found || marked[k]
			names = append(names, is)
		}
		if !found {
			slices.Sort(names)
			return fmt.Errorf("its class offers no %s %q; there are: %s", noun, value, near(value, slices.Compact(names)))
		}
		if err := do(marked); err != nil {
			return fmt.Errorf("%s %s: %w", noun, value, err)
		}
	}
	return nil
}

func family(k *cluster.InstanceType) string {
	if value, ok := k.Labels.Get(labelFamily); ok {
		return value
	}
	out, _, _ := strings.Cut(k.Name, ".")
	return out
}

func name(k *cluster.InstanceType) string { return k.Name }

// near lists names that begin like the value, if there are any.
func near(value string, names []string) string {
	alike := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" || value[:1] != n[:1] })
	if len(alike) > 0 {
		return some(alike)
	}
	return some(names)
}

// admit lets the pool launch the marked instance types beside those that it may launch now: what it
// requires of instance types is widened to their labels, and instance types that only this lets in
// are not to be had.
func (e *edit) admit(marked []bool) error {
	before := e.offered()
	for i := range e.Requirements {
		e.widen(e.Requirements[i], marked)
	}
	after := e.offered()
	stray, found := make([]bool, len(marked)), false
	for k := range marked {
		stray[k] = after[k] && !before[k] && !marked[k]
		found = found || after[k] && marked[k]
	}
	if !found {
		return errors.New("its labels, zones, capacity types or minimum size leave nothing of it")
	}
	e.bar(stray)
	return nil
}

// offered marks the instance types that the pool may launch, unavailable or not.
func (e *edit) offered() []bool {
	out := make([]bool, len(e.Catalogue.InstanceTypes))
	for _, o := range feasibility.ForPool(e.Pool, nil).Options {
		out[o.Kind] = true
	}
	return out
}

// widen makes a requirement allow the labels of the marked instance types too.
func (e *edit) widen(r constraint.Requirement, marked []bool) {
	values, wider, absent := []string(nil), false, false
	for k := range e.Catalogue.InstanceTypes {
		value, ok := e.Catalogue.InstanceTypes[k].Labels.Get(r.Key)
		switch {
		case !ok:
			absent = absent || marked[k] && !r.Set.AllowsAbsent()
		case r.Set.Allows(value):
			values = append(values, value)
		case marked[k]:
			values, wider = append(values, value), true
		}
	}
	switch {
	case absent && len(values) == 0:
		// No instance type has the label: offerings or pods decide it.
	case absent || wider && r.Set.AllowsAbsent():
		e.require(r.Key, constraint.Anything())
	case wider:
		e.require(r.Key, constraint.Values(values...))
	}
}

// bar makes the marked instance types ones that cannot be had.
func (e *edit) bar(marked []bool) {
	if slices.Contains(marked, true) {
		e.Catalogue = e.Catalogue.WithoutTypes(marked)
	}
}
