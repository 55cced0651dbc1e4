package place

// evenOut sets on the board how many pods there are that spreads over hosts are to
// share out among new instances.
func (pr *provisioner) evenOut() {
	for _, g := range pr.groups {
		pr.mayEven = pr.mayEven || pr.board.MayEven(g.Level.Rules, g.Left())
		if pr.evenHosts {
			pr.board.Expect(g.Level.Rules, g.Left())
		}
	}
}
