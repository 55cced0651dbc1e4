package fit

import (
	"fmt"
	"slices"

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
	Word    string                                  // as part of a list of wishes; empty if it is no wish of the pod
	effort  int
}

// alternativesMax is how many of a pod's alternatives are looked at for what
// would have to change.
const alternativesMax = 16

// Nearest returns the fewest and easiest changes by which one pod of the shape
// could have a new machine of the pool; none if it can have one as things are.
// Further hurdles, such as the pool's limits, may be added.
//
// Cost: the options times what the pod asks for.
func (p *Pool) Nearest(s *cluster.Shape, more ...Hurdle) Changes {
	out, _ := p.NearestOptions(s, more...)
	return out
}

// NearestOptions is Nearest that also returns the options which the pod could
// have after the changes, where that can be told.
func (p *Pool) NearestOptions(s *cluster.Shape, more ...Hurdle) (Changes, bitset.Set) {
	if s.Unable != "" {
		return Changes{NewChange(Unable, "", 0, s.Unable)}, nil
	}
	always := p.toTolerate(s)
	if p.NotReady != "" || p.Catalogue == nil {
		return append(Changes{NewChange(NotReady, "", 0, "pool is not ready: "+orElse(p.NotReady, "its class is not ready"))}, always...), nil
	}
	more = append(p.needs(s), more...)
	var best Changes
	var options bitset.Set
	for i, w := range wishesOf(s) {
		if c, after := p.nearestFor(w, more); i == 0 || c.Effort() < best.Effort() {
			best, options = c, after
		}
	}
	return append(always, best...), options
}

// AtLeast returns changes without which no machine of the pool will do whatever
// its type: a quick look before Nearest.
func (p *Pool) AtLeast(s *cluster.Shape) Changes { return p.toTolerate(s) }

func (p *Pool) toTolerate(s *cluster.Shape) (out Changes) {
	for _, t := range p.Taints {
		out = append(out, toTolerate(t, s.Tolerations)...)
	}
	return out
}

func toTolerate(t constraint.Taint, tolerations []constraint.Toleration) Changes {
	if _, found := constraint.Untolerated([]constraint.Taint{t}, tolerations); !found {
		return nil
	}
	out := NewChange(Taint, t.Key, 0, "tolerate "+t.String())
	out.Taint = t
	return Changes{out}
}

// wishes is one way in which a pod and its volumes may want nodes.
type wishes struct {
	all    constraint.Requirements
	pod    constraint.Requirements
	volume constraint.Requirements
}

func wishesOf(s *cluster.Shape) []wishes {
	var out []wishes
	for _, pod := range orAny(s.NodeTerms) {
		for _, volume := range orAny(s.VolumeTerms) {
			if out = append(out, wishes{pod.AndAll(volume), pod, volume}); len(out) == alternativesMax {
				return out
			}
		}
	}
	return out
}

func orAny(terms []constraint.Requirements) []constraint.Requirements {
	if len(terms) == 0 {
		return []constraint.Requirements{nil}
	}
	return terms
}

// nearestFor finds the option of which the hurdles that it does not clear are
// the easiest to remove.
func (p *Pool) nearestFor(w wishes, more []Hurdle) (out Changes, after bitset.Set) {
	if len(p.Options) == 0 && p.floorLeavesNone() {
		return Changes{NewChange(NoType, "", 0, "the pool's requirements and its floor on machine size ("+p.floorText()+") leave no machine type")}, nil
	}
	if len(p.Options) == 0 {
		return Changes{NewChange(NoType, "", 0, "the pool's requirements leave no machine type")}, nil
	}
	var hurdles []*Hurdle
	for _, r := range w.all {
		if p.Defines(r.Key) {
			hurdles = append(hurdles, p.labelHurdle(r, w))
		} else if why := p.custom(r); !why.OK() {
			c := NewChange(Label, r.Key, 0, why.Text+p.hint(r)+w.blame(r.Key))
			if r.Key == cluster.LabelHostname {
				c.effort *= 3
			}
			out = append(out, c)
		}
	}
	for _, s := range p.special {
		if w.all.Get(s.unless.Key).Allows(s.unless.Value) {
			hurdles = append(hurdles, p.askHurdle(s))
		}
	}
	for i := range more {
		hurdles = append(hurdles, &more[i])
	}
	best := p.easiest(hurdles)
	after = p.every.Clone()
	for _, h := range hurdles {
		if h.Cleared.Has(best) {
			after.And(h.Cleared)
			continue
		}
		h.lowerFor(best, after)
		out = append(out, p.removal(h, best, hurdles))
	}
	return withoutRepeats(out), after
}

// lowerFor keeps what clears the hurdle once it is as low as the option needs.
func (h *Hurdle) lowerFor(option int, list bitset.Set) {
	if h.Short == nil {
		return
	}
	most, _ := h.Short(option)
	for i := list.Next(0); i >= 0; i = list.Next(i + 1) {
		if short, _ := h.Short(i); short > most {
			list.Remove(i)
		}
	}
}

// withoutRepeats leaves out that daemon pods are too much for a type where an
// amount that they leave none of is named already.
func withoutRepeats(list Changes) Changes {
	return slices.DeleteFunc(list, func(c Change) bool {
		return c.Rule == NoType && c.Key == keyDaemons && slices.ContainsFunc(list, func(o Change) bool { return o.Rule == Resource })
	})
}

// keyDaemons marks the hurdle that daemon pods are by themselves.
const keyDaemons = "daemons"

// easiest returns the option whose hurdles are the lowest together. Mostly a
// single one is in the way, which is found without a look at each option.
func (p *Pool) easiest(hurdles []*Hurdle) int {
	best, least := p.easiestButOne(hurdles)
	if best >= 0 && least <= twoLowest(hurdles) {
		return best
	}
	for i := range p.Options {
		sum := 0
		for _, h := range hurdles {
			if !h.Cleared.Has(i) {
				if sum += h.base(); best >= 0 && sum >= least {
					break
				}
			}
		}
		if best >= 0 && sum >= least {
			continue
		}
		if sum = total(hurdles, i); best < 0 || sum < least {
			best, least = i, sum
		}
	}
	return best
}

// easiestButOne returns the option with a single hurdle, or none at all, that
// is the lowest; -1 where every option has several.
func (p *Pool) easiestButOne(hurdles []*Hurdle) (best, least int) {
	best = -1
	after := make([]bitset.Set, len(hurdles)+1) // what clears the hurdles from here on
	after[len(hurdles)] = p.every
	for i := len(hurdles) - 1; i >= 0; i-- {
		after[i] = after[i+1].Clone()
		after[i].And(hurdles[i].Cleared)
	}
	if first := after[0].Next(0); first >= 0 {
		return first, 0
	}
	before := p.every.Clone()
	for k, h := range hurdles {
		others := before.Clone()
		others.And(after[k+1])
		for i := others.Next(0); i >= 0; i = others.Next(i + 1) {
			if height := h.height(i); best < 0 || height < least || height == least && i < best {
				best, least = i, height
			}
			if h.Short == nil {
				break
			}
		}
		before.And(h.Cleared)
	}
	return best, least
}

// twoLowest is the least that two hurdles can be together.
func twoLowest(hurdles []*Hurdle) int {
	low, next := 1<<30, 1<<30
	for _, h := range hurdles {
		switch e := h.base(); {
		case e < low:
			low, next = e, low
		case e < next:
			next = e
		}
	}
	return low + next
}

func total(hurdles []*Hurdle, option int) (sum int) {
	for _, h := range hurdles {
		if !h.Cleared.Has(option) {
			sum += h.height(option)
		}
	}
	return sum
}

// base is how high the hurdle is at least.
func (h *Hurdle) base() int {
	if h.effort == 0 {
		h.effort = effort[h.Rule] * efforts
	}
	return h.effort
}

// height is how hard it is to take the hurdle away from before an option.
func (h *Hurdle) height(option int) int {
	out := h.base()
	if h.Short != nil {
		if short, of := h.Short(option); of > 0 {
			out += int(float64(efforts-1) * min(1, float64(short)/float64(of)))
		}
	}
	return out
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
	if offer.Why != "" {
		return fmt.Sprintf("%s, would do and cannot be bought: %s", name, offer.Why)
	}
	if n := same.Count(); n > 1 {
		return fmt.Sprintf("all %d offers that would do are sold out now, such as %s: it is tried again", n, name)
	}
	return "the only offer that would do is sold out now, " + name + ": it is tried again"
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
		return "no type in the pool has " + out.Word + p.hint(r) + w.blame(r.Key)
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
		text := "host port " + portName(port) + " is taken by daemon pods"
		out = append(out, Hurdle{Rule: NoType, Key: portName(port), Text: plain(text), Word: "host port " + portName(port) + " free",
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
	byKind := p.freeOf(name)
	free := func(option int) int64 { return byKind[p.Options[option].Kind] }
	out := Hurdle{Rule: Resource, Key: name, Word: name + " " + quantity.FormatAmount(name, need),
		Cleared: p.where(func(k int) bool { return byKind[k] >= need }),
		Short:   func(option int) (short, of int64) { return need - max(0, free(option)), need }}
	out.Text = func(option int, also []*Hurdle) string {
		most := max(0, free(option))
		if len(also) > 0 {
			return together(append(slices.Clone(also), &out)) + ": with " + name + " " + quantity.FormatAmount(name, most) + ", " + p.name(option) + " would do"
		}
		if most == 0 && p.capacity(name) > 0 {
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
