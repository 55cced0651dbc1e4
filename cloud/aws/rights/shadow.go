package rights

import "slices"

// shadowed are the actions that shadow mode calls. All of them read.
var shadowed = []string{
	"arc-zonal-shift:GetManagedResource",
	"ec2:DescribeCapacityReservations", "ec2:DescribeImages", "ec2:DescribeInstances", "ec2:DescribeInstanceTypeOfferings", "ec2:DescribeInstanceTypes",
	"ec2:DescribePlacementGroups", "ec2:DescribeReservedInstances", "ec2:DescribeSecurityGroups",
	"ec2:DescribeSpotPriceHistory", "ec2:DescribeSubnets",
	"eks:DescribeCluster", "pricing:GetProducts", "savingsplans:DescribeSavingsPlanRates", "savingsplans:DescribeSavingsPlans",
	"servicequotas:ListServiceQuotas", "ssm:GetParameter",
}

// Shadow are the rights that a controller in shadow mode needs, which are some of those of Parts: to read. They are
// one part, and fit into one managed policy.
func Shadow(s Scope) []Part {
	out := Part{Name: "Shadow"}
	for _, p := range Parts(s) {
		for _, g := range p.Grants {
			g.Actions = slices.DeleteFunc(slices.Clone(g.Actions),
				func(action string) bool { return !slices.Contains(shadowed, action) })
			if len(g.Actions) > 0 {
				out.Grants = append(out.Grants, g)
			}
		}
	}
	return []Part{out}
}
