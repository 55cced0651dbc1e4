package rights

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/policy"
)

// Scope is the cluster that the rights are for, and what for. Its texts may be a template's
// placeholders.
type Scope struct {
	Partition  string   // aws, aws-cn or aws-us-gov
	Account    string   // 12 digits
	Region     string   // of the cluster
	Cluster    string   // its name in EKS
	NodeRoles  []string // ARNs of the roles that nodes have
	Queue      string   // ARN of the interruption queue; empty: none
	Parameters []string // ARNs of SSM parameters that classes name, beside those of AWS
	TagKeys    []string // of classes' own tags, which adopted instances get
	Features   []Feature
}

// Grant is one statement, and why it is there.
type Grant struct {
	policy.Statement
	For      string    // what the controller does by it
	Without  string    // what fails where it is missing
	Optional bool      // the controller works on without it, less well
	of       []Feature // any of which needs it; none: every cluster does
}

// Required reports whether every cluster needs the grant.
func (g Grant) Required() bool { return len(g.of) == 0 }

// When says which features need the grant, as "for classes that select a placement group"; empty
// where every cluster does.
func (g Grant) When() string {
	var all []string
	for _, f := range g.of {
		all = append(all, f.When())
	}
	return strings.Join(all, "; ")
}

// Part is one managed policy's worth of grants: all together are too long for one.
type Part struct {
	Name   string // such as NodeLifecycle
	Grants []Grant
}

// Document is the part as a policy.
func (p Part) Document() policy.Document {
	d := policy.Document{Name: p.Name}
	for _, g := range p.Grants {
		d.Statements = append(d.Statements, g.Statement)
	}
	return d
}

// Whole is one policy with the statements of all parts.
func Whole(parts []Part) policy.Document {
	d := policy.Document{Name: "controller"}
	for _, p := range parts {
		d.Statements = append(d.Statements, p.Document().Statements...)
	}
	return d
}

// AWS's limits of characters, white space not counted.
const (
	ManagedMax = 6144  // of one managed policy
	InlineMax  = 10240 // of all policies written into one role
)

// Parts are the rights that a cluster with these features needs, and no others, as policies. A
// part of which no feature is in use is left out. The order is always the same.
func Parts(s Scope) []Part {
	all := []Part{
		{"NodeLifecycle", s.nodeLifecycle()},
		{"IAMIntegration", s.iamIntegration()},
		{"EKSIntegration", s.eksIntegration()},
		{"Interruption", s.interruption()},
		{"ZonalShift", s.zonalShift()},
		{"Commitments", s.commitments()},
		{"ResourceDiscovery", s.resourceDiscovery()},
		{"Adoption", s.adoption()},
	}
	for i := range all {
		for k := range all[i].Grants {
			g := &all[i].Grants[k]
			g.of = append(g.of, featuresOf(g.Actions)...)
		}
		all[i].Grants = slices.DeleteFunc(all[i].Grants, func(g Grant) bool {
			return len(g.of) > 0 && !slices.ContainsFunc(g.of, s.has) || len(g.Actions) == 0 || len(g.Resources) == 0
		})
	}
	return slices.DeleteFunc(all, func(p Part) bool { return len(p.Grants) == 0 })
}

// featuresOf are the features that need any of the actions; none where every cluster needs one of them.
func featuresOf(actions []string) (all []Feature) {
	for _, action := range actions {
		of := needed[action]
		if len(of) == 0 {
			return nil
		}
		for _, f := range of {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

func (s Scope) has(f Feature) bool { return slices.Contains(s.Features, f) }

// used are those of the actions that the features in use need.
func (s Scope) used(actions ...string) []string {
	return slices.DeleteFunc(actions, func(action string) bool {
		of := needed[action]
		return len(of) > 0 && !slices.ContainsFunc(of, s.has)
	})
}

// arn names a resource of the cluster's account and region.
func (s Scope) arn(service, resource string) string {
	return fmt.Sprintf("arn:%s:%s:%s:%s:%s", s.Partition, service, s.Region, s.Account, resource)
}

// ec2 names resources of the region, whichever account has them: subnets are often shared.
func (s Scope) ec2(kinds ...string) (all []string) {
	for _, kind := range kinds {
		all = append(all, fmt.Sprintf("arn:%s:ec2:%s:*:%s/*", s.Partition, s.Region, kind))
	}
	return all
}

// ofAmazon names resources whose ARNs hold no account.
func (s Scope) ofAmazon(service string, resources ...string) (all []string) {
	for _, r := range resources {
		all = append(all, fmt.Sprintf("arn:%s:%s:%s::%s", s.Partition, service, s.Region, r))
	}
	return all
}

func (s Scope) profiles() []string {
	return []string{fmt.Sprintf("arn:%s:iam::%s:instance-profile/*", s.Partition, s.Account)}
}

// Tags in conditions.
const (
	ofRequest  = "aws:RequestTag/"
	ofResource = "aws:ResourceTag/"

	tagPool   = "karpenter.sh/nodepool"
	tagClaim  = "karpenter.sh/nodeclaim"
	tagClass  = "karpenter.k8s.aws/ec2nodeclass"
	tagEKS    = "eks:eks-cluster-name"
	tagRegion = "topology.kubernetes.io/region"
	tagName   = "Name"
)

func equals(key string, values ...string) policy.Condition {
	return policy.Condition{Operator: "StringEquals", Key: key, Values: values}
}

// present wants a key to be there, with any value.
func present(key string) policy.Condition {
	return policy.Condition{Operator: "StringLike", Key: key, Values: []string{"*"}}
}

// owned wants the tag that says whose something is; of is ofRequest or ofResource.
func (s Scope) owned(of string) policy.Condition {
	return equals(of+"kubernetes.io/cluster/"+s.Cluster, "owned")
}

func allow(sid string, actions, resources []string, conditions ...policy.Condition) policy.Statement {
	return policy.Statement{Sid: sid, Effect: policy.Allow, Actions: actions, Resources: resources, Conditions: conditions}
}

// nodeLifecycle are the rights to launch, tag and terminate instances.
func (s Scope) nodeLifecycle() []Grant {
	shared := append(s.ofAmazon("ec2", "image/*", "snapshot/*"), s.ec2("security-group", "subnet")...)
	if s.has(CapacityReservations) {
		shared = append(shared, s.ec2("capacity-reservation")...)
	}
	if s.has(PlacementGroups) {
		shared = append(shared, s.ec2("placement-group")...)
	}
	made := s.ec2("fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request")
	tagged := []policy.Condition{s.owned(ofRequest), equals(ofRequest+tagEKS, s.Cluster), present(ofRequest + tagPool)}
	ours := []policy.Condition{s.owned(ofResource), present(ofResource + tagPool)}
	return []Grant{
		{Statement: allow("LaunchInSharedResources", s.used("ec2:RunInstances", "ec2:CreateFleet"), shared),
			For:     "uses images, snapshots, security groups, subnets, capacity reservations and placement groups in launches",
			Without: "no instance launches: EC2NodeClasses are not Ready, with CreateFleetAuthCheckFailed or RunInstancesAuthCheckFailed"},
		{Statement: allow("LaunchFromOwnTemplates", s.used("ec2:RunInstances", "ec2:CreateFleet"), s.ec2("launch-template"), ours...),
			For:     "launches instances from launch templates that it created for this cluster",
			Without: "no instance launches: NodeClaims have Launched false, with UnauthorizedOperation of ec2:RunInstances on launch-template"},
		{Statement: allow("LaunchTagged", s.used("ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"), made, tagged...),
			For:     "creates instances, their volumes and network interfaces, fleets, spot requests and launch templates, all tagged as this cluster's",
			Without: "no instance launches: EC2NodeClasses are not Ready, with CreateLaunchTemplateAuthCheckFailed"},
		{Statement: allow("TagAtLaunch", s.used("ec2:CreateTags"), made,
			slices.Concat(tagged, []policy.Condition{equals("ec2:CreateAction", "RunInstances", "CreateFleet", "CreateLaunchTemplate")})...),
			For:     "tags what it creates, in the same call",
			Without: "no instance launches: EC2 refuses calls that tag what they create"},
		{Statement: allow("TagInstances", s.used("ec2:CreateTags"), s.ec2("instance"), slices.Concat(ours, []policy.Condition{
			{Operator: "StringEqualsIfExists", Key: ofRequest + tagEKS, Values: []string{s.Cluster}},
			{Operator: "ForAllValues:StringEquals", Key: "aws:TagKeys", Values: []string{tagEKS, tagClaim, tagName}}})...),
			Optional: true,
			For:      "tags instances with the names of their nodes and NodeClaims once they have joined",
			Without:  "instances stay without the tags Name and karpenter.sh/nodeclaim, and the log repeats the refusal; nodes work"},
		{Statement: allow("EndOwned", s.used("ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"), s.ec2("instance", "launch-template"), ours...),
			For:     "terminates this cluster's instances, and deletes launch templates that are no longer used",
			Without: "nodes are drained, but their instances keep running and cost money; NodeClaims stay in deletion"},
	}
}

// iamIntegration are the rights to hand nodes their role, and to keep instance profiles of it.
func (s Scope) iamIntegration() []Grant {
	requested := []policy.Condition{s.owned(ofRequest), equals(ofRequest+tagEKS, s.Cluster), equals(ofRequest+tagRegion, s.Region), present(ofRequest + tagClass)}
	existing := []policy.Condition{s.owned(ofResource), equals(ofResource+tagRegion, s.Region), present(ofResource + tagClass)}
	return []Grant{
		{Statement: allow("PassNodeRole", s.used("iam:PassRole"), s.NodeRoles, equals("iam:PassedToService", "ec2.amazonaws.com", "ec2.amazonaws.com.cn")),
			For:     "gives instances the role of the nodes",
			Without: "no instance launches: EC2 refuses launches with an instance profile, and IAM refuses to add the role to a profile"},
		{Statement: allow("MakeInstanceProfiles", s.used("iam:CreateInstanceProfile"), s.profiles(), requested...),
			For:     "creates an instance profile for each EC2NodeClass that sets a role",
			Without: "such an EC2NodeClass is not Ready: InstanceProfileReady is false; set a profile of your own in spec.instanceProfile"},
		{Statement: allow("TagInstanceProfiles", s.used("iam:TagInstanceProfile"), s.profiles(), slices.Concat(existing, requested)...),
			For:     "tags such profiles as this cluster's",
			Without: "as without MakeInstanceProfiles, if IAM requires this action to create profiles with tags; the message names iam:TagInstanceProfile"},
		{Statement: allow("ChangeInstanceProfiles", s.used("iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"), s.profiles(), existing...),
			For:     "adds the role to such profiles, follows changes of spec.role, and deletes profiles that are no longer used",
			Without: "EC2NodeClasses that set a role are not Ready, and stay in deletion"},
	}
}

func (s Scope) eksIntegration() []Grant {
	return []Grant{{Statement: allow("DescribeCluster", s.used("eks:DescribeCluster"), []string{s.arn("eks", "cluster/"+s.Cluster)}),
		For: "reads the cluster's endpoint, certificate authority, service network and version",
		Without: "the controller does not start, unless CLUSTER_ENDPOINT and CLUSTER_CA_BUNDLE are set; AL2023 nodes cannot be configured without the " +
			"service network"}}
}

func (s Scope) interruption() []Grant {
	if s.Queue == "" {
		return nil
	}
	return []Grant{
		{Statement: allow("ReadInterruptionQueue", s.used("sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"), []string{s.Queue}),
			For:     "reads spot interruptions, rebalance recommendations, health events and state changes from the queue",
			Without: "nodes are not drained before AWS terminates their instances: pods are lost instead of moved"},
		{Statement: allow("ReadQueueTags", s.used("sqs:ListQueueTags"), []string{s.Queue}),
			Optional: true,
			For:      "finds out from the queue's tags whether other clusters also read it",
			Without:  "the queue counts as this cluster's alone, and messages about other clusters' instances are deleted"},
	}
}

func (s Scope) zonalShift() []Grant {
	cluster := s.arn("eks", "cluster/"+s.Cluster)
	return []Grant{{Statement: allow("ReadZonalShifts", s.used("arc-zonal-shift:GetManagedResource"), []string{"*"}, equals("arc-zonal-shift:ResourceIdentifier", cluster)),
		Optional: true,
		For:      "follows the cluster's zonal shifts and autoshifts, with --enable-zonal-shift",
		Without:  "nodes are launched in a zone that traffic is shifted away from"}}
}

// commitments are the rights to read Reserved Instances and Savings Plans. Savings Plans are of no Region, and are
// asked for where their one endpoint is.
func (s Scope) commitments() []Grant {
	return []Grant{
		{Statement: allow("ReadReservedInstances", s.used("ec2:DescribeReservedInstances"), []string{"*"},
			equals("aws:RequestedRegion", s.Region)),
			Optional: true,
			For:      "reads the Reserved Instances of the account, with --account-commitments",
			Without:  "plans know no Reserved Instances but those that ConfigMap daemok-commitments lists"},
		{Statement: allow("ReadSavingsPlans",
			s.used("savingsplans:DescribeSavingsPlanRates", "savingsplans:DescribeSavingsPlans"), []string{"*"}),
			Optional: true,
			For:      "reads the Savings Plans of the account and their rates, with --account-commitments",
			Without:  "plans know no Savings Plans but those that ConfigMap daemok-commitments lists"},
	}
}

// resourceDiscovery are the rights to read.
func (s Scope) resourceDiscovery() []Grant {
	reads := s.used("ec2:DescribeCapacityReservations", "ec2:DescribeImages", "ec2:DescribeInstances", "ec2:DescribeInstanceStatus", "ec2:DescribeInstanceTypeOfferings",
		"ec2:DescribeInstanceTypes", "ec2:DescribeLaunchTemplates", "ec2:DescribePlacementGroups", "ec2:DescribeSecurityGroups", "ec2:DescribeSpotPriceHistory", "ec2:DescribeSubnets")
	return []Grant{
		{Statement: allow("ReadEC2", reads, []string{"*"}, equals("aws:RequestedRegion", s.Region)),
			For: "finds images, subnets, security groups, instance types, spot prices, reservations, placement groups, and its own instances",
			Without: "the controller does not start without ec2:DescribeInstanceTypes; an EC2NodeClass is not Ready if its images, subnets, security groups, " +
				"reservations or placement group cannot be read"},
		{Statement: allow("ReadImageParameters", s.used("ssm:GetParameter"), append(s.ofAmazon("ssm", "parameter/aws/service/*"), s.Parameters...)),
			For:     "finds images by alias, such as al2023@latest, and by SSM parameter",
			Without: "EC2NodeClasses with an alias or an ssmParameter are not Ready: AMIsReady is false"},
		{Statement: allow("ReadPrices", s.used("pricing:GetProducts"), []string{"*"}),
			Optional: true,
			For:      "reads on-demand prices from AWS's price list",
			Without:  "the built-in prices of the release are used, and newer instance types are not"},
		{Statement: allow("ListInstanceProfiles", s.used("iam:ListInstanceProfiles"), []string{"*"}),
			Optional: true,
			For:      "finds instance profiles that it created and that are no longer used",
			Without:  "such profiles stay, and EC2NodeClasses that set a role stay in deletion"},
		{Statement: allow("ReadInstanceProfiles", s.used("iam:GetInstanceProfile"), s.profiles()),
			For:     "checks that an instance profile exists and has its role",
			Without: "EC2NodeClasses that set a role are not Ready: InstanceProfileReady is false"},
		{Statement: allow("ReadQuotas", s.used("servicequotas:ListServiceQuotas"), []string{"*"}),
			Optional: true,
			For:      "reads the account's vCPU quotas, so that no plan exceeds them",
			Without:  "the controller learns a quota only when a launch fails with VcpuLimitExceeded; then it tries another type"},
	}
}

// adoption is the right to tag instances that another controller launched for the cluster.
func (s Scope) adoption() []Grant {
	return []Grant{{Statement: allow("TagAdoptedInstances", s.used("ec2:CreateTags"), s.ec2("instance"),
		s.owned(ofResource),
		policy.Condition{Operator: "StringEqualsIfExists", Key: ofRequest + tagEKS, Values: []string{s.Cluster}},
		policy.Condition{Operator: "ForAllValues:StringLike", Key: "aws:TagKeys", Values: slices.Concat(
			[]string{tagEKS, "kubernetes.io/cluster/" + s.Cluster, "karpenter.sh/*", tagClass, "daemok.sh/cluster-uid", tagName}, s.TagKeys)}),
		of:      []Feature{Adoption},
		For:     "tags instances as its own that have the cluster's tag and no NodePool's, for daemok adopt and migrations",
		Without: "adopted instances lack the tags that mark them as the cluster's, and cannot be terminated: event NotTagged"}}
}
