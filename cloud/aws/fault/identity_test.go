package fault

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/daemok/daemok/cloud"
)

// answered is an error of an operation that AWS answered so at a time.
func answered(service, operation string, at time.Time, code, message string) error {
	r := &http.Response{Header: http.Header{"Date": {at.UTC().Format(http.TimeFormat)}}}
	return &smithy.OperationError{ServiceID: service, OperationName: operation,
		Err: &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: r}, Err: &smithy.GenericAPIError{Code: code, Message: message}}}
}

// webIdentity is an error of a call for which STS did not give the role.
func webIdentity(at time.Time, code, message string) error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "CreateFleet",
		Err: fmt.Errorf("get identity: get credentials: %w", answered("STS", "AssumeRoleWithWebIdentity", at, code, message))}
}

// agent is an error of a call for which the agent of EKS Pod Identity gave no credentials, with EKS's code.
func agent(code string) error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "CreateFleet", Err: fmt.Errorf("get identity: get credentials: failed to load credentials, %w",
		&smithy.GenericAPIError{Message: "[id]: (" + code + "): The specified Kubernetes service account token is invalid., fault: client"})}
}

// Where AWS does not know who calls, the error says whether the clock, the token or the
// trust of the role is wrong, and what to do. It is none of the call's own, and stays
// one that is tried again: clocks are set right, and tokens renewed.
func TestWhoCalls(t *testing.T) {
	now := time.Now()
	early, late := now.Add(-21*time.Minute), now.Add(21*time.Minute) // AWS's
	const validate = "AWS was not able to validate the provided access credentials"
	const notValid = "The web identity token that was passed could not be validated by AWS. Get a new identity token from the identity provider and then retry the request."
	for name, tt := range map[string]struct {
		err  error
		says string // empty: nothing of who calls
	}{
		"a signature of a clock that is behind": {answered("STS", "GetCallerIdentity", late, "SignatureDoesNotMatch", "Signature expired"), "this host's clock is 21 min behind AWS's"},
		"a signature of a clock that is ahead":  {answered("SSM", "GetParameter", early, "InvalidSignatureException", "Signature not yet current"), "this host's clock is 21 min ahead of AWS's"},
		"EC2 and a clock that is ahead":         {answered("EC2", "RunInstances", early, "AuthFailure", validate), "this host's clock is 21 min ahead of AWS's"},
		"credentials used for too long":         {answered("IAM", "GetRole", late, "ExpiredToken", "The security token included in the request is expired"), "this host's clock is 21 min behind AWS's"},
		"a token renewed by a wrong clock":      {webIdentity(late, "ExpiredTokenException", "Token expired: current date/time 1 must be before the expiration date/time 0"), "this host's clock is 21 min behind AWS's"},
		"a token that expired":                  {webIdentity(now, "ExpiredTokenException", "Token expired: current date/time 1 must be before the expiration date/time 0"), "has expired by AWS's clock: correct the time synchronisation of the controller's node"},
		"a token of the future":                 {webIdentity(now, "InvalidIdentityToken", notValid), "it is not valid yet, or is not signed by the cluster's issuer; correct the time synchronisation of the control plane"},
		"an issuer that IAM does not know":      {webIdentity(now, "InvalidIdentityToken", "No OpenIDConnect provider found in your account for https://oidc"), "associate-iam-oidc-provider"},
		"another audience":                      {webIdentity(now, "InvalidIdentityToken", "Incorrect token audience"), "sts.amazonaws.com"},
		"keys that AWS cannot read":             {webIdentity(now, "InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider"), "make the issuer's /keys reachable"},
		"a role that trusts others":             {webIdentity(now, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"), "does not trust the controller's service account"},

		"Pod Identity and a token of another time": {agent("InvalidTokenException"), "EKS Pod Identity does not accept the token of the controller's service account: correct the time synchronisation"},
		"Pod Identity and a trust for others":      {agent("AccessDeniedException"), "EKS Pod Identity may not assume the role of the controller's service account"},
		"an association that is gone":              {agent("ResourceNotFoundException"), "the association that gave the controller's service account a role is gone"},

		"a key that is wrong":             {answered("STS", "GetCallerIdentity", now, "SignatureDoesNotMatch", "The request signature we calculated does not match"), ""},
		"images of others":                {answered("EC2", "RunInstances", late, "AuthFailure", "Not authorized for images: [ami-1]"), ""},
		"a right that the role lacks":     {answered("EC2", "RunInstances", late, "UnauthorizedOperation", "You are not authorized"), ""},
		"a clock that is nearly right":    {answered("STS", "GetCallerIdentity", now.Add(50*time.Second), "SignatureDoesNotMatch", "Signature expired"), ""},
		"no reply that says the time":     {&smithy.GenericAPIError{Code: "SignatureDoesNotMatch", Message: "Signature expired"}, ""},
		"no answer":                       {&smithy.OperationError{ServiceID: "EC2", OperationName: "RunInstances", Err: errors.New("connection reset")}, ""},
		"a call that nothing is wrong of": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Identity(tt.err, now)
			if (got != "") != (tt.says != "") || !strings.Contains(got, tt.says) {
				t.Fatalf("Identity(%v) = %q, want that it says %q", tt.err, got, tt.says)
			}
			if got == "" {
				return
			}
			wrapped := Wrap("ec2:CreateFleet", tt.err)
			if !errors.Is(wrapped, tt.err) || !strings.HasPrefix(wrapped.Error(), "call ec2:CreateFleet: "+got) {
				t.Errorf("Wrap = %v, want the error kept behind what it means", wrapped)
			}
			if _, refused := errors.AsType[*cloud.RefusedError](wrapped); refused {
				t.Errorf("Wrap = %#v, want no refusal for good", wrapped)
			}
		})
	}
}

// What STS says of the credentials is no answer to the call that wanted them: neither is a
// right missing, nor is what it named not there.
func TestACallWithoutCredentialsHasNoCode(t *testing.T) {
	err := webIdentity(time.Now(), "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity")
	if code := Code(err); code != "" || Denied(err) {
		t.Errorf("Code(%v) = %q, Denied = %v; want none", err, code, Denied(err))
	}
}
