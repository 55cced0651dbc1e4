package place

// evenOut sets on the board how many pods there are that spreads over hosts are to
// share out among new instances.
func (r *run) evenOut() {
	for _, g := range r.groups {
		r.out.EvenHosts = r.out.EvenHosts || r.board.MayEven(g.level.rules, g.left())
		if r.options.EvenHosts {
			r.board.Expect(g.level.rules, g.left())
		}
	}
}
