package place

// evenOut sets on the board how many pods there are that spreads over hosts are to
// share out among new instances.
func (r *run) evenOut() {
	for _, g := range r.groups {
		r.out.EvenHosts = r.out.EvenHosts || r.board.MayEven(g.Level.Rules, g.Left())
		if r.options.EvenHosts {
			r.board.Expect(g.Level.Rules, g.Left())
		}
	}
}
