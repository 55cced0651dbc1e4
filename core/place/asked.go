package place

import (
	"encoding/binary"
	"slices"

	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/topology"
)

// asked is what a question has beside a plan: what is known of targets before, and what is found on the way.
type asked struct {
	launchNone bool          // no instance may be launched
	why        bool          // the answer gives reasons, so that the search goes on to its end
	known      *knownTargets // of the nodes and the instances on order
	kept       touched       // targets that something was placed on, as they were
	launches   bool          // an instance would be launched, and none may be
	lost       *demand.Group // because of pods of this group, if not nil
}

// offers reports whether instances may be launched at all.
func (p *places) offers() bool { return p.asked == nil || !p.asked.launchNone }

// keep notes what a target has before something is placed on it.
func (p *places) keep(s *target) {
	if p.asked != nil && s.at < p.firstLaunch {
		p.asked.kept.touch(s)
	}
}

// roomy returns the next target from the position on that may have room.
func (p *places) roomy(at int, need []int64) int {
	if p.asked == nil {
		return at
	}
	return p.asked.known.gaps.next(at, len(p.targets), need)
}

// giveUpOn ends the search: pods of the group find no place whatever happens to
// the others. Reasons are of all pods, so that it goes on for them.
func (p *places) giveUpOn(g *demand.Group) {
	if !p.asked.why && !p.effort.Known {
		p.effort.Known, p.asked.lost = true, g
	}
}

// wouldLaunch notes that Place would launch for pods of the group. Where nothing may be
// launched that is a no, whatever room there is elsewhere: as soon as the pods wait
// they are launched for, and the nodes were let go for nothing.
func (p *places) wouldLaunch(g *demand.Group) {
	p.asked.launches = true
	p.giveUpOn(g)
}

// knownTargets is what is free on targets before a question, in all and by domains.
type knownTargets struct {
	gaps     *gaps
	byDomain map[string][]*domainTargets
	board    *topology.Board // with all pods that run
}

// domainTargets is targets that are in the same domains of some keys.
type domainTargets struct {
	targets []*target
	gaps    *gaps
}

// domainTargetsFor makes sites of the domains in which pods of the group have room, and
// returns the targets that are in none of them.
func (sc *scheduler) domainTargetsFor(g *demand.Group, lv *demand.Level, find func(topology.Spot) *site) []*target {
	if sc.values.Counted && sc.board.Astray(lv.Rules, sc.index.nowhere()) {
		return sc.targets
	}
	type start struct {
		*domainTargets
		at int
	}
	var open []start
	for _, d := range sc.asked.known.by(lv.Rules.Fixed(), sc.targets[:sc.firstLaunch]) {
		for at := d.gaps.next(0, len(d.targets), g.Need); at < len(d.targets); at = d.gaps.next(at+1, len(d.targets), g.Need) {
			s := d.targets[at]
			if n, _ := s.guests.Within(sc.dims, s.free, g); n > 0 && s.admitted(lv, len(sc.targets)) {
				open = append(open, start{d, at})
				break
			}
		}
	}
	slices.SortFunc(open, func(a, b start) int { return a.targets[a.at].at - b.targets[b.at].at })
	for _, d := range open {
		s := find(sc.spotOf(d.targets[d.at]))
		s.targets, s.roomy, s.cursor = slices.Clip(d.targets), d.gaps, d.at
	}
	return sc.targets[sc.firstLaunch:]
}

// by parts the targets by the domains of the keys that they are in.
func (k *knownTargets) by(keys []int, targets []*target) []*domainTargets {
	var text []byte
	for _, key := range keys {
		text = binary.LittleEndian.AppendUint32(text, uint32(key))
	}
	out, known := k.byDomain[string(text)]
	if known {
		return out
	}
	all := string(text)
	at := map[string]*domainTargets{}
	for _, s := range targets {
		if s.shutForGood {
			continue
		}
		text = text[:0]
		if len(keys) > 0 {
			text = appendSpot(text, keys, k.board.Spot(s.place))
		}
		d := at[string(text)]
		if d == nil {
			d = &domainTargets{gaps: &gaps{dims: k.gaps.dims}}
			at[string(text)] = d
			out = append(out, d)
		}
		d.targets = append(d.targets, s)
		d.gaps.add(k.gaps.of(s.at))
	}
	k.byDomain[all] = out
	return out
}

// touched is targets as they were before something was placed on them.
type touched map[*target]target

// touch keeps what a target has.
func (t *touched) touch(s *target) {
	if _, known := (*t)[s]; known {
		return
	}
	if *t == nil {
		*t = touched{}
	}
	kept := *s
	kept.free = slices.Clone(s.free)
	kept.guests.Ports, kept.guests.Claims = slices.Clone(s.guests.Ports), slices.Clone(s.guests.Claims)
	(*t)[s] = kept
}

// giveBack makes the targets what they were.
func (t *touched) giveBack() {
	for s, kept := range *t {
		*s = kept
	}
}
