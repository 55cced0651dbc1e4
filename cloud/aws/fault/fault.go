// Package fault classifies AWS's error codes: insufficient capacity, not found, forbidden, throttled.
//
// It promises to check codes first, and the text of a message only where one code has several
// meanings. It retries nothing.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"github.com/daemok/daemok/cloud"
)

// Code returns the AWS error code in err; empty when it has none, and where the call was
// not made since its credentials could not be got: Identity says why.
func Code(err error) string {
	var api smithy.APIError
	if credentialsCall(err) == nil && errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// Message returns AWS's own words in err; err's text when it has none.
func Message(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorMessage()
	}
	return err.Error()
}

var notFound = []string{
	"InvalidInstanceID.NotFound", "InvalidLaunchTemplateName.NotFoundException", "InvalidLaunchTemplateId.NotFound",
	"InvalidCapacityReservationId.NotFound", "InvalidSubnetID.NotFound", "InvalidGroup.NotFound", "InvalidGroupId.NotFound",
	"InvalidVolume.NotFound", "InvalidNetworkInterfaceID.NotFound", "InvalidPlacementGroup.Unknown", "InvalidAMIID.NotFound", "NoSuchEntity", "ParameterNotFound",
	"ParameterVersionNotFound", "QueueDoesNotExist",
	"AWS.SimpleQueueService.NonExistentQueue", "ResourceNotFoundException",
}

// NotFound reports whether what was named does not exist.
func NotFound(err error) bool { return slices.Contains(notFound, Code(err)) }

var ofSome = []string{
	"InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed", "OperationNotPermitted", "UnsupportedOperation",
	"IncorrectInstanceState", "UnauthorizedOperation",
}

// OfSome reports whether a call about many instances may have been refused for the sake of
// some, and do for the others.
func OfSome(err error) bool { return slices.Contains(ofSome, Code(err)) }

// Exists reports whether what should be made is already there.
func Exists(err error) bool {
	code := Code(err)
	return code == "EntityAlreadyExists" || code == "EntityAlreadyExistsException" ||
		code == "InvalidLaunchTemplateName.AlreadyExistsException"
}

// TemplateNotFound reports whether a launch template is not there.
func TemplateNotFound(code string) bool {
	return code == "InvalidLaunchTemplateName.NotFoundException" || code == "InvalidLaunchTemplateId.NotFound"
}

var shortages = []string{
	"InsufficientInstanceCapacity", "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded", "UnfulfillableCapacity",
	"Unsupported", "InsufficientFreeAddressesInSubnet", "MaxFleetCountExceeded",
}

// Short reports whether the code says that something cannot be had now.
func Short(code string) bool { return slices.Contains(shortages, code) || OfReservation(code) }

// ofReservations are what EC2 says of a reservation that a launch names and that is
// full, or is not there any more.
var ofReservations = []string{"ReservationCapacityExceeded", "InvalidCapacityReservationId.NotFound", "InvalidCapacityReservationState"}

// OfReservation reports whether the code says that a capacity reservation has no
// room, or is over.
func OfReservation(code string) bool { return slices.Contains(ofReservations, code) }

// OfPlacement reports whether EC2 says that a placement group does not take an instance
// now, as in this zone. The codes that it says so with are those of other troubles too.
func OfPlacement(code, message string) bool {
	return !strings.HasPrefix(code, "InvalidPlacementGroup") && strings.Contains(strings.ToLower(message), "placement group")
}

// OverQuota reports whether the code says that the account may not have as many vCPUs of
// such instances.
func OverQuota(code string) bool {
	return code == "VcpuLimitExceeded" || code == "MaxSpotInstanceCountExceeded"
}

// NoAddresses reports whether the code says that a subnet is full.
func NoAddresses(code string) bool { return code == "InsufficientFreeAddressesInSubnet" }

// NoSpotRole reports whether the code says that the account may not launch spot instances,
// since the role that does so is not there.
func NoSpotRole(code string) bool {
	return code == "AuthFailure.ServiceLinkedRoleCreationNotPermitted"
}

var throttles = []string{
	"RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
	"RequestThrottledException", "TooManyRequestsException", "EC2ThrottledException", "SlowDown",
	"BandwidthLimitExceeded", "PriorRequestNotComplete",
}

// Throttled reports whether AWS asks to be called less often.
func Throttled(err error) bool { return slices.Contains(throttles, Code(err)) }

// Denied reports whether a right is missing. Credentials that have run out, or are not
// known yet, are another matter: those may do in a moment.
func Denied(err error) bool {
	return slices.Contains([]string{"UnauthorizedOperation", "AccessDenied", "AccessDeniedException"}, Code(err))
}

// Wrap turns an error of a call into one of the port's where it has a
// meaning there, and names the call in any case. An error that is one of the port's already
// names the call that failed, and stays as it is.
func Wrap(call string, err error) error {
	switch code, unknown := Code(err), Identity(err, time.Now()); {
	case err == nil:
		return nil
	case heldBack(err):
		return &cloud.ThrottledError{Call: call}
	case namesItsCall(err):
		return err
	case Throttled(err):
		return &cloud.ThrottledError{Call: call}
	case unknown != "":
		return fmt.Errorf("call %s: %s: %w", call, unknown, err)
	case refuses(code):
		reason := Reason(code, Message(err))
		return &cloud.RefusedError{Reason: reason, Cause: Advise(reason, fmt.Sprintf("%s: %s: %s", call, code, Message(err)))}
	case code == "InternalError" || code == "InternalFailure":
		return &cloud.InternalError{Cause: fmt.Errorf("call %s: %w", call, err)}
	}
	return fmt.Errorf("call %s: %w", call, err)
}

// heldBack reports whether the call did not go in its time, since EC2 throttles calls of its action.
func heldBack(err error) bool {
	_, throttled := errors.AsType[*cloud.ThrottledError](err)
	_, ofSDK := errors.AsType[*smithy.OperationError](err)
	return throttled && ofSDK
}

// refuses reports whether a code says that the request is wrong in itself, and not that
// there is trouble that may pass.
func refuses(code string) bool {
	if code == "" || code == "InternalError" || code == "InternalFailure" || code == "Unavailable" || code == "ServiceUnavailable" {
		return false
	}
	return Reason(code, "") != reasonOther || slices.ContainsFunc(
		[]string{"Invalid", "Missing", "Unsupported", "Malformed", "Validation"},
		func(prefix string) bool { return strings.HasPrefix(code, prefix) })
}

// namesItsCall reports whether Wrap has made the error of a call into one of the port's.
func namesItsCall(err error) bool {
	_, throttled := errors.AsType[*cloud.ThrottledError](err)
	_, refused := errors.AsType[*cloud.RefusedError](err)
	_, internal := errors.AsType[*cloud.InternalError](err)
	return throttled || refused || internal
}
