package topology

import "github.com/daemok/daemok/core/cluster"

// Cap keeps a pod off a host on which enough pods of a class are: it may join while there
// are fewer than Most.
type Cap struct {
	Kind int
	Most int64
}

// OnHost gives the rules about hosts as numbers, for new instances: the classes that pods with
// these rules are counted as, and what they may join. Classes are numbers below Kinds. What pods
// need near them is not included.
func (b *Board) OnHost(r *Rules) (kinds []int, caps []Cap) {
	host, known := b.keyAt[cluster.LabelHostname]
	if !known {
		return nil, nil
	}
	for i := range r.spreads {
		if s := &r.spreads[i]; b.tallies[s.tally].key == host {
			most := b.mostOnHost(s)
			if !s.self {
				most++
			}
			caps = append(caps, Cap{s.tally, most})
		}
	}
	for _, a := range r.apart {
		if b.tallies[a.tally].key == host {
			caps = append(caps, Cap{a.tally, 1})
		}
	}
	for _, t := range r.keptOff {
		if b.tallies[t].key == host {
			caps = append(caps, Cap{t, 1})
		}
	}
	return r.perHost, caps
}

// Kinds is how many numbers OnHost may use.
func (b *Board) Kinds() int { return len(b.tallies) }
