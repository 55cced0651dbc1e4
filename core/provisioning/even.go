package provisioning

// evenOut sets on the board how many pods there are that spreads over hosts are to
// share out among new instances.
func (pr *Provisioner) evenOut() {
	for _, g := range pr.Groups {
		pr.MayEven = pr.MayEven || pr.Board.MayEven(g.Level.Rules, g.Left())
		if pr.EvenHosts {
			pr.Board.Expect(g.Level.Rules, g.Left())
		}
	}
}
