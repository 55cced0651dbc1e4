package audit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// Cluster is what EKS says of a cluster.
type Cluster struct {
	ARN      string
	Version  string // "1.36"
	Issuer   string // URL of its OIDC issuer; empty: it has none
	Entries  bool   // access entries count
	AuthMap  bool   // the ConfigMap aws-auth counts
	AutoMode bool   // EKS launches nodes by itself
}

// Cluster asks EKS for a cluster.
func (a *Auditor) Cluster(ctx context.Context, name string) (Cluster, error) {
	out, err := a.clients.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &name})
	if err != nil {
		return Cluster{}, asked("eks:DescribeCluster", err)
	}
	c := Cluster{ARN: aws.ToString(out.Cluster.Arn), Version: aws.ToString(out.Cluster.Version), AuthMap: true}
	if i := out.Cluster.Identity; i != nil && i.Oidc != nil {
		c.Issuer = aws.ToString(i.Oidc.Issuer)
	}
	if access := out.Cluster.AccessConfig; access != nil {
		mode := string(access.AuthenticationMode)
		c.Entries, c.AuthMap = strings.HasPrefix(mode, "API"), mode != "API"
	}
	if auto := out.Cluster.ComputeConfig; auto != nil {
		c.AutoMode = aws.ToBool(auto.Enabled)
	}
	return c, nil
}

// AccessEntry is the type of a role's access entry, such as EC2_LINUX; empty: it has
// none.
func (a *Auditor) AccessEntry(ctx context.Context, cluster, role string) (kind string, err error) {
	out, err := a.clients.EKS.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: &cluster, PrincipalArn: &role})
	if isAnswer(err, "ResourceNotFoundException") {
		return "", nil
	}
	if err != nil {
		return "", asked("eks:DescribeAccessEntry", err)
	}
	return aws.ToString(out.AccessEntry.Type), nil
}

// PodIdentity is the ARN of the role that EKS Pod Identity gives a service account; empty: none.
func (a *Auditor) PodIdentity(ctx context.Context, cluster, namespace, account string) (role string, err error) {
	listed, err := a.clients.EKS.ListPodIdentityAssociations(ctx, &eks.ListPodIdentityAssociationsInput{
		ClusterName: &cluster, Namespace: &namespace, ServiceAccount: &account})
	if err != nil {
		return "", asked("eks:ListPodIdentityAssociations", err)
	}
	if len(listed.Associations) == 0 { // a service account has one at the most
		return "", nil
	}
	out, err := a.clients.EKS.DescribePodIdentityAssociation(ctx, &eks.DescribePodIdentityAssociationInput{
		ClusterName: &cluster, AssociationId: listed.Associations[0].AssociationId})
	if err != nil {
		return "", asked("eks:DescribePodIdentityAssociation", err)
	}
	return aws.ToString(out.Association.RoleArn), nil
}

// Role is who may assume a role of that name, as its JSON document; found is false where
// there is none.
func (a *Auditor) Role(ctx context.Context, name string) (trust string, found bool, err error) {
	out, err := a.clients.IAM.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if isAnswer(err, "NoSuchEntity") || isAnswer(err, "NoSuchEntityException") {
		return "", false, nil
	}
	if err != nil {
		return "", false, asked("iam:GetRole", err)
	}
	trust, err = url.QueryUnescape(aws.ToString(out.Role.AssumeRolePolicyDocument))
	if err != nil {
		return "", true, fmt.Errorf("read who may assume role %s: %w", name, err)
	}
	return trust, true, nil
}

// Provider returns the audiences that tokens of an OIDC provider of IAM are for; found is false where the account has
// none of that ARN.
func (a *Auditor) Provider(ctx context.Context, arn string) (audiences []string, found bool, err error) {
	out, err := a.clients.IAM.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn})
	if isAnswer(err, "NoSuchEntity") || isAnswer(err, "NoSuchEntityException") {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, asked("iam:GetOpenIDConnectProvider", err)
	}
	return out.ClientIDList, true, nil
}

// Queue is what SQS says of a queue.
type Queue struct {
	ARN       string
	Policy    string // who may send, as its JSON document; empty: the account alone
	Encrypted bool
}

// Queue asks SQS for a queue; found is false where there is none in this region.
func (a *Auditor) Queue(ctx context.Context, name string) (q Queue, found bool, err error) {
	at, err := a.clients.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if isAnswer(err, "QueueDoesNotExist") || isAnswer(err, "AWS.SimpleQueueService.NonExistentQueue") {
		return Queue{}, false, nil
	}
	if err != nil {
		return Queue{}, false, asked("sqs:GetQueueUrl", err)
	}
	out, err := a.clients.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: at.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll}})
	if err != nil {
		return Queue{}, true, asked("sqs:GetQueueAttributes", err)
	}
	says := out.Attributes
	return Queue{ARN: says["QueueArn"], Policy: says["Policy"], Encrypted: says["SqsManagedSseEnabled"] == "true" || says["KmsMasterKeyId"] != ""}, true, nil
}

// Sources are what the rules of EventBridge that send to a queue choose, as their patterns say:
// a JSON document for each rule that is not turned off.
func (a *Auditor) Sources(ctx context.Context, queueARN string) (patterns []string, err error) {
	named, err := a.clients.Events.ListRuleNamesByTarget(ctx, &eventbridge.ListRuleNamesByTargetInput{TargetArn: &queueARN})
	if err != nil {
		return nil, asked("events:ListRuleNamesByTarget", err)
	}
	for _, name := range named.RuleNames {
		rule, err := a.clients.Events.DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: &name})
		if err != nil {
			return nil, asked("events:DescribeRule", err)
		}
		if rule.State == eventtypes.RuleStateEnabled {
			patterns = append(patterns, aws.ToString(rule.EventPattern))
		}
	}
	return patterns, nil
}

// isAnswer reports whether AWS answered with the error code.
func isAnswer(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}
