// Package rights says which rights at AWS the controller needs, and compares IAM policies
// with them.
//
// It promises to name every action that a policy lacks, every action that it allows in vain, and
// every condition that machines of NodePools do not meet. It does not tell whether a policy allows
// enough resources, and asks nothing of AWS.
package rights

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// need is why the controller needs an action; empty: always.
type need string

// Needs that not every cluster has.
const (
	always   need = ""
	byRole   need = "for classes that name a role, and no instance profile"
	byAlias  need = "for images by alias or parameter"
	byNotice need = "for notices of interruptions, where a queue is named"
	byPrice  need = "for prices of today; without it those of the release hold"
	byShared need = "for a queue that several clusters share: without it their messages are deleted"
	byQuota  need = "for limits of vCPUs before a launch meets them"
	byShift  need = "where zonal shifts are followed"
	byStocks need = "for classes that select capacity reservations"
	byGroups need = "for classes that select a placement group"
)

// needed are the actions that the controller calls, or that its calls imply.
var needed = map[string]need{
	"ec2:CreateFleet": always, "ec2:CreateLaunchTemplate": always, "ec2:CreateTags": always, "ec2:DeleteLaunchTemplate": always,
	"ec2:DescribeImages": always, "ec2:DescribeInstances": always, "ec2:DescribeInstanceStatus": always, "ec2:DescribeInstanceTypeOfferings": always,
	"ec2:DescribeInstanceTypes": always, "ec2:DescribeLaunchTemplates": always, "ec2:DescribeSecurityGroups": always,
	"ec2:DescribeSpotPriceHistory": always, "ec2:DescribeSubnets": always, "ec2:RunInstances": always, "ec2:TerminateInstances": always,
	"ec2:DescribeCapacityReservations": byStocks, "ec2:DescribePlacementGroups": byGroups,
	"eks:DescribeCluster": always, "iam:PassRole": always,
	"iam:AddRoleToInstanceProfile": byRole, "iam:CreateInstanceProfile": byRole, "iam:DeleteInstanceProfile": byRole, "iam:GetInstanceProfile": byRole,
	"iam:ListInstanceProfiles": byRole, "iam:RemoveRoleFromInstanceProfile": byRole, "iam:TagInstanceProfile": byRole,
	"ssm:GetParameter":    byAlias,
	"pricing:GetProducts": byPrice,
	"sqs:DeleteMessage":   byNotice, "sqs:GetQueueUrl": byNotice, "sqs:ReceiveMessage": byNotice, "sqs:ListQueueTags": byShared,
	"servicequotas:ListServiceQuotas":    byQuota,
	"arc-zonal-shift:GetManagedResource": byShift,
}

// outdated are tags in conditions that machines of NodePools do not meet, and what to
// name in their place.
var outdated = map[string]string{
	"karpenter.sh/provisioner-name": "karpenter.sh/nodepool",
	"karpenter.sh/managed-by":       "eks:eks-cluster-name",
	"karpenter.sh/machine-name":     "karpenter.sh/nodeclaim",
	"Name":                          "karpenter.sh/nodepool, as machines are called after their nodes now",
}

// oneOrMore is a value that may stand alone in place of a list.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(o))
}

// statements may be one that stands alone in place of a list.
type statements []statement

func (s *statements) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		*s = make(statements, 1)
		return json.Unmarshal(data, &(*s)[0])
	}
	return json.Unmarshal(data, (*[]statement)(s))
}

type statement struct {
	Sid, Effect       string
	Action, NotAction oneOrMore
	Condition         map[string]map[string]any
}

// Policy is an IAM policy's document.
type Policy struct {
	name       string
	statements statements
}

// Read reads the document of a policy, which users know by the name.
func Read(name string, document []byte) (Policy, error) {
	var p struct{ Statement statements }
	if err := json.Unmarshal(document, &p); err != nil {
		return Policy{}, fmt.Errorf("%s is no IAM policy in JSON: %w", name, err)
	}
	if len(p.Statement) == 0 {
		return Policy{}, fmt.Errorf("%s has no Statement: give the document of an IAM policy, such as aws iam get-policy-version prints under Document", name)
	}
	return Policy{name, p.Statement}, nil
}

// Difference is how policies differ from what is needed.
type Difference struct {
	Missing  []string // actions, with what they are for where not every cluster needs them
	Needless []string // actions that are allowed and never called
	Outdated []string // conditions that machines of NodePools do not meet
}

// Compare compares the policies of one role with what the controller needs, once all
// machines are of NodePools.
func Compare(policies []Policy) Difference {
	var d Difference
	var allow, deny statements
	var patterns []string // that are allowed
	for _, p := range policies {
		for i, s := range p.statements {
			switch {
			case s.Effect != "Deny":
				allow = append(allow, s)
				patterns = append(patterns, s.Action...)
				d.Outdated = append(d.Outdated, s.outdated(p.name, i)...)
			case len(s.Condition) == 0:
				deny = append(deny, s)
			}
		}
	}
	for _, action := range slices.Sorted(maps.Keys(needed)) {
		if allow.speakOf(action) && !deny.speakOf(action) {
			continue
		}
		text := action
		if why := needed[action]; why != always {
			text += ", " + string(why)
		}
		d.Missing = append(d.Missing, text)
	}
	slices.Sort(patterns)
	for _, pattern := range slices.Compact(patterns) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(needed)), func(a string) bool { return matches(pattern, a) }) {
			d.Needless = append(d.Needless, pattern)
		}
	}
	return d
}

// speakOf reports whether one of the statements means an action: it names it, or all but
// others.
func (s statements) speakOf(action string) bool {
	means := func(p string) bool { return matches(p, action) }
	return slices.ContainsFunc(s, func(one statement) bool {
		return slices.ContainsFunc(one.Action, means) || len(one.NotAction) > 0 && !slices.ContainsFunc(one.NotAction, means)
	})
}

// matches reports whether a pattern with * and ? means an action; neither minds case.
func matches(pattern, action string) bool {
	is, err := path.Match(strings.ToLower(strings.ReplaceAll(pattern, "[", `\[`)), strings.ToLower(action))
	return err == nil && is // actions have no slash, which * would not match
}

// outdated are the conditions of a statement that name older tags.
func (s *statement) outdated(policy string, i int) (out []string) {
	called := s.Sid
	if called == "" {
		called = fmt.Sprintf("number %d", i+1)
	}
	for _, operator := range slices.Sorted(maps.Keys(s.Condition)) {
		for _, key := range slices.Sorted(maps.Keys(s.Condition[operator])) {
			_, tag, is := strings.Cut(key, "Tag/")
			if to := outdated[tag]; is && to != "" {
				out = append(out, fmt.Sprintf("%s, statement %s: %s %s: name %s", policy, called, operator, key, to))
			}
		}
	}
	return out
}
