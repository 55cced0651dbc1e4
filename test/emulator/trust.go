package emulator

import (
	"fmt"
	"strings"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/wire"
)

// podsService is who assumes roles for pods, as their trust policies name it.
const podsService = "pods.eks.amazonaws.com"

// controllerRole is the name of the role that the guides make for the controller.
func (a Account) controllerRole() string { return a.ClusterName + "-karpenter" }

// controllerTrust lets the controller's service account have its role by EKS Pod Identity and by IRSA.
func controllerTrust(a Account) string {
	issuer := providerName(a.Issuer)
	return strings.TrimSpace(iampolicy.Document{Statements: []iampolicy.Statement{
		{Effect: iampolicy.Allow, Principal: map[string][]string{iampolicy.PrincipalService: {podsService}}, Actions: []string{"sts:AssumeRole", "sts:TagSession"}},
		{Effect: iampolicy.Allow, Principal: map[string][]string{iampolicy.PrincipalFederated: {a.providerARN(issuer)}}, Actions: []string{"sts:AssumeRoleWithWebIdentity"},
			Conditions: []iampolicy.Condition{
				{Operator: "StringEquals", Key: issuer + ":aud", Values: []string{stsAudience}},
				{Operator: "StringEquals", Key: issuer + ":sub", Values: []string{"system:serviceaccount:kube-system:karpenter"}},
			}},
	}}.JSON())
}

// checkTrust refuses, as IAM does, what is no trust policy, and what cannot be decided on here.
func checkTrust(document string) error {
	if err := checkDocument(document); err != nil {
		return err
	}
	if _, err := iampolicy.ReadTrust("the trust policy", []byte(document)); err != nil {
		return wire.Errorf("MalformedPolicyDocument", "%s", err.Error())
	}
	return nil
}

// trusts says what a role's trust policy makes of all these actions of a caller: the least that it says of one.
func (s *state) trusts(r *role, who iampolicy.Caller, context iampolicy.Context, actions ...string) (iampolicy.Decision, error) {
	d, err := iampolicy.ReadTrust("the trust policy", []byte(r.Trust))
	if err != nil {
		return "", fmt.Errorf("the emulator cannot decide who may assume role %s: %w", r.Name, err)
	}
	context.Set("aws:SecureTransport", "true")
	decision := iampolicy.Allowed
	for _, action := range actions {
		one, _, err := d.Trusts(who, iampolicy.Call{Action: action, Resource: s.roleARN(r), Context: context})
		if err != nil {
			return "", err
		}
		if one != iampolicy.Allowed && decision != iampolicy.ExplicitDeny {
			decision = one
		}
	}
	return decision, nil
}

// roleByARN finds a role of the account; nil where there is none.
func (s *state) roleByARN(arn string) *role {
	if r := s.Roles[roleOf(arn)]; r != nil && s.roleARN(r) == arn {
		return r
	}
	return nil
}
