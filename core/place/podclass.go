package place

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/topology"
)

// podClassOf returns the pod class of a shape.
func (r *run) podClassOf(s *cluster.Shape) *demand.PodClass {
	text := demand.RulesText(s)
	k, known := r.podClasses[text]
	if !known {
		k = r.newPodClass(s)
		k.Text = text
		r.podClasses[text] = k
	}
	return k
}

func (r *run) newPodClass(s *cluster.Shape) *demand.PodClass {
	k := &demand.PodClass{Shape: s, Ports: s.Ports}
	for _, v := range s.Volumes {
		if v.Claim != "" {
			k.Shared = append(k.Shared, v)
		}
	}
	preferences := r.counting(s)
	k.Hold(r.newLevels(s, preferences))
	k.ByPreferences[demand.AllPreferences] = k.Levels
	for which := demand.NotOfHosts; r.options.asked && which <= demand.NoPreferences; which++ {
		k.ByPreferences[which] = k.Levels
		if left := which.Of(preferences); len(left) < len(preferences) {
			k.ByPreferences[which] = r.newLevels(s, left)
		}
	}
	return k
}

// newLevels makes a level for each of the preferences that has given way, and one
// before that.
func (r *run) newLevels(s *cluster.Shape, preferences []demand.Preference) []*demand.Level {
	out := make([]*demand.Level, len(preferences)+1)
	for gone := range out {
		out[gone] = r.newLevel(s, preferences[gone:])
		out[gone].Gone = preferences[:gone]
	}
	return out
}

// avoidable reports whether some place asks pods of the shape to stay away.
func (r *run) avoidable(s *cluster.Shape) bool {
	return slices.ContainsFunc(r.avoided, func(taints []constraint.Taint) bool { return feasibility.Avoided(taints, s.Tolerations) })
}

// newLevel makes the preferences that are left hold like requirements. Of preferences
// for nodes only the heaviest that is left does.
func (r *run) newLevel(s *cluster.Shape, left []demand.Preference) *demand.Level {
	stand := *s
	lv := &demand.Level{Wants: &stand}
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
		case w.Neighbours != nil:
			rules.Neighbours = append(rules.Neighbours, *w.Neighbours)
		case w.Spread != nil:
			rules.Spread = append(rules.Spread, *w.Spread)
		case w.Avoid:
			lv.Strict = true
		case !chosen:
			chosen = true
			stand.NodeTerms = feasibility.Cross(s.NodeTerms, []constraint.Requirements{w.Term})
		}
	}
	lv.Rules = r.Board.Rules(rules)
	return lv
}

// counting lists the preferences that count.
func (r *run) counting(s *cluster.Shape) []demand.Preference {
	out := demand.PreferencesOf(s)
	if r.options.Preferences != nil {
		out = r.options.Preferences(s).Of(out)
	}
	if r.avoidable(s) {
		out = append(out, demand.Preference{Avoid: true})
	}
	return out
}
