package feasibility

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Constraint is one thing that options of a pool must have for a pod. Text reports what is in the
// way of an option that does not have it.
type Constraint struct {
	Rule    Rule
	Key     string
	Cleared bitset.Set                                  // the options that have it; not written
	Short   func(option int) (short, of int64)          // by how much an option misses; nil for a plain yes or no
	Text    func(option int, also []*Constraint) string // also: the constraints that leave nothing together with this one
	most    int64                                       // that an option has of what Short counts; 0: not stated
	Word    string                                      // as part of a list of preferences; empty if it is no preference of the pod
	effort  int
}

func (p *Pool) removal(h *Constraint, option int, all []*Constraint) Change {
	out := Change{Rule: h.Rule, Key: h.Key, effort: h.height(option)}
	if h.Short != nil {
		out.Amount, _ = h.Short(option)
	}
	if h.Rule == Unavailable {
		out.Text = p.unavailable(option, all)
		if spot := p.barredByMinimum(all); spot != nil {
			out.Text += "; " + spot.Text(option, []*Constraint{h})
		}
		return out
	}
	var preferences []*Constraint
	for _, o := range all {
		if o != h && o.Word != "" && o.Cleared.Has(option) {
			preferences = append(preferences, o)
		}
	}
	out.Text = h.Text(option, core(h, preferences))
	return out
}

// barredByMinimum is the constraint that alone forbids options which would do, where that is a minimum of on-demand
// nodes; nil: there is none.
func (p *Pool) barredByMinimum(all []*Constraint) *Constraint {
	at := slices.IndexFunc(all, func(o *Constraint) bool { return o.Rule == Limit && o.Key == cluster.LimitOnDemand })
	if at < 0 {
		return nil
	}
	left := p.every.Clone()
	for i, o := range all {
		if i != at {
			left.And(o.Cleared)
		}
	}
	if left.Next(0) < 0 {
		return nil
	}
	return all[at]
}

// whyMax is how many causes a reason names.
const whyMax = 3

// whyUnavailable lists why the options cannot be had, as far as it is known, in their
// order.
func (p *Pool) whyUnavailable(options bitset.Set) []string {
	var out []string
	unknown := false
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		switch why := p.Offering(p.Options[i]).Why; {
		case why == "":
			unknown = true
		case !slices.Contains(out, why):
			out = append(out, why)
		}
	}
	if more := len(out) - whyMax; more > 0 {
		out = append(out[:whyMax], fmt.Sprintf("%d further causes", more))
	}
	if len(out) > 0 && unknown {
		out = append(out, "insufficient capacity for the others")
	}
	return out
}

// unavailable counts the offerings that would do as well as the option.
func (p *Pool) unavailable(option int, all []*Constraint) string {
	same := p.every.Clone()
	for _, o := range all {
		if o.Rule != Unavailable && o.Cleared.Has(option) {
			same.And(o.Cleared)
		}
	}
	offering := p.Offering(p.Options[option])
	name := fmt.Sprintf("%s in %s, %s", p.name(option), offering.Zone, offering.Option)
	n, why := same.Count(), p.whyUnavailable(same)
	switch {
	case len(why) > 0 && n > 1:
		return fmt.Sprintf("none of the %d offerings that would do can be launched now, such as %s: %s", n, name, strings.Join(why, "; "))
	case len(why) > 0:
		return fmt.Sprintf("%s, the only offering that would do, cannot be launched now: %s", name, why[0])
	case n > 1:
		return fmt.Sprintf("insufficient capacity for all %d offerings that would do, such as %s: it is retried", n, name)
	}
	return "insufficient capacity for the only offering that would do, " + name + ": it is retried"
}

// core returns a few of the preferences that leave nothing together with the
// constraint; none if it leaves nothing by itself.
func core(h *Constraint, preferences []*Constraint) []*Constraint {
	if h.Word == "" {
		return nil
	}
	for i := len(preferences) - 1; i >= 0; i-- {
		without := slices.Delete(slices.Clone(preferences), i, i+1)
		left := h.Cleared.Clone()
		for _, o := range without {
			left.And(o.Cleared)
		}
		if left.Next(0) < 0 {
			preferences = without
		}
	}
	return preferences
}

func (p *Pool) labelConstraint(r constraint.Requirement, w preferences) *Constraint {
	out := &Constraint{Rule: Label, Key: r.Key, Cleared: p.remembered(r), Word: WantWord(r)}
	if w.volume.Has(r.Key) {
		out.effort = effort[NoType] * efforts // the volume stays where it is
	}
	out.Text = func(option int, also []*Constraint) string {
		if r.Set.Empty() && w.volume.Has(r.Key) {
			return "it wants " + WantWord(constraint.Requirement{Key: r.Key, Set: w.pod.Get(r.Key)}) + ", and" + w.blame(r.Key)[1:]
		}
		if len(also) > 0 {
			return together(append([]*Constraint{out}, also...)) + ": without " + out.Word + ", " + p.name(option) + " would do" + w.blame(r.Key)
		}
		return "no type in the pool has " + out.Word + p.hint(r, w) + w.blame(r.Key)
	}
	return out
}

// askConstraint keeps off what is launched only for pods that ask for it.
func (p *Pool) askConstraint(s special) *Constraint {
	cleared := p.every.Clone()
	for i := s.options.Next(0); i >= 0; i = s.options.Next(i + 1) {
		cleared.Remove(i)
	}
	return &Constraint{Rule: Label, Key: s.unless.Key, Cleared: cleared,
		Text: plain("what else the pool offers is launched only for pods that rule out " + s.unless.Key + "=" + s.unless.Value)}
}

// blame says that a preference is not the pod's but that of its volumes, or of devices that its ResourceClaims have.
func (w preferences) blame(key string) string {
	if !w.volume.Has(key) {
		return ""
	}
	return "; its volume or device needs " + WantWord(constraint.Requirement{Key: key, Set: w.volume.Get(key)})
}

func (p *Pool) name(option int) string { return p.InstanceType(p.Options[option]).Name }

// where returns the options of the instance types that the function accepts.
func (p *Pool) where(accepts func(kind int) bool) bitset.Set {
	kinds, all := make([]bool, len(p.Kinds)), true
	for k := range kinds {
		kinds[k] = accepts(k)
		all = all && kinds[k]
	}
	if all {
		return p.every
	}
	out := bitset.New(len(p.Options))
	for i, o := range p.Options {
		if kinds[o.Kind] {
			out.Add(i)
		}
	}
	return out
}

// needs lists what instances must have for the pod beside labels: amounts, room for volumes, host
// ports, and that they can be had now.
func (p *Pool) needs(s *cluster.Shape) []Constraint {
	var out []Constraint
	for _, name := range s.Requests.Names() {
		if need := s.Requests.Get(name); need > 0 {
			out = append(out, p.amountConstraint(name, need))
		}
	}
	out = append(out, p.daemonConstraint())
	out = append(out, p.volumeConstraints(s)...)
	for _, port := range s.Ports {
		text := func(option int, _ []*Constraint) string {
			return "host port " + portName(port) + " is taken by pods of " + p.portDaemon(port, p.Options[option].Kind)
		}
		out = append(out, Constraint{Rule: NoType, Key: portName(port), Text: text, Word: "host port " + portName(port) + " free",
			Cleared: p.where(func(k int) bool { return !slices.ContainsFunc(p.Kinds[k].Ports, port.Conflicts) })})
	}
	if p.onSale == nil {
		p.onSale = p.Available()
	}
	return append(out, Constraint{Rule: Unavailable, Cleared: p.onSale})
}

func plain(text string) func(int, []*Constraint) string {
	return func(int, []*Constraint) string { return text }
}

func portName(p cluster.Port) string {
	if p.Address != "" {
		return fmt.Sprintf("%s %s:%d", p.Protocol, p.Address, p.Number)
	}
	return fmt.Sprintf("%s %d", p.Protocol, p.Number)
}

func (p *Pool) amountConstraint(name string, need int64) Constraint {
	byKind, largest := p.freeOf(name), int64(0)
	free := func(option int) int64 { return byKind[p.Options[option].Kind] }
	for i := range p.Options {
		largest = max(largest, free(i))
	}
	out := Constraint{Rule: Resource, Key: name, most: largest, Word: name + " " + quantity.FormatAmount(name, need),
		Cleared: p.where(func(k int) bool { return byKind[k] >= need }),
		Short:   func(option int) (short, of int64) { return need - max(0, free(option)), need }}
	out.Text = func(option int, also []*Constraint) string {
		most := max(0, free(option))
		if len(also) > 0 {
			return together(append(slices.Clone(also), &out)) + ": with " + name + " " + quantity.FormatAmount(name, most) + ", " + p.name(option) + " would do"
		}
		if largest == 0 && p.capacity(name) > 0 {
			return "daemon pods leave no " + name + " on any type"
		}
		return lacks(name, need, most)
	}
	return out
}

// daemonConstraint keeps off types that daemon pods alone are too much for.
func (p *Pool) daemonConstraint() Constraint {
	if p.hospitable == nil {
		p.hospitable = p.where(func(k int) bool { return p.Kinds[k].Daemons.FitsIn(p.Kinds[k].Free.Add(p.Kinds[k].Daemons)) })
	}
	return Constraint{Rule: NoType, Key: keyDaemons, Text: plain("daemon pods alone are too much for any type that would do"), Cleared: p.hospitable}
}

func (p *Pool) volumeConstraints(s *cluster.Shape) []Constraint {
	var out []Constraint
	for _, a := range Attached(s) {
		room := func(k int) int64 {
			for _, x := range p.instanceTypes[k].Attachable {
				if x.Driver == a.Driver {
					return x.Count
				}
			}
			return a.Count
		}
		word := fmt.Sprintf("%d volumes of %s", a.Count, a.Driver)
		out = append(out, Constraint{Rule: Resource, Key: a.Driver, Word: "room for " + word, Cleared: p.where(func(k int) bool { return room(k) >= a.Count }),
			Short: func(option int) (short, of int64) { return a.Count - room(p.Options[option].Kind), a.Count },
			Text: func(option int, _ []*Constraint) string {
				return fmt.Sprintf("no type that would do attaches %s (most: %d)", word, room(p.Options[option].Kind))
			}})
	}
	return out
}

// Attached counts the volumes that one pod of the shape attaches, by driver.
func Attached(s *cluster.Shape) []cluster.Attachable {
	var out []cluster.Attachable
	for _, v := range s.Volumes {
		if v.Driver == "" {
			continue
		}
		at := slices.IndexFunc(out, func(a cluster.Attachable) bool { return a.Driver == v.Driver })
		if at < 0 {
			at, out = len(out), append(out, cluster.Attachable{Driver: v.Driver})
		}
		out[at].Count++
	}
	return out
}
