package fault

import "strings"

const reasonOther = "LaunchFailed"

// meanings maps an error code, and where needed words of its message, to a
// condition reason. The first row that matches counts.
var meanings = []struct{ code, words, reason string }{
	{"AuthFailure.ServiceLinkedRoleCreationNotPermitted", "", "SpotSLRCreationFailed"},
	{"UnauthorizedOperation", ":image/", "AMIAuthorizationFailure"},
	{"UnauthorizedOperation", "", "Unauthorized"},
	{"AccessDenied", "", "Unauthorized"},
	{"AccessDeniedException", "", "Unauthorized"},
	{"AuthFailure", "not authorized for images", "AMIAuthorizationFailure"},
	{"AuthFailure", "", "Unauthorized"},
	{"UnrecognizedClientException", "", "Unauthorized"},
	{"InvalidClientTokenId", "", "Unauthorized"},
	{"ExpiredToken", "", "Unauthorized"},
	{"InvalidParameter", "security group", "SecurityGroupSubnetVPCMismatch"},
	{"InvalidParameter", "belong to different networks", "SecurityGroupSubnetVPCMismatch"},
	{"InvalidGroup.NotFound", "", "SecurityGroupSubnetVPCMismatch"},
	{"InvalidParameterValue", "iam instance profile", "InstanceProfileNameInvalid"},
	{"InvalidParameterValue", "iaminstanceprofile", "InstanceProfileNameInvalid"},
	{"InvalidLaunchTemplateName.NotFoundException", "", "LaunchTemplateNotFound"},
	{"InvalidLaunchTemplateId.NotFound", "", "LaunchTemplateNotFound"},
	{"InvalidUserData.Malformed", "limited to", "UserDataSizeLimitExceeded"},
	{"InvalidParameterValue", "user data is limited", "UserDataSizeLimitExceeded"},
	{"InvalidAMIID.NotFound", "", "AMINotFound"},
	{"InvalidAMIID.Unavailable", "", "AMINotFound"},
	{"InvalidAMIID.Malformed", "", "InvalidAMIID"},
	{"RequestLimitExceeded", "", "RequestLimitExceeded"},
	{"InternalError", "", "InternalError"},
	{"InvalidParameterCombination", "free tier", "FreeTierIneligible"},
	{"MaxFleetCountExceeded", "", "FleetQuotaExceeded"},
	{"PendingVerification", "", "AccountPendingVerification"},
	{"MaxSpotInstanceCountExceeded", "", "SpotQuotaExceeded"},
	{"VcpuLimitExceeded", "", "VCPULimitExceeded"},
	{"InsufficientFreeAddressesInSubnet", "", "InsufficientFreeAddressesInSubnet"},
}

// Reason names an error in the words of the API's conditions. What has no
// word of its own is LaunchFailed.
func Reason(code, message string) string {
	lower := strings.ToLower(message)
	for _, m := range meanings {
		if m.code == code && strings.Contains(lower, m.words) {
			return m.reason
		}
	}
	return reasonOther
}
