package demand

import "github.com/daemok/daemok/core/cluster"

// Counting says which preferences count of pods, by their rules. In the zero value, all of all pods do.
type Counting struct {
	Usual Preferences            // of pods that are not listed
	Of    map[string]Preferences // by RulesText
}

// For returns which preferences of pods of the shape count.
func (c Counting) For(s *cluster.Shape) Preferences {
	if len(c.Of) == 0 {
		return c.Usual
	}
	if which, listed := c.Of[RulesText(s)]; listed {
		return which
	}
	return c.Usual
}

// All reports whether all preferences of all pods count.
func (c Counting) All() bool { return c.Usual == AllPreferences && len(c.Of) == 0 }
