package topology

// OwnSpread is a spread of pods of their own class.
type OwnSpread struct {
	Key        int   // of the board
	MinDomains int32 // 0 where unset
	MaxSkew    int64
	tally      int
}

// OwnSpreads lists the spreads of the rules that count pods with these rules.
func (b *Board) OwnSpreads(r *Rules) []OwnSpread {
	var out []OwnSpread
	for _, s := range r.spreads {
		if s.self {
			out = append(out, OwnSpread{Key: b.tallies[s.tally].key, MinDomains: s.minDomains, MaxSkew: s.maxSkew, tally: s.tally})
		}
	}
	return out
}

// Looks reports whether the place makes its domain one of the spread's.
func (b *Board) Looks(s OwnSpread, place int) bool {
	f := b.filters[b.tallies[s.tally].filter]
	return place < len(f.at) && f.at[place]
}

// MostOnHost is how many of the spread's pods an instance that is yet to be launched may have, of a
// spread over hosts.
func (b *Board) MostOnHost(s OwnSpread) int64 {
	return b.mostOnHost(&spreadRule{tally: s.tally, maxSkew: s.MaxSkew, minDomains: s.MinDomains})
}

// CountOf is how many of the spread's pods the domain has by now.
func (b *Board) CountOf(s OwnSpread, domain int32) int64 {
	return int64(b.tallies[s.tally].count(domain))
}

// Whose is a text for the pods that the spread counts and for what it spreads
// them over: the same on every board, and for every plan of the same pods.
func (b *Board) Whose(s OwnSpread) string {
	t := &b.tallies[s.tally]
	return b.keys[t.key] + " " + t.who[0].text()
}
