package place

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/topology"
)

// podClasses knows the classes of pods whose rules are the same.
type podClasses struct {
	board   *topology.Board // on which rules are declared
	options *Options
	avoided [][]constraint.Taint // of pools and nodes that ask pods to stay away
	known   map[string]*demand.PodClass
}

// of returns the pod class of a shape.
func (c *podClasses) of(s *cluster.Shape) *demand.PodClass {
	text := demand.RulesText(s)
	k, known := c.known[text]
	if !known {
		k = c.newPodClass(s)
		k.Text = text
		c.known[text] = k
	}
	return k
}

func (c *podClasses) newPodClass(s *cluster.Shape) *demand.PodClass {
	k := &demand.PodClass{Shape: s, Ports: s.Ports}
	for _, v := range s.Volumes {
		if v.Claim != "" {
			k.Shared = append(k.Shared, v)
		}
	}
	preferences := c.counting(s)
	k.Hold(c.newLevels(s, preferences))
	k.ByPreferences[demand.AllPreferences] = k.Levels
	for which := demand.NotOfHosts; c.options.Questions && which <= demand.NoPreferences; which++ {
		k.ByPreferences[which] = k.Levels
		if left := which.Of(preferences); len(left) < len(preferences) {
			k.ByPreferences[which] = c.newLevels(s, left)
		}
	}
	return k
}

// newLevels makes a level with all preferences, and one more for each preference that is dropped after that.
func (c *podClasses) newLevels(s *cluster.Shape, preferences []demand.Preference) []*demand.Level {
	out := make([]*demand.Level, len(preferences)+1)
	for gone := range out {
		out[gone] = c.newLevel(s, preferences[gone:])
		out[gone].Gone = preferences[:gone]
	}
	return out
}

// avoidable reports whether some pool asks pods of the shape to stay away.
func (c *podClasses) avoidable(s *cluster.Shape) bool {
	return slices.ContainsFunc(c.avoided, func(taints []constraint.Taint) bool { return feasibility.Avoided(taints, s.Tolerations) })
}

// newLevel makes a level on which the preferences that are left hold like requirements; of those for nodes, only the
// heaviest.
func (c *podClasses) newLevel(s *cluster.Shape, left []demand.Preference) *demand.Level {
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
	lv.Rules = c.board.Rules(rules)
	return lv
}

// counting lists the preferences that count.
func (c *podClasses) counting(s *cluster.Shape) []demand.Preference {
	out := c.options.Preferences.For(s).Of(demand.PreferencesOf(s))
	if c.avoidable(s) {
		out = append(out, demand.Preference{Avoid: true})
	}
	return out
}
