// Package rights lists the AWS permissions that the controller needs, writes the IAM policy that
// grants exactly these, and compares policies with them.
//
// It promises to name every action that a policy lacks, every action that it allows without effect,
// and every condition that instances of NodePools do not meet. It makes no calls to AWS.
package rights

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/policy"
)

// Feature is what not every cluster uses, and some rights are for.
type Feature string

// The features.
const (
	InstanceProfiles     Feature = "instance-profiles"
	ImageParameters      Feature = "image-parameters"
	Interruption         Feature = "interruption"
	SharedQueue          Feature = "shared-queue"
	Prices               Feature = "prices"
	Quotas               Feature = "quotas"
	ZonalShift           Feature = "zonal-shift"
	Commitments          Feature = "commitments"
	CapacityReservations Feature = "capacity-reservations"
	PlacementGroups      Feature = "placement-groups"
	Adoption             Feature = "adoption"
)

// features say when each is in use, in the order of Features.
var features = []struct {
	feature Feature
	when    string
}{
	{InstanceProfiles, "for classes that set a role and no instance profile"},
	{ImageParameters, "for images by alias or SSM parameter"},
	{Interruption, "for interruption messages, if a queue is set"},
	{SharedQueue, "for a queue that several clusters share: without it their messages are deleted"},
	{Prices, "for current prices; without it those of the release are used"},
	{Quotas, "for vCPU quotas before a launch exceeds them"},
	{ZonalShift, "if zonal shifts are followed"},
	{Commitments, "if commitments are read from the account"},
	{CapacityReservations, "for classes that select capacity reservations"},
	{PlacementGroups, "for classes that select a placement group"},
	{Adoption, "for nodes that daemok adopt or a migration takes over"},
}

// Features are all features, in the order that documents list them in.
func Features() []Feature {
	var all []Feature
	for _, f := range features {
		all = append(all, f.feature)
	}
	return all
}

// When says when the feature is in use, as "for classes that select a placement group".
func (f Feature) When() string {
	for _, known := range features {
		if known.feature == f {
			return known.when
		}
	}
	return ""
}

// needed are the actions that the controller calls, or that its calls imply, with the features
// any of which needs them; none: every cluster does.
var needed = map[string][]Feature{
	"ec2:CreateFleet": nil, "ec2:CreateLaunchTemplate": nil, "ec2:CreateTags": nil, "ec2:DeleteLaunchTemplate": nil,
	"ec2:DescribeImages": nil, "ec2:DescribeInstances": nil, "ec2:DescribeInstanceStatus": nil, "ec2:DescribeInstanceTypeOfferings": nil,
	"ec2:DescribeInstanceTypes": nil, "ec2:DescribeLaunchTemplates": nil, "ec2:DescribeSecurityGroups": nil,
	"ec2:DescribeSpotPriceHistory": nil, "ec2:DescribeSubnets": nil, "ec2:RunInstances": nil, "ec2:TerminateInstances": nil,
	"ec2:DescribeCapacityReservations": {CapacityReservations, Quotas}, "ec2:DescribePlacementGroups": {PlacementGroups},
	"eks:DescribeCluster": nil, "iam:PassRole": nil,
	"iam:AddRoleToInstanceProfile": {InstanceProfiles}, "iam:CreateInstanceProfile": {InstanceProfiles}, "iam:DeleteInstanceProfile": {InstanceProfiles},
	"iam:GetInstanceProfile": {InstanceProfiles}, "iam:ListInstanceProfiles": {InstanceProfiles},
	"iam:RemoveRoleFromInstanceProfile": {InstanceProfiles}, "iam:TagInstanceProfile": {InstanceProfiles},
	"ssm:GetParameter":    {ImageParameters},
	"pricing:GetProducts": {Prices},
	"sqs:DeleteMessage":   {Interruption}, "sqs:GetQueueUrl": {Interruption}, "sqs:ReceiveMessage": {Interruption}, "sqs:ListQueueTags": {SharedQueue},
	"servicequotas:ListServiceQuotas":    {Quotas},
	"arc-zonal-shift:GetManagedResource": {ZonalShift},
	"ec2:DescribeReservedInstances":      {Commitments}, "savingsplans:DescribeSavingsPlans": {Commitments},
	"savingsplans:DescribeSavingsPlanRates": {Commitments},
}

// Actions are the actions that the controller calls, or that its calls imply, sorted.
func Actions() []string { return slices.Sorted(maps.Keys(needed)) }

// outdated are tags in conditions that instances of NodePools do not meet, and what to name
// in their place.
var outdated = map[string]string{
	"karpenter.sh/provisioner-name": "karpenter.sh/nodepool",
	"karpenter.sh/managed-by":       "eks:eks-cluster-name",
	"karpenter.sh/machine-name":     "karpenter.sh/nodeclaim",
	"Name":                          "karpenter.sh/nodepool, as instances are named after their nodes now",
}

// Policy is an IAM policy's document.
type Policy = policy.Document

// Read reads the document of a policy, which users know by the name.
func Read(name string, document []byte) (Policy, error) { return policy.Parse(name, document) }

// Difference is how policies differ from what is needed.
type Difference struct {
	Missing  []string // actions, with what they are for where not every cluster needs them
	Needless []string // actions that are allowed and never called
	Outdated []string // conditions that instances of NodePools do not meet
}

// Compare compares the policies of one role with what the controller needs, once all
// instances are of NodePools.
func Compare(policies []Policy) Difference {
	var d Difference
	var allow, deny []policy.Statement
	var patterns []string // that are allowed
	for _, p := range policies {
		for i, s := range p.Statements {
			switch {
			case s.Effect != policy.Deny:
				allow = append(allow, s)
				patterns = append(patterns, s.Actions...)
				d.Outdated = append(d.Outdated, outdatedOf(s, p.Name, i)...)
			case len(s.Conditions) == 0:
				deny = append(deny, s)
			}
		}
	}
	for _, action := range Actions() {
		speaks := func(s policy.Statement) bool { return s.SpeaksOf(action) }
		if slices.ContainsFunc(allow, speaks) && !slices.ContainsFunc(deny, speaks) {
			continue
		}
		text := action
		if of := needed[action]; len(of) > 0 {
			text += ", " + of[0].When()
		}
		d.Missing = append(d.Missing, text)
	}
	slices.Sort(patterns)
	for _, pattern := range slices.Compact(patterns) {
		if !slices.ContainsFunc(Actions(), func(a string) bool { return policy.MatchAction(pattern, a) }) {
			d.Needless = append(d.Needless, pattern)
		}
	}
	return d
}

// outdatedOf are the conditions of a statement that name older tags.
func outdatedOf(s policy.Statement, of string, at int) (out []string) {
	for _, c := range s.Conditions {
		_, tag, is := strings.Cut(c.Key, "Tag/")
		if to := outdated[tag]; is && to != "" {
			out = append(out, fmt.Sprintf("%s, statement %s: %s %s: name %s", of, s.Called(at), c.Operator, c.Key, to))
		}
	}
	return out
}
