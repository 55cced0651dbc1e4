package emulator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/wire"
)

// policy is one managed policy of the account.
type policy struct {
	ID, Name, Path, Document string
	CreatedAt                time.Time
}

func (s *state) policyARN(p *policy) string {
	return fmt.Sprintf("arn:aws:iam::%s:policy%s%s", s.Account.ID, p.Path, p.Name)
}

// attachedARN is the ARN of what a role's list of policies names: AWS's own are there by name.
func attachedARN(policy string) string {
	if strings.HasPrefix(policy, "arn:") {
		return policy
	}
	return awsPolicies + policy
}

const awsPolicies = "arn:aws:iam::aws:policy/"

// escapedDocument is a policy document as IAM answers it: "URL-encoded compliant with RFC
// 3986", in which a space is %20 and a plus is a plus.
func escapedDocument(document string) string {
	return strings.ReplaceAll(url.QueryEscape(document), "+", "%20")
}

// policy finds a managed policy by its ARN; AWS's own exist under any name, with a document that allows nothing.
func (s *state) policy(arn string) (*policy, error) {
	if name, own := strings.CutPrefix(arn, awsPolicies); own {
		return &policy{ID: s.Account.uniqueID("ANPA", name), Name: name, Path: "/", Document: `{"Version":"2012-10-17","Statement":[]}`, CreatedAt: s.CreatedAt}, nil
	}
	if p := s.Policies[arn]; p != nil {
		return p, nil
	}
	return nil, wire.Errorf("NoSuchEntity", "Policy %s does not exist or is not attachable.", arn).WithStatus(http.StatusNotFound)
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

func (c *call) policyAnswer(p *policy, arn string) policyXML {
	attached := 0
	for _, r := range c.state().Roles {
		if slices.ContainsFunc(r.Policies, func(have string) bool { return attachedARN(have) == arn }) {
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
	st, name := c.state(), c.params.String("PolicyName")
	path, err := c.entityPath()
	if err != nil {
		return nil, err
	}
	p := &policy{ID: st.Account.uniqueID("ANPA", st.newID(name)), Name: name, Path: path, Document: c.params.String("PolicyDocument"), CreatedAt: c.now}
	if err := checkDocument(p.Document); err != nil {
		return nil, err
	}
	arn := st.policyARN(p)
	if st.Policies[arn] != nil {
		return nil, alreadyExists("A policy called", name)
	}
	st.Policies[arn] = p
	return onePolicy{c.policyAnswer(p, arn)}, nil
}

func checkDocument(document string) error {
	var read map[string]any
	if err := json.Unmarshal([]byte(document), &read); err != nil || read["Statement"] == nil {
		return wire.Errorf("MalformedPolicyDocument", "The policy failed legacy parsing: it is no JSON object with a Statement")
	}
	return nil
}

func getPolicy(c *call) (any, error) {
	arn := c.params.String("PolicyArn")
	p, err := c.state().policy(arn)
	if err != nil {
		return nil, err
	}
	return onePolicy{c.policyAnswer(p, arn)}, nil
}

// getPolicyVersion knows one version of each: v1.
func getPolicyVersion(c *call) (any, error) {
	p, err := c.state().policy(c.params.String("PolicyArn"))
	if err != nil {
		return nil, err
	}
	if v := c.params.String("VersionId"); v != "v1" {
		return nil, wire.Errorf("NoSuchEntity", "Policy %s version %s does not exist or is not attachable.", c.params.String("PolicyArn"), v).WithStatus(http.StatusNotFound)
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

func versionOf(p *policy) policyVersionXML {
	return policyVersionXML{escapedDocument(p.Document), "v1", true, p.CreatedAt}
}

func deletePolicy(c *call) (any, error) {
	arn := c.params.String("PolicyArn")
	if _, err := c.state().policy(arn); err != nil {
		return nil, err
	}
	for _, r := range c.state().Roles {
		if slices.Contains(r.Policies, arn) {
			return nil, wire.Errorf("DeleteConflict", "Cannot delete a policy attached to entities.").WithStatus(http.StatusConflict)
		}
	}
	delete(c.state().Policies, arn)
	return nil, nil
}

// changeAttachment serves AttachRolePolicy and DetachRolePolicy.
func changeAttachment(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	arn := c.params.String("PolicyArn")
	if _, err := c.state().policy(arn); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.Policies, func(have string) bool { return attachedARN(have) == arn })
	switch {
	case c.action == "AttachRolePolicy" && i < 0:
		r.Policies = append(r.Policies, strings.TrimPrefix(arn, awsPolicies))
	case c.action == "DetachRolePolicy" && i < 0:
		return nil, wire.Errorf("NoSuchEntity", "Policy %s was not found.", arn).WithStatus(http.StatusNotFound)
	case c.action == "DetachRolePolicy":
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
	document := c.params.String("PolicyDocument")
	if err := checkDocument(document); err != nil {
		return nil, err
	}
	if r.Inline == nil {
		r.Inline = map[string]string{}
	}
	r.Inline[c.params.String("PolicyName")] = document
	return nil, nil
}

// inlinePolicy serves GetRolePolicy and DeleteRolePolicy.
func inlinePolicy(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	name := c.params.String("PolicyName")
	document, has := r.Inline[name]
	if !has {
		return nil, wire.Errorf("NoSuchEntity", "The role policy with name %s cannot be found.", name).WithStatus(http.StatusNotFound)
	}
	if c.action == "DeleteRolePolicy" {
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
	st := c.state()
	arn, actions := c.params.String("PolicySourceArn"), c.params.Strings("ActionNames")
	if !slices.ContainsFunc(slices.Collect(maps.Values(st.Roles)), func(r *role) bool { return st.roleARN(r) == arn }) {
		return nil, wire.Errorf("NoSuchEntity", "The entity %s cannot be found: the emulator simulates roles alone.", arn).WithStatus(http.StatusNotFound)
	}
	if len(actions) == 0 {
		return nil, wire.Errorf("InvalidInput", "ActionNames must name an action, such as ec2:CreateFleet")
	}
	resources := c.params.Strings("ResourceArns")
	if len(resources) == 0 {
		resources = []string{"*"}
	}
	var documents []iampolicy.Document
	name := resourceName(arn)
	enforced := c.server.decides(name)
	if enforced {
		var err error
		if documents, err = c.server.documentsOf(name); err != nil {
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
			if c.server.denied[action] {
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
	for _, e := range c.params.List("ContextEntries") {
		context.Set(e.String("ContextKeyName"), e.Strings("ContextKeyValues")...)
	}
	return context
}
