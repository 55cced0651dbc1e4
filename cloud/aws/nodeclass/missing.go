package nodeclass

// MissingError says that a selector found nothing, or that what it names
// cannot be. It is an ordinary answer for the user, not a fault: Reason is a
// condition's reason in the API's words, Text names the selector and the way
// out.
type MissingError struct{ Reason, Text string }

func (e *MissingError) Error() string { return e.Text }

// The reasons of a MissingError.
const (
	SubnetsNotFound        = "SubnetsNotFound"
	SecurityGroupsNotFound = "SecurityGroupsNotFound"
	AMINotFound            = "AMINotFound"
	UnsupportedAlias       = "UnsupportedAlias"
	RoleNotFound           = "InstanceProfileRoleNotFound"
)
