package scheduling

import (
	"encoding/binary"
	"slices"

	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// Asked is what a question about removal has besides a plan: what was known of targets before, and what is found
// while it is answered.
type Asked struct {
	LaunchNone bool          // no instance may be launched
	Why        bool          // the answer gives reasons, so that the search is not ended early
	Known      *KnownTargets // of the nodes and the instances being launched
	Kept       Touched       // targets that something was placed on, as they were
	Launches   bool          // an instance would have been launched, and none may be
	Lost       *demand.Group // the search ended because pods of this group find no place; nil: it did not
}

// Offers reports whether instances may be launched at all.
func (p *Places) Offers() bool { return p.Asked == nil || !p.Asked.LaunchNone }

// Keep records what a target has before something is placed on it.
func (p *Places) Keep(s *Target) {
	if p.Asked != nil && s.At < p.FirstLaunch {
		p.Asked.Kept.Touch(s)
	}
}

// roomy returns the position of the next target that may have room, from this one on.
func (p *Places) roomy(at int, need []int64) int {
	if p.Asked == nil {
		return at
	}
	return p.Asked.Known.Gaps.Next(at, len(p.Targets), need)
}

// giveUpOn ends the search: pods of the group find no place, whatever happens to the others. If reasons are asked
// for, the search goes on, because they are given for all pods.
func (p *Places) giveUpOn(g *demand.Group) {
	if !p.Asked.Why && !p.Effort.Known {
		p.Effort.Known, p.Asked.Lost = true, g
	}
}

// wouldLaunch records that a plan would launch an instance for pods of the group. Where none may be launched, the
// answer is no, whatever room there is elsewhere: as soon as the pods wait, an instance is launched for them, and
// the nodes are removed for nothing.
func (p *Places) wouldLaunch(g *demand.Group) {
	p.Asked.Launches = true
	p.giveUpOn(g)
}

// KnownTargets is what is free on targets before a question, for all of them and by domain.
type KnownTargets struct {
	Gaps     *Gaps
	ByDomain map[string][]*DomainTargets
	Board    *topology.Board // with all running pods
}

// DomainTargets is the targets that are in the same domains of some keys.
type DomainTargets struct {
	targets []*Target
	gaps    *Gaps
}

// domainTargetsFor makes sites of the domains in which pods of the group have room, and
// returns the targets that are in none of them.
func (sc *Scheduler) domainTargetsFor(g *demand.Group, lv *demand.Level, find func(topology.Spot) *site) []*Target {
	if sc.Values.Counted && sc.Board.Astray(lv.Rules, sc.Index.nowhere()) {
		return sc.Targets
	}
	type start struct {
		*DomainTargets
		at int
	}
	var open []start
	for _, d := range sc.Asked.Known.by(lv.Rules.Fixed(), sc.Targets[:sc.FirstLaunch]) {
		for at := d.gaps.Next(0, len(d.targets), g.Need); at < len(d.targets); at = d.gaps.Next(at+1, len(d.targets), g.Need) {
			s := d.targets[at]
			if n, _ := s.Guests.Within(sc.Dims, s.Free, g); n > 0 && s.Admitted(lv, len(sc.Targets)) {
				open = append(open, start{d, at})
				break
			}
		}
	}
	slices.SortFunc(open, func(a, b start) int { return a.targets[a.at].At - b.targets[b.at].At })
	for _, d := range open {
		s := find(sc.spotOf(d.targets[d.at]))
		s.targets, s.roomy, s.cursor = slices.Clip(d.targets), d.gaps, d.at
	}
	return sc.Targets[sc.FirstLaunch:]
}

// by divides the targets by the domains of the keys that they are in.
func (k *KnownTargets) by(keys []int, targets []*Target) []*DomainTargets {
	var text []byte
	for _, key := range keys {
		text = binary.LittleEndian.AppendUint32(text, uint32(key))
	}
	out, known := k.ByDomain[string(text)]
	if known {
		return out
	}
	all := string(text)
	at := map[string]*DomainTargets{}
	for _, s := range targets {
		if s.ShutForGood {
			continue
		}
		text = text[:0]
		if len(keys) > 0 {
			text = appendSpot(text, keys, k.Board.Spot(s.Place))
		}
		d := at[string(text)]
		if d == nil {
			d = &DomainTargets{gaps: &Gaps{Dims: k.Gaps.Dims}}
			at[string(text)] = d
			out = append(out, d)
		}
		d.targets = append(d.targets, s)
		d.gaps.Add(k.Gaps.of(s.At))
	}
	k.ByDomain[all] = out
	return out
}

// Touched holds targets as they were before something was placed on them.
type Touched map[*Target]Target

// Touch keeps what a target has now, the first time.
func (t *Touched) Touch(s *Target) {
	if _, known := (*t)[s]; known {
		return
	}
	if *t == nil {
		*t = Touched{}
	}
	kept := *s
	kept.Free = slices.Clone(s.Free)
	kept.Guests.Ports, kept.Guests.Claims = slices.Clone(s.Guests.Ports), slices.Clone(s.Guests.Claims)
	(*t)[s] = kept
}

// GiveBack makes the targets what they were.
func (t *Touched) GiveBack() {
	for s, kept := range *t {
		*s = kept
	}
}

// Unplaced lists the pods because of which the search ended.
func (a *Asked) Unplaced() []plan.Unplaced {
	u := plan.Unplaced{Shape: a.Lost.Shape}
	for _, w := range a.Lost.Pods[a.Lost.Placed:] {
		u.Pods = append(u.Pods, *w.Pod)
	}
	return []plan.Unplaced{u}
}
