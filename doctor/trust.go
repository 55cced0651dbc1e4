package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/audit"
	"github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/kube/installation"
)

// credentials checks how the controller's service account gets its role.
func credentials(ctx context.Context, p *Patient) ([]Finding, error) {
	found, err := p.find(ctx)
	if err != nil {
		return nil, err
	}
	s := seeker{object: fmt.Sprintf("ServiceAccount/%s/%s", p.Namespace, found.Account), account: found.Account}
	if s.role, err = found.Role(ctx, p.Store); err != nil {
		return nil, err
	}
	if s.role != "" {
		return irsa(ctx, p, s)
	}
	if s.role, err = p.Account.PodIdentity(ctx, p.Name, p.Namespace, found.Account); err != nil {
		return nil, err
	}
	if s.role == "" {
		return []Finding{trouble(Warning, s.object, "it has no role: neither the annotation "+installation.RoleAnnotation+" (IRSA) nor an EKS Pod Identity association; the controller would act as the node that it runs on",
			fmt.Sprintf("aws eks create-pod-identity-association --cluster-name %s --namespace %s --service-account %s --role-arn ARN", p.Name, p.Namespace, found.Account))}, nil
	}
	return podIdentity(ctx, p, s)
}

// withRole adds to the finding that the service account has a role which of the controller's pods do not have it:
// EKS gives pods the variables for that when they are created.
func withRole(ctx context.Context, p *Patient, has Finding) ([]Finding, error) {
	found, err := p.find(ctx)
	if err != nil || found.Deployment == nil {
		return []Finding{has}, err
	}
	pods, _, err := podsOf(ctx, p, found.Deployment)
	if err != nil {
		return nil, err
	}
	var without []string
	for i := range pods {
		if pods[i].DeletionTimestamp == nil && !hasRole(&pods[i]) {
			without = append(without, "Pod/"+pods[i].Name)
		}
	}
	if len(without) == 0 {
		return []Finding{has}, nil
	}
	slices.Sort(without)
	return []Finding{trouble(Warning, strings.Join(without, ", "), has.Message+", and pods created before that lack it: EKS gives roles to pods when they are created",
		fmt.Sprintf("kubectl -n %s rollout restart deployment/%s", p.Namespace, found.Deployment.Name))}, nil
}

// hasRole reports whether EKS gave the pod a role, by Pod Identity or IRSA.
func hasRole(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool {
			return v.Name == "AWS_CONTAINER_CREDENTIALS_FULL_URI" || v.Name == "AWS_WEB_IDENTITY_TOKEN_FILE"
		})
	})
}

// seeker is a service account that asks for a role.
type seeker struct {
	object, account string // as findings call it, and its name
	role            string // ARN
}

func (s seeker) name() string { return nameOf(s.role) }

// nameOf is the name of a role, without its path.
func nameOf(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// arn is the ARN of something of IAM in the role's account.
func (s seeker) arn(resource string) string {
	parts := strings.SplitN(s.role, ":", 6)
	if len(parts) < 6 {
		return resource
	}
	return fmt.Sprintf("arn:%s:iam::%s:%s", parts[1], parts[4], resource)
}

// gone is what it means that the role is not there.
func (s seeker) gone(wayOut string) []Finding {
	return []Finding{trouble(Error, s.object, "its role "+s.role+" does not exist", "create the role, or "+wayOut)}
}

// Audience of a service account's token for STS, and the annotation that says another.
const (
	usualAudience      = "sts.amazonaws.com"
	audienceAnnotation = "eks.amazonaws.com/audience"
)

// irsa checks whether the role that a service account names trusts it.
func irsa(ctx context.Context, p *Patient, s seeker) ([]Finding, error) {
	trust, there, err := p.Account.Role(ctx, s.name())
	if err != nil {
		return nil, err
	}
	if !there {
		return s.gone("correct the annotation " + installation.RoleAnnotation), nil
	}
	c, err := p.Account.Cluster(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	audience, err := audienceOf(ctx, p, s.account)
	if err != nil {
		return nil, err
	}
	issuer := strings.TrimPrefix(c.Issuer, "https://")
	subject := fmt.Sprintf("system:serviceaccount:%s:%s", p.Namespace, s.account)
	switch {
	case issuer == "":
		return []Finding{trouble(Error, s.object, "it names a role for IRSA, and the cluster has no OIDC issuer", "eksctl utils associate-iam-oidc-provider --cluster "+p.Name+" --approve")}, nil
	case !strings.Contains(trust, issuer):
		return []Finding{trouble(Error, s.object, "its role "+s.name()+" does not trust the cluster's OIDC issuer "+c.Issuer+": sts:AssumeRoleWithWebIdentity will be refused", "name that issuer in the role's trust policy")}, nil
	}
	with := policy.Context{}
	with.Set(issuer+":sub", subject)
	with.Set(issuer+":aud", audience)
	trusts, err := trusted(trust, policy.Caller{Sort: policy.PrincipalFederated, Names: []string{s.arn("oidc-provider/" + issuer)}}, with, "sts:AssumeRoleWithWebIdentity")
	if err != nil {
		return nil, fmt.Errorf("role %s: %w", s.name(), err)
	}
	if !trusts {
		return []Finding{trouble(Error, s.object, fmt.Sprintf("its role %s does not trust %s with audience %s: sts:AssumeRoleWithWebIdentity will be refused", s.name(), subject, audience),
			"name that subject and audience in the role's trust policy, or the service account that it names in the chart")}, nil
	}
	return provided(ctx, p, s, issuer, audience)
}

// provided checks whether IAM knows the cluster's issuer, without which no trust helps.
func provided(ctx context.Context, p *Patient, s seeker, issuer, audience string) ([]Finding, error) {
	audiences, there, err := p.Account.Provider(ctx, s.arn("oidc-provider/"+issuer))
	switch {
	case err != nil:
		return nil, err
	case !there:
		return []Finding{trouble(Error, s.object, "its role's account has no OIDC provider for the cluster's issuer https://"+issuer+": sts:AssumeRoleWithWebIdentity will be refused",
			"eksctl utils associate-iam-oidc-provider --cluster "+p.Name+" --approve")}, nil
	case !slices.Contains(audiences, audience):
		return []Finding{trouble(Error, s.object, "the OIDC provider of the cluster's issuer takes no tokens for "+audience+": sts:AssumeRoleWithWebIdentity will be refused",
			fmt.Sprintf("aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn %s --client-id %s", s.arn("oidc-provider/"+issuer), audience))}, nil
	}
	return withRole(ctx, p, fine("%s has role %s by IRSA", s.object, s.name()))
}

// audienceOf is the audience of the tokens of a service account.
func audienceOf(ctx context.Context, p *Patient, name string) (string, error) {
	var account corev1.ServiceAccount
	if err := p.Store.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: name}, &account); err != nil {
		return "", fmt.Errorf("read service account %s/%s: %w", p.Namespace, name, err)
	}
	if other := account.Annotations[audienceAnnotation]; other != "" {
		return other, nil
	}
	return usualAudience, nil
}

// podIdentity checks whether the role of a service account's association trusts EKS Pod
// Identity.
func podIdentity(ctx context.Context, p *Patient, s seeker) ([]Finding, error) {
	trust, there, err := p.Account.Role(ctx, s.name())
	if err != nil {
		return nil, err
	}
	if !there {
		return s.gone("associate another with it (aws eks update-pod-identity-association)"), nil
	}
	c, err := p.Account.Cluster(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	trusts, err := trusted(trust, policy.Caller{Sort: policy.PrincipalService, Names: []string{"pods.eks.amazonaws.com"}}, sessionOf(p, s, c), "sts:AssumeRole", "sts:TagSession")
	if err != nil {
		return nil, fmt.Errorf("role %s: %w", s.name(), err)
	}
	if !trusts {
		return []Finding{trouble(Error, s.object, "its role "+s.name()+" does not let pods.eks.amazonaws.com assume it: EKS Pod Identity gives the controller no credentials",
			"allow that service sts:AssumeRole and sts:TagSession in the role's trust policy")}, nil
	}
	if lacks, err := withoutAgent(ctx, p); lacks || err != nil {
		return []Finding{trouble(Error, s.object, "its role "+s.name()+" comes by EKS Pod Identity, whose agent is not installed (DaemonSet kube-system/"+podIdentityAgent+")",
			"aws eks create-addon --cluster-name "+p.Name+" --addon-name "+podIdentityAgent)}, err
	}
	return withRole(ctx, p, fine("%s has role %s by EKS Pod Identity", s.object, s.name()))
}

// podIdentityAgent gives pods their credentials: a DaemonSet, and the add-on that it is of.
const podIdentityAgent = "eks-pod-identity-agent"

// withoutAgent reports whether there is no agent, and no replica of the controller is ready. One that is has its credentials,
// by whatever gives them to it.
func withoutAgent(ctx context.Context, p *Patient) (bool, error) {
	found, err := p.find(ctx)
	if err != nil || found.Deployment != nil && found.Deployment.Status.ReadyReplicas > 0 {
		return false, err
	}
	err = p.Store.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: podIdentityAgent}, &appsv1.DaemonSet{})
	return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
}

// sessionOf is what a trust policy may ask of a session of EKS Pod Identity.
func sessionOf(p *Patient, s seeker, c audit.Cluster) policy.Context {
	with := policy.Context{}
	with.Tags("aws:RequestTag", map[string]string{"eks-cluster-arn": c.ARN, "eks-cluster-name": p.Name, "kubernetes-namespace": p.Namespace, "kubernetes-service-account": s.account})
	with.Set("aws:SourceArn", c.ARN)
	if parts := strings.SplitN(c.ARN, ":", 6); len(parts) == 6 {
		with.Set("aws:SourceAccount", parts[4])
	}
	return with
}

// trusted reports whether a trust policy allows a caller all actions. An error says why that cannot be
// decided.
func trusted(trust string, who policy.Caller, with policy.Context, actions ...string) (bool, error) {
	document, err := policy.ReadTrust("its trust policy", []byte(trust))
	if err != nil {
		return false, err
	}
	for _, action := range actions {
		decision, _, err := document.Trusts(who, policy.Call{Action: action, Context: with})
		if err != nil || decision != policy.Allowed {
			return false, err
		}
	}
	return true, nil
}

// lets reports whether a queue's policy lets EventBridge send to it. Conditions of what it allows are taken to hold, such as
// that a certain rule sends; those of what it denies are not.
func lets(document string) bool {
	if document == "" {
		return false
	}
	d, err := policy.Parse("the queue's policy", []byte(document))
	if err != nil {
		return false
	}
	var plain policy.Document
	for _, s := range d.Statements {
		if s.Effect == policy.Deny && len(s.Conditions) > 0 {
			continue
		}
		s.Conditions = nil
		plain.Statements = append(plain.Statements, s)
	}
	decision, _, _ := plain.Trusts(policy.Caller{Sort: policy.PrincipalService, Names: []string{"events.amazonaws.com"}}, policy.Call{Action: "sqs:SendMessage"})
	return decision == policy.Allowed
}
