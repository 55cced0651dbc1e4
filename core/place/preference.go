package place

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
)

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
