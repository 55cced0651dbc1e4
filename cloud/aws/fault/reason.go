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

// waysOut says, for a reason, what a user can do about it.
var waysOut = map[string]string{
	"SpotSLRCreationFailed": "create the role for spot instances once: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com, " +
		"or let the controller's role do so",
	"Unauthorized":                      "grant the right in a policy of the controller's role",
	"AMIAuthorizationFailure":           "share the image with this account, or select another in spec.amiSelectorTerms",
	"SecurityGroupSubnetVPCMismatch":    "select groups and subnets of one VPC in spec.securityGroupSelectorTerms and spec.subnetSelectorTerms",
	"InstanceProfileNameInvalid":        "name an instance profile that exists in spec.instanceProfile, or a role in spec.role",
	"LaunchTemplateNotFound":            "see that nothing else deletes launch templates that are tagged for the cluster",
	"UserDataSizeLimitExceeded":         "shorten spec.userData",
	"InvalidAMIID":                      "select an image that exists in spec.amiSelectorTerms",
	"AMINotFound":                       "select an image that exists in spec.amiSelectorTerms",
	"RequestLimitExceeded":              "have other programs of this account call EC2 less often",
	"FreeTierIneligible":                "upgrade the plan of the account, or have the NodePool allow only types of the free tier",
	"FleetQuotaExceeded":                "request a higher quota of fleets in Service Quotas",
	"AccountPendingVerification":        "wait until AWS has verified the account, or ask AWS support",
	"SpotQuotaExceeded":                 "request a higher quota of spot vCPUs in Service Quotas (Amazon EC2), or allow other families in NodePools",
	"VCPULimitExceeded":                 "request a higher quota of vCPUs in Service Quotas (Amazon EC2), or allow other families in NodePools",
	"InsufficientFreeAddressesInSubnet": "add subnets with free addresses to what spec.subnetSelectorTerms selects",
}

// Advise puts the way out before the cloud's own words, which conditions may cut.
func Advise(reason, words string) string {
	if way, known := waysOut[reason]; known {
		return way + " (" + words + ")"
	}
	return words
}
