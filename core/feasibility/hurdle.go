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

// Hurdle is one thing that options of a pool must have for a pod. Text tells
// what is in the way of an option that has not.
type Hurdle struct {
	Rule    Rule
	Key     string
	Cleared bitset.Set                              // the options that have it; not written
	Short   func(option int) (short, of int64)      // by how much an option misses; nil for a plain yes or no
	Text    func(option int, also []*Hurdle) string // also: the hurdles that leave nothing together with this one
	most    int64                                   // that an option has of what Short counts; 0: not told
	Word    string                                  // as part of a list of wishes; empty if it is no wish of the pod
	effort  int
}

func (p *Pool) removal(h *Hurdle, option int, all []*Hurdle) Change {
	out := Change{Rule: h.Rule, Key: h.Key, effort: h.height(option)}
	if h.Short != nil {
		out.Amount, _ = h.Short(option)
	}
	if h.Rule == Unavailable {
		out.Text = p.soldOut(option, all)
		return out
	}
	var wishes []*Hurdle
	for _, o := range all {
		if o != h && o.Word != "" && o.Cleared.Has(option) {
			wishes = append(wishes, o)
		}
	}
	out.Text = h.Text(option, core(h, wishes))
	return out
}

// whyMax is how many causes a reason names.
const whyMax = 3

// whyUnavailable lists why the options cannot be had, as far as it is known, in their
// order.
func (p *Pool) whyUnavailable(options bitset.Set) []string {
	var out []string
	unknown := false
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		switch why := p.Offer(p.Options[i]).Why; {
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

// soldOut counts the offers that would do as well as the option.
func (p *Pool) soldOut(option int, all []*Hurdle) string {
	same := p.every.Clone()
	for _, o := range all {
		if o.Rule != Unavailable && o.Cleared.Has(option) {
			same.And(o.Cleared)
		}
	}
	offer := p.Offer(p.Options[option])
	name := fmt.Sprintf("%s in %s, %s", p.name(option), offer.Zone, offer.Option)
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

// core returns a few of the wishes that leave nothing together with the
// hurdle; none if it leaves nothing by itself.
func core(h *Hurdle, wishes []*Hurdle) []*Hurdle {
	if h.Word == "" {
		return nil
	}
	for i := len(wishes) - 1; i >= 0; i-- {
		without := slices.Delete(slices.Clone(wishes), i, i+1)
		left := h.Cleared.Clone()
		for _, o := range without {
			left.And(o.Cleared)
		}
		if left.Next(0) < 0 {
			wishes = without
		}
	}
	return wishes
}

func (p *Pool) labelHurdle(r constraint.Requirement, w wishes) *Hurdle {
	out := &Hurdle{Rule: Label, Key: r.Key, Cleared: p.remembered(r), Word: WantWord(r)}
	if w.volume.Has(r.Key) {
		out.effort = effort[NoType] * efforts // the volume stays where it is
	}
	out.Text = func(option int, also []*Hurdle) string {
		if r.Set.Empty() && w.volume.Has(r.Key) {
			return "it wants " + WantWord(constraint.Requirement{Key: r.Key, Set: w.pod.Get(r.Key)}) + ", and" + w.blame(r.Key)[1:]
		}
		if len(also) > 0 {
			return together(append([]*Hurdle{out}, also...)) + ": without " + out.Word + ", " + p.name(option) + " would do" + w.blame(r.Key)
		}
		return "no type in the pool has " + out.Word + p.hint(r, w) + w.blame(r.Key)
	}
	return out
}

// askHurdle keeps off what is bought for those alone who ask for it.
func (p *Pool) askHurdle(s special) *Hurdle {
	cleared := p.every.Clone()
	for i := s.options.Next(0); i >= 0; i = s.options.Next(i + 1) {
		cleared.Remove(i)
	}
	return &Hurdle{Rule: Label, Key: s.unless.Key, Cleared: cleared,
		Text: plain("what the pool has otherwise is bought for pods alone that rule out " + s.unless.Key + "=" + s.unless.Value)}
}

// blame says that a wish is not the pod's but that of its volumes.
func (w wishes) blame(key string) string {
	if !w.volume.Has(key) {
		return ""
	}
	return "; its volume needs " + WantWord(constraint.Requirement{Key: key, Set: w.volume.Get(key)})
}

func (p *Pool) name(option int) string { return p.Kind(p.Options[option]).Name }

// where returns the options of the kinds that the function accepts.
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

// needs lists what machines must have for the pod beside labels: amounts, room
// for volumes, host ports, and that they can be had now.
func (p *Pool) needs(s *cluster.Shape) []Hurdle {
	var out []Hurdle
	for _, name := range s.Requests.Names() {
		if need := s.Requests.Get(name); need > 0 {
			out = append(out, p.amountHurdle(name, need))
		}
	}
	out = append(out, p.daemonHurdle())
	out = append(out, p.volumeHurdles(s)...)
	for _, port := range s.Ports {
		text := func(option int, _ []*Hurdle) string {
			return "host port " + portName(port) + " is taken by pods of " + p.portDaemon(port, p.Options[option].Kind)
		}
		out = append(out, Hurdle{Rule: NoType, Key: portName(port), Text: text, Word: "host port " + portName(port) + " free",
			Cleared: p.where(func(k int) bool { return !slices.ContainsFunc(p.Kinds[k].Ports, port.Conflicts) })})
	}
	if p.onSale == nil {
		p.onSale = p.Available()
	}
	return append(out, Hurdle{Rule: Unavailable, Cleared: p.onSale})
}

func plain(text string) func(int, []*Hurdle) string {
	return func(int, []*Hurdle) string { return text }
}

func portName(p cluster.Port) string {
	if p.Address != "" {
		return fmt.Sprintf("%s %s:%d", p.Protocol, p.Address, p.Number)
	}
	return fmt.Sprintf("%s %d", p.Protocol, p.Number)
}

func (p *Pool) amountHurdle(name string, need int64) Hurdle {
	byKind, largest := p.freeOf(name), int64(0)
	free := func(option int) int64 { return byKind[p.Options[option].Kind] }
	for i := range p.Options {
		largest = max(largest, free(i))
	}
	out := Hurdle{Rule: Resource, Key: name, most: largest, Word: name + " " + quantity.FormatAmount(name, need),
		Cleared: p.where(func(k int) bool { return byKind[k] >= need }),
		Short:   func(option int) (short, of int64) { return need - max(0, free(option)), need }}
	out.Text = func(option int, also []*Hurdle) string {
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

// daemonHurdle keeps off types that daemon pods alone are too much for.
func (p *Pool) daemonHurdle() Hurdle {
	if p.calm == nil {
		p.calm = p.where(func(k int) bool { return p.Kinds[k].Daemons.FitsIn(p.Kinds[k].Free.Add(p.Kinds[k].Daemons)) })
	}
	return Hurdle{Rule: NoType, Key: keyDaemons, Text: plain("daemon pods alone are too much for any type that would do"), Cleared: p.calm}
}

func (p *Pool) volumeHurdles(s *cluster.Shape) []Hurdle {
	var out []Hurdle
	for _, a := range Attached(s) {
		room := func(k int) int64 {
			for _, x := range p.kinds[k].Attachable {
				if x.Driver == a.Driver {
					return x.Count
				}
			}
			return a.Count
		}
		word := fmt.Sprintf("%d volumes of %s", a.Count, a.Driver)
		out = append(out, Hurdle{Rule: Resource, Key: a.Driver, Word: "room for " + word, Cleared: p.where(func(k int) bool { return room(k) >= a.Count }),
			Short: func(option int) (short, of int64) { return a.Count - room(p.Options[option].Kind), a.Count },
			Text: func(option int, _ []*Hurdle) string {
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
