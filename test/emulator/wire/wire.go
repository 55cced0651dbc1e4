// Package wire reads and writes the four protocols that AWS services use with their SDKs: EC2 query,
// query, JSON and REST JSON.
//
// EC2 has a query form of its own; IAM, STS, Auto Scaling and load balancing use the older query form;
// SQS (which also speaks the older query form), SSM, Pricing, EventBridge and Service Quotas use JSON
// 1.0 and 1.1; EKS, EKS Auth, FIS, ARC and Savings Plans use REST JSON.
//
// It promises that what the real SDK sends is decoded without loss into plain values, and that answers
// and errors have the form that the SDK expects. It knows no service's actions and keeps no state.
package wire

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// Service names, as they stand in the credential scope of a signature.
const (
	EC2     = "ec2"
	IAM     = "iam"
	STS     = "sts"
	SQS     = "sqs"
	SSM     = "ssm"
	EKS     = "eks"
	EKSAuth = "eks-auth"
	ARC     = "arc-zonal-shift"
	Pricing = "pricing"
	Events  = "events"
	Quotas  = "servicequotas"
	FIS     = "fis"
	Scaling = "autoscaling"
	ELB     = "elasticloadbalancing"
	Savings = "savingsplans"
)

// Error is a refusal in AWS's own terms.
type Error struct {
	Status  int    // HTTP status; zero means 400
	Code    string // such as InvalidInstanceID.NotFound
	Message string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Errorf returns an Error with status 400.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithStatus returns a copy of e that is sent with another HTTP status.
func (e *Error) WithStatus(status int) *Error {
	return &Error{Status: status, Code: e.Code, Message: e.Message}
}

// HTTPStatus is the status that e is sent with.
func (e *Error) HTTPStatus() int {
	if e.Status == 0 {
		return http.StatusBadRequest
	}
	return e.Status
}

// Target is where a request wants to go.
type Target struct {
	Service string // one of the service names; empty when it cannot be told
	Region  string // from the credential scope; empty when unsigned
	Action  string // from X-Amz-Target or the form; empty for REST
	Key     string // access key of the signature; empty when unsigned
	Token   string // session token sent with temporary credentials
	Signed  string // when it was signed, as 20060102T150405Z
}

// credentialScope finds "KEY/20260102/us-east-1/ec2/aws4_request", in a header or in the
// query of a request that was signed beforehand.
var credentialScope = regexp.MustCompile(`Credential=([^/,]+)/\d{8}/([^/]+)/([^/]+)/aws4_request`)

// targetServices maps the prefix of X-Amz-Target to a service.
var targetServices = map[string]string{
	"AmazonSQS":           SQS,
	"AmazonSSM":           SSM,
	"AWSPriceListService": Pricing,
	"AWSEvents":           Events,

	"ServiceQuotasV20190624": Quotas,
}

// unsignedActions are the query actions that clients send without a signature.
var unsignedActions = map[string]string{
	"AssumeRoleWithWebIdentity": STS,
	"AssumeRoleWithSAML":        STS,
}

// Locate tells the service, region and action of a request, and the access key that signed it. The service comes
// from the signature's credential scope; for unsigned requests from the target
// header or the action. form may be nil.
func Locate(r *http.Request, form url.Values) Target {
	t := Target{Action: form.Get("Action")}
	prefix, action, found := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if found {
		t.Service, t.Action = targetServices[prefix], action
	}
	scope := r.Header.Get("Authorization")
	if scope == "" {
		scope = "Credential=" + r.URL.Query().Get("X-Amz-Credential")
	}
	if m := credentialScope.FindStringSubmatch(scope); m != nil {
		t.Key, t.Region, t.Service = m[1], m[2], m[3]
		t.Token, t.Signed = r.Header.Get("X-Amz-Security-Token"), r.Header.Get("X-Amz-Date")
		if query := r.URL.Query(); query.Has("X-Amz-Credential") {
			t.Token, t.Signed = query.Get("X-Amz-Security-Token"), query.Get("X-Amz-Date")
		}
	}
	if t.Service == "" {
		t.Service = unsignedActions[t.Action]
	}
	return t
}

// jsonTypes are the services that speak JSON, with their content types.
var jsonTypes = map[string]string{
	SQS: JSON10, SSM: JSON11, Pricing: JSON11, Events: JSON11, Quotas: JSON11,
	EKS: RESTJSON, EKSAuth: RESTJSON, FIS: RESTJSON, ARC: RESTJSON, Savings: RESTJSON,
}

// JSONType is the content type of a service that speaks JSON; empty: it does not.
func JSONType(service string) string { return jsonTypes[service] }
