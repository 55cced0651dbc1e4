package place

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/supply"
)

// clearly is how many times what all instances cost at another site those at a
// expensive one do. Where it is less, groups choose by one instance, and mostly the
// same site then: they share instances there, of which prices say nothing.
const clearly = 1.2

// looksMost is how many looks at pods or instances sites are priced with in one
// answer, a few hundredths of a second of one processor. Groups that come later
// choose by one instance.
const looksMost = 5_000_000

// sizesMost is how many different pods count by themselves when instances for all
// are priced. Where there are more, those of about the same size are alike.
const sizesMost = 64

// priceSites finds sites at which instances for all cost clearly more that go to
// one of them: as many pods of the group as may, and those that must be where
// these are. The instance that is cheapest for one of them does not say so. Groups
// that differ in nothing that counts are priced together, as the first of them.
// With offered set, instances count that limits forbid now.
func (p *priceBook) priceSites(g *demand.Group, lv *demand.Level, sites []*site, available bool) {
	if len(sites) < 2 || p.scheduler.asked != nil || p.looks > looksMost || lv.Rules.Spreads() || len(p.scheduler.board.Led(lv.Rules)) == 0 {
		return
	}
	p.looks += len(sites)
	open := slices.DeleteFunc(slices.Clone(sites), func(s *site) bool {
		return s.offeringSet == nil || p.scheduler.board.Room(lv.Rules, s.spot) <= 0
	})
	if len(open) < 2 {
		return
	}
	crowd := p.crowdOf(g, lv)
	own, following := p.togetherOf(g, lv, crowd)
	if own.n < 2 && len(following) == 0 {
		return
	}
	following = p.coarse(following)
	for _, s := range open {
		at := pricing{crowd, s.offeringSet}
		cost, known := p.sites[at]
		if !known {
			n := min(own.n, p.scheduler.board.Room(lv.Rules, s.spot))
			all := append([]several{{own.need, n, own.host}}, following...)
			p.looks += len(all) * len(s.targets)
			cost = p.costOfAll(p.forPods(g, s, available, n), s.unseated(all))
			p.sites[at] = cost
		}
		s.all = cost
	}
	p.recordExpensive(open)
}

// recordExpensive marks the sites at which instances for all cost clearly more than at
// another, if that would move anybody.
func (p *priceBook) recordExpensive(open []*site) {
	expensive := make([]bool, len(open))
	for i, s := range open {
		expensive[i] = slices.ContainsFunc(open, func(o *site) bool { return o.tier == s.tier && float64(clearly*o.all) < s.all })
	}
	for i, s := range open {
		p.expensive = p.expensive || expensive[i] && slices.ContainsFunc(open, func(o *site) bool {
			return !expensive[slices.Index(open, o)] && o.tier == s.tier && !o.before(s)
		})
	}
	for i, s := range open {
		s.expensive = expensive[i] && p.avoid
	}
}

// unseated returns those of the pods that have no room on what is there.
func (s *site) unseated(pods []several) []several {
	for _, target := range s.targets {
		free := slices.Clone(target.free)
		for i := range pods {
			p := &pods[i]
			n := min(p.n, p.host, amount.Count(free, p.need))
			amount.Take(free, p.need, n)
			p.n -= n
		}
	}
	return slices.DeleteFunc(pods, func(p several) bool { return p.n == 0 })
}

// pricing is for what instances in an offering set are priced.
type pricing struct {
	crowd       crowd
	offeringSet *demand.OfferingSet
}

// crowd is equal for groups that ask for the same, want the same of nodes, and are
// followed by the same pods.
type crowd struct {
	rules int // of the level, see run.book.crowdRules
	need  string
}

func (p *priceBook) crowdOf(g *demand.Group, lv *demand.Level) crowd {
	if lv.Crowd == 0 {
		kinds, caps := p.scheduler.board.OnHost(lv.Rules)
		text := fmt.Sprint(nodesText(lv), p.scheduler.board.Led(lv.Rules), kinds, caps)
		if p.crowdRules[text] == 0 {
			p.crowdRules[text] = len(p.crowdRules) + 1
		}
		lv.Crowd = p.crowdRules[text]
	}
	if g.NeedText == "" {
		g.NeedText = string(supply.AppendAmounts(nil, g.Need))
	}
	return crowd{lv.Crowd, g.NeedText}
}

// crowdsNow counts the pods of each crowd that wait when it is first asked for
// in a round.
func (p *priceBook) crowdsNow() map[crowd]int64 {
	if p.crowds == nil {
		p.crowds = map[crowd]int64{}
		for _, g := range p.scheduler.waiting {
			if n := g.Left(); n > 0 && !g.PodClass.Plain(g.PodClass.Required()) {
				for _, lv := range g.PodClass.Levels {
					if len(p.scheduler.board.Led(lv.Rules)) > 0 {
						p.crowds[p.crowdOf(g, lv)] += n
					}
				}
			}
		}
	}
	return p.crowds
}

// several is some pods of a group.
type several struct {
	need []int64 // of one
	n    int64
	host int64 // how many of them an instance takes at most
}

func (p *priceBook) several(g *demand.Group, lv *demand.Level, n int64) several {
	out := several{g.Need, n, math.MaxInt64}
	if len(g.PodClass.Ports) > 0 {
		out.host = 1
	}
	kinds, caps := p.scheduler.board.OnHost(lv.Rules)
	for _, c := range caps {
		if slices.Contains(kinds, c.Kind) {
			out.host = min(out.host, max(1, c.Most))
		}
	}
	return out
}

// togetherOf counts the pods of a crowd, and lists others that wait and must be
// where these are.
func (p *priceBook) togetherOf(g *demand.Group, lv *demand.Level, crowd crowd) (own several, following []several) {
	own = p.several(g, lv, p.crowdsNow()[crowd])
	for _, f := range p.scheduler.followersOf(lv) {
		p.looks += len(f.PodClass.Groups)
		for _, o := range f.PodClass.Groups {
			if n := o.Left(); n > 0 && len(f.Keys) > 0 && !p.isOf(o, crowd) {
				following = append(following, p.several(o, f.PodClass.Required(), n))
			}
		}
	}
	return own, following
}

// isOf reports whether a group counts among a crowd.
func (p *priceBook) isOf(g *demand.Group, crowd crowd) bool {
	return slices.ContainsFunc(g.PodClass.Levels, func(lv *demand.Level) bool {
		return len(p.scheduler.board.Led(lv.Rules)) > 0 && p.crowdOf(g, lv) == crowd
	})
}

// coarse makes one of pods that ask for the same or, where there are very many
// different ones, for about the same: then each asks for what they do on average.
func (p *priceBook) coarse(pods []several) []several {
	p.looks += joining * len(pods)
	exactly := joined(pods, func(v int64) int64 { return v })
	if len(exactly) <= sizesMost {
		return exactly
	}
	return joined(exactly, func(v int64) int64 { return int64(bits.Len64(uint64(max(0, v)))) })
}

// joining is about how many looks it takes to find which others are like a pod.
const joining = 20

// joined makes one of pods with the same measure of all that they ask for.
func joined(pods []several, measure func(int64) int64) []several {
	var out []several
	var text []byte
	at := map[string]int{}
	for _, p := range pods {
		text = binary.LittleEndian.AppendUint64(text[:0], uint64(p.host))
		for _, v := range p.need {
			text = binary.LittleEndian.AppendUint64(text, uint64(measure(v)))
		}
		i, known := at[string(text)]
		if !known {
			i = len(out)
			at[string(text)] = i
			out = append(out, several{need: make([]int64, len(p.need)), host: p.host})
		}
		out[i].n += p.n
		amount.Take(out[i].need, p.need, -p.n) // of all, until they are counted
	}
	for _, p := range out {
		for d, v := range p.need {
			p.need[d] = (v + p.n - 1) / p.n
		}
	}
	return out
}
