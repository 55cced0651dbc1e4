package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/smithy-go"

	"github.com/daemok/daemok/cloud"
)

// A launch makes several calls. What one of them failed with is not said of another.
func TestAnErrorNamesTheCallThatFailed(t *testing.T) {
	for code, want := range map[string]string{
		"UnauthorizedOperation": "grant the right in a policy of the controller's role (ec2:CreateLaunchTemplate: UnauthorizedOperation: no)",
		"InternalError":         "call ec2:CreateLaunchTemplate: api error InternalError: no",
	} {
		inner := Wrap("ec2:CreateLaunchTemplate", &smithy.GenericAPIError{Code: code, Message: "no"})
		if got := Wrap("ec2:CreateFleet", inner); !strings.Contains(got.Error(), want) || strings.Contains(got.Error(), "ec2:CreateFleet") {
			t.Errorf("of %s it says %q, want %q", code, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	api := func(code, message string) error {
		return fmt.Errorf("operation error EC2: %w", &smithy.GenericAPIError{Code: code, Message: message})
	}
	tests := map[string]struct {
		err    error
		reason string // of a refusal; "throttled", "internal", or empty for an error kept as it is
	}{
		"throttling":                    {api("RequestLimitExceeded", ""), "throttled"},
		"throttling of another service": {api("ThrottlingException", ""), "throttled"},
		"missing rights":                {api("UnauthorizedOperation", "not authorized, encoded: ami41ami"), "Unauthorized"},
		"missing rights on an image":    {api("UnauthorizedOperation", "on resource: arn:aws:ec2:us-east-1::image/ami-1"), "AMIAuthorizationFailure"},
		"missing rights at IAM":         {api("AccessDenied", ""), "Unauthorized"},
		"a parameter nobody foresaw":    {api("InvalidBlockDeviceMapping", ""), "LaunchFailed"},
		"user data that is too long":    {api("InvalidUserData.Malformed", "User data is limited to 16384 bytes"), "UserDataSizeLimitExceeded"},
		"AWS's own trouble":             {api("InternalError", ""), "internal"},
		"AWS being away":                {api("Unavailable", ""), ""},
		"a code that nobody knows":      {api("SomethingNew", ""), ""},
		"no answer at all":              {errors.New("connection reset"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Wrap("ec2:CreateFleet", tt.err)
			throttled, isThrottled := errors.AsType[*cloud.ThrottledError](got)
			refused, isRefused := errors.AsType[*cloud.RefusedError](got)
			switch {
			case tt.reason == "throttled":
				if !isThrottled || throttled.Call != "ec2:CreateFleet" {
					t.Errorf("Wrap = %v, want throttled", got)
				}
			case tt.reason == "internal":
				if _, is := errors.AsType[*cloud.InternalError](got); !is || !errors.Is(got, tt.err) || !strings.Contains(got.Error(), "ec2:CreateFleet") {
					t.Errorf("Wrap = %#v, want trouble of the cloud's own, the error kept, and the call named", got)
				}
			case tt.reason != "":
				if !isRefused || refused.Reason != tt.reason || !strings.Contains(refused.Cause, "ec2:CreateFleet") {
					t.Errorf("Wrap = %#v, want %s naming the call", got, tt.reason)
				}
			case isThrottled || isRefused || !errors.Is(got, tt.err) || !strings.Contains(got.Error(), "ec2:CreateFleet"):
				t.Errorf("Wrap = %v, want the error kept, and the call named", got)
			}
		})
	}
	if Wrap("x", nil) != nil {
		t.Error("Wrap makes an error of none")
	}
}

// What EC2 says, in the words that dashboards and scripts know from conditions.
func TestReasons(t *testing.T) {
	for _, tt := range []struct{ code, message, want string }{
		{"AuthFailure.ServiceLinkedRoleCreationNotPermitted", "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.", "SpotSLRCreationFailed"},
		{"UnauthorizedOperation", "You are not authorized to perform this operation.", "Unauthorized"},
		{"UnauthorizedOperation", "not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-east-1::image/ami-1", "AMIAuthorizationFailure"},
		{"AuthFailure", "Not authorized for images: [ami-1]", "AMIAuthorizationFailure"},
		{"InvalidParameter", "Security group sg-1 and subnet subnet-1 belong to different networks.", "SecurityGroupSubnetVPCMismatch"},
		{"InvalidParameterValue", "Value (x) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", "InstanceProfileNameInvalid"},
		{"InvalidLaunchTemplateName.NotFoundException", "", "LaunchTemplateNotFound"},
		{"InvalidUserData.Malformed", "User data is limited to 16384 bytes", "UserDataSizeLimitExceeded"},
		{"InvalidAMIID.Malformed", "", "InvalidAMIID"},
		{"InvalidAMIID.NotFound", "", "AMINotFound"},
		{"RequestLimitExceeded", "Request limit exceeded.", "RequestLimitExceeded"},
		{"InternalError", "An internal error has occurred", "InternalError"},
		{"InvalidParameterCombination", "The specified instance type is not eligible for Free Tier.", "FreeTierIneligible"},
		{"MaxFleetCountExceeded", "", "FleetQuotaExceeded"},
		{"PendingVerification", "", "AccountPendingVerification"},
		{"MaxSpotInstanceCountExceeded", "Max spot instance count exceeded", "SpotQuotaExceeded"},
		{"VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit", "VCPULimitExceeded"},
		{"InsufficientFreeAddressesInSubnet", "", "InsufficientFreeAddressesInSubnet"},
		{"InvalidParameterCombination", "Something else", "LaunchFailed"},
		{"SomethingNew", "", "LaunchFailed"},
	} {
		if got := Reason(tt.code, tt.message); got != tt.want {
			t.Errorf("%s %q is %s, want %s", tt.code, tt.message, got, tt.want)
		}
	}
}

// Every reason that a launch can fail for, but for trouble that passes by itself, says
// what to do before it says what EC2 says.
func TestReasonsSayTheWayOut(t *testing.T) {
	for _, m := range meanings {
		said := Advise(m.reason, "in EC2's words")
		if reported := strings.HasSuffix(said, " (in EC2's words)"); reported == (m.reason == "InternalError") {
			t.Errorf("%s says %q", m.reason, said)
		}
	}
	refused, ok := errors.AsType[*cloud.RefusedError](Wrap("ec2:CreateFleet", &smithy.GenericAPIError{Code: "InvalidAMIID.NotFound", Message: "The image id '[ami-1]' does not exist"}))
	want := "select an image that exists in spec.amiSelectorTerms (ec2:CreateFleet: InvalidAMIID.NotFound: The image id '[ami-1]' does not exist)"
	if !ok || refused.Cause != want {
		t.Errorf("an image that is gone: %v, want %q", refused, want)
	}
}
