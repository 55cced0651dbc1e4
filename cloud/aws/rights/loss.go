package rights

// Loss is what a missing right means.
type Loss struct {
	Without  string // what fails
	Optional bool   // the controller works on, less well
}

// Lacking is what it means that one action of the grant is missing.
func (g Grant) Lacking(action string) Loss {
	if of, is := losses[g.Sid+" "+action]; is {
		return of
	}
	return Loss{g.Without, g.Optional}
}

const (
	noStart      = "the controller does not start"
	notReady     = "EC2NodeClasses are not Ready, so no instance launches: "
	staysDeleted = ", and EC2NodeClasses stay in deletion"
)

// losses are those of single actions, by statement and action, where the statement's text is of others too.
var losses = map[string]Loss{
	"EndOwned ec2:DeleteLaunchTemplate": {"launch templates that are not used any more stay" + staysDeleted, true},

	"ChangeInstanceProfiles iam:AddRoleToInstanceProfile":      {"EC2NodeClasses that set a role are not Ready: InstanceProfileReady is false", false},
	"ChangeInstanceProfiles iam:RemoveRoleFromInstanceProfile": {"a changed spec.role is not followed: such an EC2NodeClass is not Ready. EC2NodeClasses that name a role stay in deletion", false},
	"ChangeInstanceProfiles iam:DeleteInstanceProfile":         {"instance profiles that are not used any more stay" + staysDeleted, true},

	"ReadInterruptionQueue sqs:DeleteMessage": {"messages that were acted on stay in the queue and are read again until they expire", true},

	"ReadEC2 ec2:DescribeInstanceTypes":         {noStart, false},
	"ReadEC2 ec2:DescribeInstanceTypeOfferings": {noStart, false},
	"ReadEC2 ec2:DescribeImages":                {notReady + "AMIsReady is not True", false},
	"ReadEC2 ec2:DescribeSubnets":               {notReady + "SubnetsReady is not True", false},
	"ReadEC2 ec2:DescribeSecurityGroups":        {notReady + "SecurityGroupsReady is not True", false},
	"ReadEC2 ec2:DescribeCapacityReservations":  {"EC2NodeClasses that select capacity reservations are not Ready: CapacityReservationsReady is not True", false},
	"ReadEC2 ec2:DescribePlacementGroups":       {"EC2NodeClasses that select a placement group are not Ready: PlacementGroupReady is not True", false},
	"ReadEC2 ec2:DescribeInstances":             {"instances that ended, drifted or have no NodeClaim are not found, and instances get no names", false},
	"ReadEC2 ec2:DescribeInstanceStatus":        {"instances with failed status checks are not replaced", true},
	"ReadEC2 ec2:DescribeLaunchTemplates":       {"launch templates that are not used any more stay", true},
	"ReadEC2 ec2:DescribeSpotPriceHistory":      {"spot prices of the release's built-in table hold", true},
}
