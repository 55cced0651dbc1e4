package emulator_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

const podsAudience = "pods.eks.amazonaws.com"

// associate gives kube-system/karpenter the controller's role, and returns the association's ID.
func (p *pods) associate(role string) string {
	p.Helper()
	made, err := eks.NewFromConfig(p.account.config).CreatePodIdentityAssociation(context.Background(), &eks.CreatePodIdentityAssociationInput{
		ClusterName: aws.String("lab"), Namespace: aws.String("kube-system"), ServiceAccount: aws.String("karpenter"), RoleArn: &role})
	p.must(err)
	return *made.Association.AssociationId
}

// agent is where pods ask.
func (p *pods) agent(t *testing.T) string {
	t.Helper()
	web := httptest.NewServer(p.server.PodIdentityAgent())
	t.Cleanup(web.Close)
	return web.URL + "/v1/credentials"
}

// EKS gives pods AWS_CONTAINER_CREDENTIALS_FULL_URI and AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE; with these alone the SDK
// has the role, and its sessions have tags of the pod.
func TestAPodHasItsRoleByPodIdentity(t *testing.T) {
	p := openPods(t)
	p.associate(controllerARN)
	c := p.environment(t, map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": p.agent(t),
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": file(t, p.token(t, podsAudience, "kube-system:karpenter", nil))})
	const prefix = "arn:aws:sts::123456789012:assumed-role/lab-karpenter/eks-lab-karpenter-"
	got, err := who(c)
	if err != nil || !strings.HasPrefix(got, prefix) || len(got) != len(prefix)+36 {
		t.Fatalf("the pod is %q, %v; want %sUUID", got, err, prefix)
	}
	const early = 5 * time.Minute // by which the SDK asks again
	held, err := c.Credentials.Retrieve(t.Context())
	p.must(err)
	if held.AccountID != "123456789012" || held.Expires.Sub(p.Now()) != 6*time.Hour-early {
		t.Errorf("credentials are %+v at %v; want them of the account, for six hours less %v", held, p.Now(), early)
	}
	api := ec2.NewFromConfig(c)
	if _, err := api.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); code(err) != "UnauthorizedOperation" {
		t.Errorf("it reads what its role may not: %v", err)
	}
	p.must(p.server.Attach("lab-karpenter", "tagged", `{"Statement": {"Effect": "Allow", "Action": "ec2:DescribeVpcs", "Resource": "*",
		"Condition": {"StringEquals": {"aws:PrincipalTag/kubernetes-namespace": "kube-system", "aws:PrincipalTag/eks-cluster-name": "lab"}}}}`))
	if _, err := api.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); err != nil {
		t.Errorf("it may not read what its session's tags let it: %v", err)
	}
}

// What pods hear whose account has no role, or one that does not trust EKS; tagging the session is part of the trust.
func TestThePodIdentityAgentRefuses(t *testing.T) {
	p := openPods(t)
	agent, right := p.agent(t), p.token(t, podsAudience, "kube-system:karpenter", nil)
	ask := func(token string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, agent, http.NoBody)
		p.must(err)
		r.Header.Set("Authorization", token)
		answer, err := http.DefaultClient.Do(r)
		p.must(err)
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		p.must(err)
		return answer.StatusCode, string(text)
	}
	other, changed := newSigner(t), func(name string, value any) string {
		return p.token(t, podsAudience, "kube-system:karpenter", func(c map[string]any) { c[name] = value })
	}
	if code, says := ask(right); code != http.StatusNotFound || !strings.Contains(says, "(ResourceNotFoundException): No Pod Identity association found for service account kube-system/karpenter in cluster lab, fault: client") {
		t.Errorf("without an association: %d %q", code, says)
	}
	p.associate(controllerARN)
	for name, tt := range map[string]struct {
		token string
		code  int
		says  string
	}{
		"all is right":            {right, 200, `"AccessKeyId":"ASIA`},
		"no token":                {"", 400, "Service account token cannot be empty"},
		"another account":         {p.token(t, podsAudience, "default:karpenter", nil), 404, "for service account default/karpenter in cluster lab"},
		"a user":                  {changed("sub", "system:node:one"), 400, "(InvalidTokenException): The specified Kubernetes service account token is invalid: its subject system:node:one is no service account"},
		"a token for STS":         {p.token(t, "sts.amazonaws.com", "kube-system:karpenter", nil), 400, "its audience is not pods.eks.amazonaws.com"},
		"a token of tomorrow":     {changed("nbf", p.Now().Add(24*time.Hour).Unix()), 400, "it does not hold yet"},
		"an expired token":        {changed("exp", p.Now().Unix()), 400, "(ExpiredTokenException): The specified Kubernetes service account token is expired., fault: client"},
		"another issuer":          {changed("iss", "https://kubernetes.default.svc"), 400, "no key of its issuer is known"},
		"another key's signature": {other.as(t, p.signer.id(t), p.claims(podsAudience, "kube-system:karpenter", nil)), 400, "its signature is not that of the key"},
		"no token at all":         {"none", 400, "it is no JSON web token"},
	} {
		if code, says := ask(tt.token); code != tt.code || !strings.Contains(says, tt.says) {
			t.Errorf("%s: %d %q, want %d with %q", name, code, says, tt.code, tt.says)
		}
	}
	for trust, want := range map[string]int{
		`["sts:AssumeRole", "sts:TagSession"]`: 200,
		`"sts:AssumeRole"`:                     400,
		`"sts:TagSession"`:                     400,
		`["sts:AssumeRole", "sts:TagSession"], "Condition": {"StringEquals": {"aws:RequestTag/kubernetes-namespace": "kube-system"}}`: 200,
		`["sts:AssumeRole", "sts:TagSession"], "Condition": {"StringEquals": {"aws:RequestTag/kubernetes-namespace": "default"}}`:     400,
	} {
		_, err := iam.NewFromConfig(p.account.config).UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String("lab-karpenter"),
			PolicyDocument: aws.String(`{"Statement": {"Effect": "Allow", "Principal": {"Service": "pods.eks.amazonaws.com"}, "Action": ` + trust + `}}`)})
		p.must(err)
		code, says := ask(right)
		if code != want || want == 400 && !strings.Contains(says, "(AccessDeniedException): Unauthorized Exception! EKS does not have permissions to assume the associated role., fault: client") {
			t.Errorf("a trust of %s: %d %q, want %d", trust, code, says, want)
		}
	}
	p.server.Fault("AssumeRoleForPodIdentity", 1, "InternalServerException")
	if code, says := ask(right); code/100 == 2 || !strings.Contains(says, "(InternalServerException)") {
		t.Errorf("a fault of EKS: %d %q", code, says)
	}
}
