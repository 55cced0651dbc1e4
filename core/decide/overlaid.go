package decide

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/plan"
)

// nameOverlays notes on launches which NodeOverlays set their price, and resources that they are to have.
func nameOverlays(s *cluster.Snapshot, p *plan.Plan) {
	if len(s.Overlays) == 0 {
		return
	}
	p.Launches = withOverlays(s, p.Launches)
	for i := range p.Moves {
		p.Moves[i].Launches = withOverlays(s, p.Moves[i].Launches)
	}
}

func withOverlays(s *cluster.Snapshot, launches []plan.Launch) []plan.Launch {
	out := slices.Clone(launches)
	for i := range out {
		l := &out[i]
		pool, known := s.Pool(l.Pool)
		if !known || pool.Catalogue == nil {
			continue
		}
		k, o := pool.Catalogue.InstanceType(l.Choice.Kind), l.Offering(pool.Catalogue)
		if k == nil || o == nil {
			continue
		}
		l.Overlays, l.Notes = nil, slices.Clone(l.Notes)
		say := func(name, what string) {
			if !slices.Contains(l.Overlays, name) {
				l.Overlays = append(l.Overlays, name)
			}
			if text := "NodeOverlay " + name + " sets its " + what; !slices.Contains(l.Notes, text) {
				l.Notes = append(l.Notes, text)
			}
		}
		if by := overlay.PriceBy(s, o.Labels, k.Labels, pool.Labels); by != nil && o.Priced {
			say(by.Name, "price")
		}
		resources := map[string][]string{}
		for _, x := range overlay.CapacityBy(s, pool, k) {
			resources[x.By] = append(resources[x.By], x.Name)
		}
		for j := range s.Overlays {
			if set := resources[s.Overlays[j].Name]; len(set) > 0 {
				say(s.Overlays[j].Name, strings.Join(set, ", "))
			}
		}
	}
	return out
}
