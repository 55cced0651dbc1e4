package nodeclass

// MissingError says that a selector found nothing, or that what it names
// cannot be. It is an ordinary answer for the user, not a fault: Reason is a
// condition's reason in the API's words, Text names the selector and the way
// out. Letter is the message of the condition where alerts match one to the letter: Text
// is then said beside it.
type MissingError struct{ Reason, Text, Letter string }

func (e *MissingError) Error() string { return e.Text }

// NotYetError says that AWS does not know yet what was just made, which is
// usual for some seconds. Where it stays so, Reason and Text are for the user
// as those of a MissingError are.
type NotYetError struct{ Reason, Text string }

func (e *NotYetError) Error() string { return e.Text }

// The messages of conditions that alerts match to the letter.
const (
	NoSubnetMatches        = "SubnetSelector did not match any Subnets"
	NoSecurityGroupMatches = "SecurityGroupSelector did not match any SecurityGroups"
	NoAMIMatches           = "AMISelector did not match any AMIs"
)

// The reasons of a MissingError.
const (
	SubnetsNotFound        = "SubnetsNotFound"
	SecurityGroupsNotFound = "SecurityGroupsNotFound"
	AMINotFound            = "AMINotFound"
	UnsupportedAlias       = "UnsupportedAlias"
	AMIFamilyMismatch      = "AMIFamilyMismatch"
	RoleNotFound           = "InstanceProfileRoleNotFound"

	PlacementGroupNotFound         = "PlacementGroupNotFound"
	PlacementGroupResolutionFailed = "PlacementGroupResolutionFailed"
)
