package place

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/topology"
)

// podClass is all shapes that differ in amounts and priority alone: the same rules
// hold for them.
type podClass struct {
	text          string                      // see RulesText
	shape         *cluster.Shape              // the first of them
	levels        []*level                    // by what has given way: nothing first, all preferences last
	byPreferences [NoPreferences + 1][]*level // for questions, see Ground: the levels by which preferences count
	ports         []cluster.Port
	shared        []cluster.Volume // volumes that several pods use
	groups        []*group         // of waiting pods, while homes are sought
	follows       bool             // pods may have to be near pods of other groups
	depth         int              // how many others, one after another, must come before its pods
}

// level is a pod class with some of its preferences given way and the others held
// like requirements.
type level struct {
	wants        *cluster.Shape // stands in for the shapes when places are judged, amounts aside
	rules        *topology.Rules
	strict       bool         // keeps off places with a taint that asks for it
	gone         []Preference // preferences that have given way
	allowed      []int8       // by target: 1 admitted, -1 not, 0 not asked yet
	offeringSets []*offeringSet
	asked        bool       // offering sets are known
	fixed        []int      // of the rules, in a question
	followers    []follower // see followersOf
	led          bool       // they are known
	crowd        int        // see crowdOf
}

// plain reports whether nothing but the place itself decides whether pods may
// be there: not other pods, ports or volumes.
func (k *podClass) plain(lv *level) bool {
	return (lv.rules == nil || lv.rules.Free()) && len(k.ports) == 0 && len(k.shared) == 0
}

// required is the level on which only requirements hold.
func (k *podClass) required() *level { return k.levels[len(k.levels)-1] }

// podClassOf returns the pod class of a shape.
func (r *run) podClassOf(s *cluster.Shape) *podClass {
	text := RulesText(s)
	k, known := r.podClasses[text]
	if !known {
		k = r.newPodClass(s)
		k.text = text
		r.podClasses[text] = k
	}
	return k
}

func (r *run) newPodClass(s *cluster.Shape) *podClass {
	k := &podClass{shape: s, ports: s.Ports}
	for _, v := range s.Volumes {
		if v.Claim != "" {
			k.shared = append(k.shared, v)
		}
	}
	preferences := r.counting(s)
	k.hold(r.newLevels(s, preferences))
	k.byPreferences[AllPreferences] = k.levels
	for which := NotOfHosts; r.options.asked && which <= NoPreferences; which++ {
		k.byPreferences[which] = k.levels
		if left := which.of(preferences); len(left) < len(preferences) {
			k.byPreferences[which] = r.newLevels(s, left)
		}
	}
	return k
}

// newLevels makes a level for each of the preferences that has given way, and one
// before that.
func (r *run) newLevels(s *cluster.Shape, preferences []Preference) []*level {
	out := make([]*level, len(preferences)+1)
	for gone := range out {
		out[gone] = r.newLevel(s, preferences[gone:])
		out[gone].gone = preferences[:gone]
	}
	return out
}

// hold makes these the levels of the pod class.
func (k *podClass) hold(levels []*level) {
	k.levels = levels
	k.follows = levels[0].rules != nil && levels[0].rules.Follows()
}

// avoidable reports whether some place asks pods of the shape to stay away.
func (r *run) avoidable(s *cluster.Shape) bool {
	return slices.ContainsFunc(r.avoided, func(taints []constraint.Taint) bool { return feasibility.Avoided(taints, s.Tolerations) })
}

// newLevel makes the preferences that are left hold like requirements. Of preferences
// for nodes only the heaviest that is left does.
func (r *run) newLevel(s *cluster.Shape, left []Preference) *level {
	stand := *s
	lv := &level{wants: &stand}
	rules := topology.Preference{Shape: s}
	for i := range s.Spread {
		if !s.Spread[i].Soft {
			rules.Spread = append(rules.Spread, s.Spread[i])
		}
	}
	for i := range s.Neighbours {
		if s.Neighbours[i].Weight == 0 {
			rules.Neighbours = append(rules.Neighbours, s.Neighbours[i])
		}
	}
	chosen := false
	for _, w := range left {
		switch {
		case w.neighbours != nil:
			rules.Neighbours = append(rules.Neighbours, *w.neighbours)
		case w.spread != nil:
			rules.Spread = append(rules.Spread, *w.spread)
		case w.avoid:
			lv.strict = true
		case !chosen:
			chosen = true
			stand.NodeTerms = feasibility.Cross(s.NodeTerms, []constraint.Requirements{w.term})
		}
	}
	lv.rules = r.board.Rules(rules)
	return lv
}

// RulesText is equal for two shapes exactly when they differ in amounts and
// priority alone.
func RulesText(s *cluster.Shape) string {
	var b strings.Builder
	b.WriteString(s.Namespace)
	b.WriteByte('|')
	b.WriteString(s.Unable)
	for _, l := range s.Labels {
		b.WriteByte('\x00')
		b.WriteString(l.Key)
		b.WriteByte('=')
		b.WriteString(l.Value)
	}
	for _, t := range s.Tolerations {
		fmt.Fprintf(&b, "|%q=%q%v%s", t.Key, t.Value, t.Exists, t.Effect)
	}
	for _, t := range s.NodeTerms {
		b.WriteString("|or " + t.String())
	}
	for _, t := range s.VolumeTerms {
		b.WriteString("|volume " + t.String())
	}
	for _, p := range s.Preferences {
		fmt.Fprintf(&b, "|prefer %d %s", p.Weight, p.Term)
	}
	for i := range s.Spread {
		x := &s.Spread[i]
		fmt.Fprintf(&b, "|spread %s %d %d %v%v%v ", x.Key, x.MaxSkew, x.MinDomains, x.Soft, x.IgnoreNodeTerms, x.HonourTaints)
		selectorText(&b, x.Selector)
	}
	for i := range s.Neighbours {
		x := &s.Neighbours[i]
		fmt.Fprintf(&b, "|neighbours %v%v %s %d %q%v ", x.Apart, x.Volume, x.Key, x.Weight, x.Namespaces, x.AllNamespaces)
		selectorText(&b, x.Selector)
	}
	for _, p := range s.Ports {
		fmt.Fprintf(&b, "|port %v", p)
	}
	for _, v := range s.Volumes {
		fmt.Fprintf(&b, "|attach %q %q %v", v.Driver, v.Claim, v.Exclusive)
	}
	return b.String()
}

func selectorText(b *strings.Builder, s cluster.Selector) {
	if s.Nothing {
		b.WriteString("nothing")
		return
	}
	b.WriteString(s.Requirements.String())
}
