package iam

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// escapedDocument is a policy document as IAM answers it: "URL-encoded compliant with RFC
// 3986", in which a space is %20 and a plus is a plus.
func escapedDocument(document string) string {
	return strings.ReplaceAll(url.QueryEscape(document), "+", "%20")
}

type policyXML struct {
	Name       string    `xml:"PolicyName"`
	ID         string    `xml:"PolicyId"`
	ARN        string    `xml:"Arn"`
	Path       string    `xml:"Path"`
	Version    string    `xml:"DefaultVersionId"`
	Attached   int       `xml:"AttachmentCount"`
	Attachable bool      `xml:"IsAttachable"`
	CreatedAt  time.Time `xml:"CreateDate"`
}

func (c *call) policyAnswer(p *identity.Policy, arn string) policyXML {
	attached := 0
	for _, r := range c.server.Roles {
		if slices.ContainsFunc(r.Policies, func(have string) bool { return identity.AttachedARN(have) == arn }) {
			attached++
		}
	}
	return policyXML{p.Name, p.ID, arn, p.Path, "v1", attached, true, p.CreatedAt}
}

// onePolicy is the answer of calls that are about one.
type onePolicy struct {
	Policy policyXML `xml:"Policy"`
}

func createPolicy(c *call) (any, error) {
	st, name := c.server, c.Params.String("PolicyName")
	path, err := c.entityPath()
	if err != nil {
		return nil, err
	}
	p := &identity.Policy{ID: st.Settings.UniqueID("ANPA", st.NewID(name)), Name: name, Path: path, Document: c.Params.String("PolicyDocument"), CreatedAt: c.At}
	if err := identity.CheckDocument(p.Document); err != nil {
		return nil, err
	}
	arn := st.PolicyARN(p)
	if st.Policies[arn] != nil {
		return nil, alreadyExists("A policy called", name)
	}
	st.Policies[arn] = p
	return onePolicy{c.policyAnswer(p, arn)}, nil
}

func getPolicy(c *call) (any, error) {
	arn := c.Params.String("PolicyArn")
	p, err := c.server.Policy(arn)
	if err != nil {
		return nil, err
	}
	return onePolicy{c.policyAnswer(p, arn)}, nil
}

// getPolicyVersion knows one version of each: v1.
func getPolicyVersion(c *call) (any, error) {
	p, err := c.server.Policy(c.Params.String("PolicyArn"))
	if err != nil {
		return nil, err
	}
	if v := c.Params.String("VersionId"); v != "v1" {
		return nil, wire.Errorf("NoSuchEntity", "Policy %s version %s does not exist or is not attachable.", c.Params.String("PolicyArn"), v).WithStatus(http.StatusNotFound)
	}
	return struct {
		Version policyVersionXML `xml:"PolicyVersion"`
	}{versionOf(p)}, nil
}

type policyVersionXML struct {
	Document  string    `xml:"Document,omitempty"`
	Version   string    `xml:"VersionId"`
	Default   bool      `xml:"IsDefaultVersion"`
	CreatedAt time.Time `xml:"CreateDate"`
}

func versionOf(p *identity.Policy) policyVersionXML {
	return policyVersionXML{escapedDocument(p.Document), "v1", true, p.CreatedAt}
}

func deletePolicy(c *call) (any, error) {
	arn := c.Params.String("PolicyArn")
	if _, err := c.server.Policy(arn); err != nil {
		return nil, err
	}
	for _, r := range c.server.Roles {
		if slices.Contains(r.Policies, arn) {
			return nil, wire.Errorf("DeleteConflict", "Cannot delete a policy attached to entities.").WithStatus(http.StatusConflict)
		}
	}
	delete(c.server.Policies, arn)
	return nil, nil
}

// changeAttachment serves AttachRolePolicy and DetachRolePolicy.
func changeAttachment(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	arn := c.Params.String("PolicyArn")
	if _, err := c.server.Policy(arn); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.Policies, func(have string) bool { return identity.AttachedARN(have) == arn })
	switch {
	case c.Action == "AttachRolePolicy" && i < 0:
		r.Policies = append(r.Policies, strings.TrimPrefix(arn, identity.AWSPolicies))
	case c.Action == "DetachRolePolicy" && i < 0:
		return nil, wire.Errorf("NoSuchEntity", "Policy %s was not found.", arn).WithStatus(http.StatusNotFound)
	case c.Action == "DetachRolePolicy":
		r.Policies = slices.Delete(r.Policies, i, i+1)
	}
	return nil, nil
}

// putRolePolicy writes a policy into a role.
func putRolePolicy(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	document := c.Params.String("PolicyDocument")
	if err := identity.CheckDocument(document); err != nil {
		return nil, err
	}
	if r.Inline == nil {
		r.Inline = map[string]string{}
	}
	r.Inline[c.Params.String("PolicyName")] = document
	return nil, nil
}

// inlinePolicy serves GetRolePolicy and DeleteRolePolicy.
func inlinePolicy(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	name := c.Params.String("PolicyName")
	document, has := r.Inline[name]
	if !has {
		return nil, wire.Errorf("NoSuchEntity", "The role policy with name %s cannot be found.", name).WithStatus(http.StatusNotFound)
	}
	if c.Action == "DeleteRolePolicy" {
		delete(r.Inline, name)
		return nil, nil
	}
	return struct {
		Role     string `xml:"RoleName"`
		Name     string `xml:"PolicyName"`
		Document string `xml:"PolicyDocument"`
	}{r.Name, name, escapedDocument(document)}, nil
}

func listRolePolicies(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	return struct {
		More  bool     `xml:"IsTruncated"`
		Names []string `xml:"PolicyNames>member"`
	}{false, slices.Sorted(maps.Keys(r.Inline))}, nil
}

type evaluationXML struct {
	Action   string `xml:"EvalActionName"`
	Resource string `xml:"EvalResourceName"`
	Decision string `xml:"EvalDecision"`
}

// simulatePrincipalPolicy tells what calls of a role would meet: what its policies say where they decide on some call of it;
// else all are allowed. What Deny took the right to is denied in any case.
func simulatePrincipalPolicy(c *call) (any, error) {
	st := c.server
	arn, actions := c.Params.String("PolicySourceArn"), c.Params.Strings("ActionNames")
	if !slices.ContainsFunc(slices.Collect(maps.Values(st.Roles)), func(r *identity.Role) bool { return st.RoleARN(r) == arn }) {
		return nil, wire.Errorf("NoSuchEntity", "The entity %s cannot be found: the emulator simulates roles alone.", arn).WithStatus(http.StatusNotFound)
	}
	if len(actions) == 0 {
		return nil, wire.Errorf("InvalidInput", "ActionNames must name an action, such as ec2:CreateFleet")
	}
	resources := c.Params.Strings("ResourceArns")
	if len(resources) == 0 {
		resources = []string{"*"}
	}
	var documents []iampolicy.Document
	name := world.ResourceName(arn)
	enforced := c.server.Decides(name)
	if enforced {
		var err error
		if documents, err = c.server.DocumentsOf(name); err != nil {
			return nil, err
		}
	}
	var answer struct {
		More    bool            `xml:"IsTruncated"`
		Results []evaluationXML `xml:"EvaluationResults>member"`
	}
	for _, full := range actions {
		_, action, whole := strings.Cut(full, ":")
		if !whole {
			return nil, wire.Errorf("InvalidInput", "Action %s must be service:action, such as ec2:CreateFleet", full)
		}
		for _, resource := range resources {
			decision := iampolicy.Allowed
			if enforced {
				var err error
				if decision, _, err = iampolicy.Decide(documents, iampolicy.Call{Action: full, Resource: resource, Context: c.simulated()}); err != nil {
					return nil, err
				}
			}
			if c.server.faults.Denies(action) {
				decision = iampolicy.ImplicitDeny
			}
			answer.Results = append(answer.Results, evaluationXML{full, cmp.Or(resource, "*"), string(decision)})
		}
	}
	return answer, nil
}

// simulated is the context that a simulation is asked for.
func (c *call) simulated() iampolicy.Context {
	context := iampolicy.Context{}
	for _, e := range c.Params.List("ContextEntries") {
		context.Set(e.String("ContextKeyName"), e.Strings("ContextKeyValues")...)
	}
	return context
}
