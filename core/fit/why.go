package fit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// OnNew tells whether one pod of the shape may run alone on a new machine of
// the pool, limits aside. Where no machine type will do it names the single
// wish that rules all of them out or, if there is none, all wishes together.
func (p *Pool) OnNew(s *cluster.Shape) Reason {
	terms, why := p.Terms(s)
	if !why.OK() {
		return why
	}
	for _, t := range terms {
		r := p.roomIn(t, s)
		if r.OK() {
			return r
		}
		if why.OK() {
			why = r
		}
	}
	return why
}

// roomIn finds an available option of the term that has room for the shape.
func (p *Pool) roomIn(t Term, s *cluster.Shape) Reason {
	fitting := 0
	for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
		o := p.Options[i]
		if !s.Requests.FitsIn(p.Kinds[o.Kind].Free) {
			continue
		}
		if p.Offer(o).Available {
			return Reason{}
		}
		fitting++
	}
	if fitting > 0 {
		return Reason{Unavailable, "", fmt.Sprintf("all %d offers that would do are sold out", fitting)}
	}
	return p.tooBig(t, s)
}

// tooBig explains why no option of the term has room for the shape.
func (p *Pool) tooBig(t Term, s *cluster.Shape) Reason {
	for _, name := range s.Requests.Names() {
		if name == quantity.NamePods && s.Requests.Pods == 1 {
			continue
		}
		need, most := s.Requests.Get(name), p.most(p.every, name)
		if need > most && most <= 0 && p.capacity(name) > 0 {
			return Reason{NoType, name, "daemon pods leave no " + name + " on any type"}
		}
		if need > most {
			return Reason{NoType, name, lacks(name, need, max(most, 0))}
		}
	}
	for _, name := range s.Requests.Names() {
		need, most := s.Requests.Get(name), p.most(t.Options, name)
		if need > most {
			return Reason{NoType, name, "among types with " + p.phrase(t.Requirements) + ", " + lacks(name, need, max(most, 0))}
		}
	}
	words := append(p.wishes(t.Requirements), amounts(s.Requests)...)
	return Reason{NoType, "", "no type has " + join(words) + " together"}
}

func lacks(name string, need, most int64) string {
	if most == 0 {
		return "no type has " + name
	}
	return fmt.Sprintf("no type has room for %s %s (most: %s)", name, Amount(name, need), Amount(name, most))
}

func (p *Pool) most(set bitset.Set, name string) int64 {
	var most int64
	for i := set.Next(0); i >= 0; i = set.Next(i + 1) {
		most = max(most, p.Kinds[p.Options[i].Kind].Free.Get(name))
	}
	return most
}

// capacity is the most that any option has of a resource, daemon pods aside.
func (p *Pool) capacity(name string) int64 {
	var most int64
	for _, o := range p.Options {
		most = max(most, p.Kind(o).Allocatable.Get(name))
	}
	return most
}

// noOption explains why no option has labels that meet all wishes at once.
func (p *Pool) noOption(want constraint.Requirements) Reason {
	if len(p.Options) == 0 {
		return Reason{NoType, "", "the pool's requirements leave no machine type"}
	}
	for _, r := range want {
		if p.Defines(r.Key) && p.Matching(r).Next(0) < 0 {
			return Reason{NoType, r.Key, "no type in the pool has " + r.Key + " " + r.Set.String()}
		}
	}
	return Reason{NoType, "", "no type in the pool has " + p.phrase(want) + " together"}
}

func (p *Pool) phrase(want constraint.Requirements) string {
	words := p.wishes(want)
	if len(words) == 0 {
		return "room left by the pool's requirements"
	}
	return join(words)
}

// wishes lists what the pod asks of kinds and offers.
func (p *Pool) wishes(want constraint.Requirements) []string {
	var words []string
	for _, r := range want {
		if p.Defines(r.Key) {
			words = append(words, r.Key+" "+r.Set.String())
		}
	}
	return words
}

func amounts(r quantity.Resources) []string {
	var words []string
	for _, name := range r.Names() {
		if name != quantity.NamePods {
			words = append(words, name+" "+Amount(name, r.Get(name)))
		}
	}
	return words
}

func join(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// nearKey finds a key that the user probably meant: one that differs in two
// letters at most, or of which the given key is the last part.
func (p *Pool) nearKey(key string) (string, bool) {
	known := slices.Clone(p.defined)
	for _, l := range p.Labels {
		known = append(known, l.Key)
	}
	for _, r := range p.Requirements {
		known = append(known, r.Key)
	}
	slices.Sort(known)
	for _, k := range known {
		if strings.HasSuffix(k, "/"+key) || distance(k, key) <= 2 {
			return k, true
		}
	}
	return "", false
}

// distance counts the letters to insert, delete or change to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
