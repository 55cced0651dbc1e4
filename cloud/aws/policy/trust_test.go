package policy

import (
	"strings"
	"testing"
)

// The trust policies of the guides, for IRSA and for EKS Pod Identity, and how they decide on other
// principals.
func TestTrusts(t *testing.T) {
	const (
		provider = "arn:aws:iam::1:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/ABC"
		irsa     = `{"Effect": "Allow", "Principal": {"Federated": "` + provider + `"}, "Action": "sts:AssumeRoleWithWebIdentity", "Condition": {"StringEquals": {
			"oidc.eks.us-east-1.amazonaws.com/id/ABC:aud": "sts.amazonaws.com", "oidc.eks.us-east-1.amazonaws.com/id/ABC:sub": "system:serviceaccount:kube-system:karpenter"}}}`
		pods  = `{"Effect": "Allow", "Principal": {"Service": ["pods.eks.amazonaws.com", "ec2.amazonaws.com"]}, "Action": ["sts:AssumeRole", "sts:TagSession"]}`
		root  = `{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::1:root"}, "Action": "sts:AssumeRole"}`
		all   = `{"Effect": "Allow", "Principal": "*", "Action": "sts:*"}`
		never = `{"Sid": "Never", "Effect": "Deny", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}`
	)
	token := func(account string) Context {
		context := Context{}
		context.Set("oidc.eks.us-east-1.amazonaws.com/id/ABC:aud", "sts.amazonaws.com")
		context.Set("oidc.eks.us-east-1.amazonaws.com/id/ABC:sub", "system:serviceaccount:"+account)
		return context
	}
	cluster := Caller{PrincipalFederated, []string{provider}}
	service := Caller{PrincipalService, []string{"pods.eks.amazonaws.com"}}
	person := Caller{PrincipalAWS, []string{"1", "arn:aws:iam::1:root", "arn:aws:iam::1:role/dev"}}
	const web, assume = "sts:AssumeRoleWithWebIdentity", "sts:AssumeRole"
	for name, tt := range map[string]struct {
		statements, action string
		who                Caller
		context            Context
		want               Decision
	}{
		"the service account it names":         {irsa, web, cluster, token("kube-system:karpenter"), Allowed},
		"another service account":              {irsa, web, cluster, token("default:karpenter"), ImplicitDeny},
		"a provider that it does not name":     {irsa, web, Caller{PrincipalFederated, []string{provider + "D"}}, token("kube-system:karpenter"), ImplicitDeny},
		"a provider's name of another sort":    {irsa, web, Caller{PrincipalService, []string{provider}}, token("kube-system:karpenter"), ImplicitDeny},
		"another action than it allows":        {irsa, assume, cluster, token("kube-system:karpenter"), ImplicitDeny},
		"a service, one of several":            {irsa + "," + pods, "sts:TagSession", service, nil, Allowed},
		"a role, by its account":               {root, assume, person, nil, Allowed},
		"everybody":                            {all, web, cluster, nil, Allowed},
		"a statement that denies outweighs it": {all + "," + never, assume, person, nil, ExplicitDeny},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := ReadTrust("trust", []byte(`{"Statement": [`+tt.statements+`]}`))
			if err != nil {
				t.Fatal(err)
			}
			got, by, err := d.Trusts(tt.who, Call{Action: tt.action, Resource: "arn:aws:iam::1:role/any", Context: tt.context})
			if got != tt.want || err != nil || got == ExplicitDeny && by != "trust, statement Never" {
				t.Errorf("it says %q by %q, %v; want %q", got, by, err, tt.want)
			}
		})
	}
}

func TestReadTrustRefuses(t *testing.T) {
	for members, want := range map[string]string{
		`"Action": "sts:AssumeRole"`: "trust, statement number 1: Missing required field Principal",
		`"Action": "sts:AssumeRole", "Principal": {"Service": "a"}, "Resource": "*"`:                                           "Has prohibited field Resource",
		`"Action": ["sts:AssumeRole", "ec2:RunInstances"], "Principal": {"Service": "a"}`:                                      "AssumeRole policy may only specify STS AssumeRole actions.",
		`"Action": "sts:AssumeRole", "Principal": {"Servise": "a"}`:                                                            `a Principal of sort "Servise"`,
		`"Action": "sts:AssumeRole", "Principal": "*", "NotPrincipal": {"AWS": "b"}`:                                           "NotPrincipal is not known here",
		`"Action": "sts:AssumeRole", "Principal": {"AWS": "*"}, "Condition": {"DateLessThan": {"aws:CurrentTime": "2027-01"}}`: "operator DateLessThan of key aws:CurrentTime is not known",
	} {
		for _, text := range []string{`{"Statement": {"Effect": "Allow", ` + members + `}}`, `{"Statement": [{"Effect": "Allow", ` + members + `}]}`} {
			if _, err := ReadTrust("trust", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("ReadTrust(%s) = %v, want %q", text, err, want)
			}
		}
	}
	if _, err := ReadTrust("trust", []byte("none")); err == nil || !strings.Contains(err.Error(), "trust is no IAM policy in JSON") {
		t.Errorf("what is no JSON: %v", err)
	}
}
