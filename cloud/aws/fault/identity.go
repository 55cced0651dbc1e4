package fault

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// clocksDiffer is by how much this host's clock and AWS's are apart at the least before an
// error says so: AWS dates replies to the second, and one may be on its way for a while.
const clocksDiffer = time.Minute

// timed are codes that AWS answers with where a signature, or the credentials that it was
// made with, do not hold now: by their time, among other reasons.
var timed = []string{
	"SignatureDoesNotMatch", "InvalidSignatureException", "RequestExpired", "RequestTimeTooSkewed", "RequestInTheFuture", "AuthFailure",
	"ExpiredToken", "ExpiredTokenException", "InvalidIdentityToken",
}

// unvalidated is what EC2 says of a signature that does not hold, whatever the reason.
const unvalidated = "not able to validate the provided access credentials"

// Identity says why AWS does not know who calls, and the way out: the clocks differ, or
// the caller did not get its role. It is empty where AWS knew the caller, and where
// nothing is known of why. Such an error says nothing about the call itself.
func Identity(err error, now time.Time) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ""
	}
	code, message := api.ErrorCode(), api.ErrorMessage()
	if by := ahead(err, now); by.Abs() >= clocksDiffer && slices.Contains(timed, code) && (code != "AuthFailure" || strings.Contains(message, unvalidated)) {
		way := "behind"
		if by > 0 {
			way = "ahead of"
		}
		return fmt.Sprintf("this host's clock is %d min %s AWS's, which refuses what is signed by it and tokens that are renewed by it: correct the host's time synchronisation (chrony, Amazon Time Sync)",
			int(by.Abs().Round(time.Minute).Minutes()), way)
	}
	if of := credentialsCall(err); of == nil || of.Operation() != "AssumeRoleWithWebIdentity" {
		return podIdentity(message)
	}
	switch {
	case code == "ExpiredTokenException":
		return "the token of the controller's service account, for which STS gives the role, has expired by AWS's clock: correct the time synchronisation of the controller's node (chrony, Amazon Time Sync), " +
			"by whose clock the kubelet renews the token, and delete the pod if it is not renewed"
	case code == "InvalidIdentityToken" && strings.Contains(message, "could not be validated"):
		return "STS does not accept the token of the controller's service account: it is not valid yet, or is not signed by the cluster's issuer; " +
			"correct the time synchronisation of the control plane and of the controller's node (chrony, Amazon Time Sync), and delete the pod to get another token"
	case code == "InvalidIdentityToken" && strings.Contains(message, "No OpenIDConnect provider"):
		return "IAM has no OIDC provider for the issuer of this cluster: eksctl utils associate-iam-oidc-provider --cluster NAME --approve"
	case code == "InvalidIdentityToken" && strings.Contains(message, "audience"):
		return "the OIDC provider in IAM does not have the audience of the token: add client ID sts.amazonaws.com to the provider"
	case code == "InvalidIdentityToken" && strings.Contains(message, "verification key"):
		return "STS cannot read the keys of the cluster's OIDC issuer: make the issuer's /keys reachable from AWS, and name the issuer in IAM as the token does"
	case code == "AccessDenied":
		return "the role does not trust the controller's service account, or does not exist: daemok doctor, check credentials, names what to change in its trust policy"
	}
	return ""
}

// podIdentity says what the agent of EKS Pod Identity means where it gives a pod no credentials: it passes on EKS's code, in
// parentheses. Empty: it is none of the agent's.
func podIdentity(message string) string {
	switch {
	case strings.Contains(message, "(InvalidTokenException)"), strings.Contains(message, "(ExpiredTokenException)"):
		return "EKS Pod Identity does not accept the token of the controller's service account: correct the time synchronisation of the controller's node and of the control plane (chrony, Amazon Time Sync), " +
			"and delete the pod to get another token"
	case strings.Contains(message, "(AccessDeniedException)"):
		return "EKS Pod Identity may not assume the role of the controller's service account: daemok doctor, check credentials, names what to change in its trust policy"
	case strings.Contains(message, "(ResourceNotFoundException)"):
		return "the association that gave the controller's service account a role is gone: daemok doctor, check credentials, prints the command that creates one"
	}
	return ""
}

// ahead is how far this host's clock is ahead of AWS's, by the date of the reply that refused
// a call; below zero: behind it. 0 where no reply is known.
func ahead(err error, now time.Time) time.Duration {
	reply, ok := errors.AsType[*smithyhttp.ResponseError](err)
	if !ok || reply.Response == nil || reply.Response.Response == nil {
		return 0
	}
	date, err := http.ParseTime(reply.Response.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return now.Sub(date)
}

// RoleCall is the call of STS that was to give the role by which another call is made, where
// that is the one that failed, such as sts:AssumeRoleWithWebIdentity. Empty: it is not.
func RoleCall(err error) string {
	if of := credentialsCall(err); of != nil && of.Service() == "STS" {
		return "sts:" + of.Operation()
	}
	return ""
}

// credentialsCall is the call that was to get credentials for another, where that is
// the one that failed: the innermost. nil: it was the call itself.
func credentialsCall(err error) *smithy.OperationError {
	outer, ok := errors.AsType[*smithy.OperationError](err)
	if !ok {
		return nil
	}
	var inner *smithy.OperationError
	for next := outer; ; inner = next {
		if next, ok = errors.AsType[*smithy.OperationError](next.Unwrap()); !ok {
			return inner
		}
	}
}
