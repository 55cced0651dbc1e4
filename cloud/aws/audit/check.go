package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/cloud/aws/rights"
)

// State is what is known of a right.
type State string

// The states.
const (
	Allowed State = "allowed"
	Missing State = "missing"
	Unknown State = "unknown" // it could not be tried
)

// Finding is what is known of one action of one statement.
type Finding struct {
	Statement string // its Sid
	Action    string
	State     State
	Resource  string // on which it is missing; empty: none in particular
	Why       string // AWS's words, or why it could not be tried
	Without   string // what fails without it
	Optional  bool   // the controller works on without it
}

// ErrNotSimulated says that the caller may not simulate the role's calls.
var ErrNotSimulated = errors.New("the right iam:SimulatePrincipalPolicy is missing")

// Simulate asks IAM what the policies of a role, by its ARN, say of every statement of the parts:
// one call for each. The resources and the tags that it names are made up as the statements want
// them. It is ErrNotSimulated where the caller has no right to that.
//
// IAM takes boundaries and policies of organizations into account as far as it can for the caller;
// policies of resources, such as a queue's, are not part of the answer.
func (a *Auditor) Simulate(ctx context.Context, role string, parts []rights.Part, account string) ([]Finding, error) {
	var all []Finding
	for _, p := range parts {
		for _, g := range p.Grants {
			found, err := a.simulate(ctx, role, g, account)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

func (a *Auditor) simulate(ctx context.Context, role string, g rights.Grant, account string) ([]Finding, error) {
	in := &iam.SimulatePrincipalPolicyInput{PolicySourceArn: &role, ActionNames: g.Actions, ContextEntries: contextOf(g.Statement)}
	for _, r := range g.Resources {
		if r != "*" {
			in.ResourceArns = append(in.ResourceArns, example(r, account))
		}
	}
	missing := map[string]types.EvaluationResult{}
	pages := iam.NewSimulatePrincipalPolicyPaginator(a.clients.IAM, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if fault.Denied(err) {
			return nil, fmt.Errorf("%w: %s", ErrNotSimulated, fault.Message(err))
		}
		if err != nil {
			return nil, fmt.Errorf("simulate calls of role %s: %w", role, fault.Wrap("iam:SimulatePrincipalPolicy", err))
		}
		for _, r := range page.EvaluationResults {
			action := aws.ToString(r.EvalActionName)
			if _, there := missing[action]; !there && r.EvalDecision != types.PolicyEvaluationDecisionTypeAllowed {
				missing[action] = r
			}
		}
	}
	var all []Finding
	for _, action := range g.Actions {
		f := finding(g, action, Allowed, "")
		if r, is := missing[action]; is {
			f = finding(g, action, Missing, inWords(r.EvalDecision))
			if on := aws.ToString(r.EvalResourceName); on != "*" {
				f.Resource = on
			}
		}
		all = append(all, f)
	}
	return all, nil
}

func finding(g rights.Grant, action string, state State, why string) Finding {
	loss := g.Lacking(action)
	return Finding{Statement: g.Sid, Action: action, State: state, Why: why, Without: loss.Without, Optional: loss.Optional}
}

func inWords(decision types.PolicyEvaluationDecisionType) string {
	if decision == types.PolicyEvaluationDecisionTypeExplicitDeny {
		return "a policy denies it"
	}
	return "no policy of the role allows it"
}

// contextOf is what a call has that meets the conditions of a statement.
func contextOf(s policy.Statement) (all []types.ContextEntry) {
	for _, c := range s.Conditions {
		entry := types.ContextEntry{ContextKeyName: aws.String(c.Key), ContextKeyType: types.ContextKeyTypeEnumString, ContextKeyValues: slices.Clone(c.Values)}
		switch {
		case strings.HasPrefix(c.Operator, "ForAllValues:"):
			entry.ContextKeyType = types.ContextKeyTypeEnumStringList
		case c.Operator == "StringLike":
			entry.ContextKeyValues = []string{"example"}
		default:
			entry.ContextKeyValues = entry.ContextKeyValues[:1]
		}
		all = append(all, entry)
	}
	return all
}

// example is a resource that an ARN with wildcards means.
func example(arn, account string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) == 6 && parts[4] == "*" {
		parts[4] = account
	}
	return strings.ReplaceAll(strings.Join(parts, ":"), "*", "example")
}
