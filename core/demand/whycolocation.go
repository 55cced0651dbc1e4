package demand

// Others names the co-located set less one pod of the group.
func (c *Colocation) Others(g *Group) []string {
	var names []string
	for _, m := range c.Parts {
		n := m.N
		if m.Group.Of == g {
			n--
		}
		for i := range n {
			names = append(names, m.Group.Pods[i].Namespace+"/"+m.Group.Pods[i].Name)
		}
	}
	return names
}
