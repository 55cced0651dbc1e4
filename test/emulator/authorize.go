package emulator

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/wire"
)

// Enforce has IAM decide on calls that are signed with an access key: by the policies of a role of
// the account, attached ones and its own, as they are at each call. Other keys may do everything
// that Deny did not take, and so may this one again where the role is empty. It is not part of
// what Export writes.
func (s *Server) Enforce(key, role string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enforced[key] = role
	if role == "" {
		delete(s.enforced, key)
	}
}

// Attach gives a role of the account a managed policy, which is made for it; the role must be there.
func (s *Server) Attach(role, name, document string) error {
	if _, err := iampolicy.Read(name, []byte(document)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.st.Roles[role]
	if r == nil {
		return noSuchEntity("The role with name", role)
	}
	p := &policy{ID: s.st.Account.uniqueID("ANPA", s.st.newID(name)), Name: name, Path: "/", Document: document, CreatedAt: s.now()}
	arn := s.st.policyARN(p)
	s.st.Policies[arn] = p
	if !slices.Contains(r.Policies, arn) {
		r.Policies = append(r.Policies, arn)
	}
	return nil
}

// HasPolicies reports whether a role of the account has policies of the account's own, or inline ones.
func (s *Server) HasPolicies(role string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.st.Roles[role]
	return r != nil && (len(r.Inline) > 0 || slices.ContainsFunc(r.Policies, func(arn string) bool { return s.st.Policies[arn] != nil }))
}

// documentsOf are the policies of a role. AWS's own managed ones have documents that allow nothing.
func (s *Server) documentsOf(role string) ([]iampolicy.Document, error) {
	r := s.st.Roles[role]
	if r == nil {
		return nil, wire.Errorf("InvalidClientTokenId", "The role %s that the access key belongs to is gone.", role).WithStatus(http.StatusForbidden)
	}
	texts := map[string]string{}
	for _, arn := range r.Policies {
		if p := s.st.Policies[arn]; p != nil {
			texts[p.Name] = p.Document
		}
	}
	for name, document := range r.Inline {
		texts[name+" (inline)"] = document
	}
	var all []iampolicy.Document
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		d, known := s.documents[texts[name]]
		if !known {
			var err error
			if d, err = iampolicy.Read(name, []byte(texts[name])); err != nil {
				return nil, fmt.Errorf("the emulator cannot decide by policy %s of role %s: %w", name, role, err)
			}
			s.documents[texts[name]] = d
		}
		all = append(all, d)
	}
	return all, nil
}

// principal is who makes a call, as far as rights are concerned. The zero value may do everything.
type principal struct {
	key, region string
	token       string // sent with temporary credentials
	signed      string // when, as signatures have it
}

// authorize decides on all that an action needs, and returns AWS's refusal of the first that the
// caller has no right to. The lock is held.
func (s *Server) authorize(who principal, service string, needs []iampolicy.Call) error {
	as := s.callerOf(who.key)
	if !as.decided {
		return nil
	}
	documents, err := s.documentsOf(as.role)
	if err != nil {
		return err
	}
	for _, need := range needs {
		need.Context.Set("aws:RequestedRegion", who.region)
		need.Context.Set("aws:PrincipalArn", s.st.Account.arn("iam", "", "role/"+as.role))
		need.Context.Tags("aws:PrincipalTag", as.tags)
		need.Context.Set("aws:SecureTransport", "true")
		decision, _, err := iampolicy.Decide(documents, need)
		if err != nil {
			return err
		}
		if decision != iampolicy.Allowed {
			return s.refusal(as, service, need, decision)
		}
	}
	return nil
}

// refusal is what a service says of a call that the policies do not allow.
func (s *Server) refusal(as caller, service string, need iampolicy.Call, decision iampolicy.Decision) *wire.Error {
	because := "because no identity-based policy allows the " + need.Action + " action"
	if decision == iampolicy.ExplicitDeny {
		because = "with an explicit deny in an identity-based policy"
	}
	message := fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", as.arn(s.st.Account), need.Action, need.Resource, because)
	switch service {
	case wire.EC2:
		sealed := sha256.Sum256(fmt.Appendf(nil, "%s %d", need.Action, s.requests.Load()))
		return wire.Errorf("UnauthorizedOperation", "You are not authorized to perform this operation. %s. Encoded authorization failure message: %x", message, sealed).
			WithStatus(http.StatusForbidden)
	case wire.IAM, wire.STS, wire.Scaling, wire.ELB:
		return wire.Errorf("AccessDenied", "%s", message).WithStatus(http.StatusForbidden)
	}
	return wire.Errorf("AccessDeniedException", "%s", message)
}

// need is one action on one resource, with nothing in its context.
func need(action, resource string) iampolicy.Call {
	return iampolicy.Call{Action: action, Resource: resource, Context: iampolicy.Context{}}
}

// on is need for a resource that has tags.
func on(action, resource string, has tags) iampolicy.Call {
	n := need(action, resource)
	n.Context.Tags("aws:ResourceTag", has.asMap())
	n.Context.Tags("ec2:ResourceTag", has.asMap())
	return n
}

// giving is a need that puts tags on its resource.
func giving(n iampolicy.Call, given tags) iampolicy.Call {
	if len(given) > 0 {
		n.Context.Tags("aws:RequestTag", given.asMap())
		n.Context.Set("aws:TagKeys", given.keys()...)
	}
	return n
}

// making are the needs of an action that makes something of a kind, and tags it: "if tags are
// specified in the resource-creating action, Amazon performs additional authorization on the
// ec2:CreateTags action".
func (s *Server) making(action, kind string, given tags) []iampolicy.Call {
	resource := s.ec2ARN(kind, "*")
	all := []iampolicy.Call{giving(need("ec2:"+action, resource), given)}
	if len(given) > 0 {
		tagged := giving(need("ec2:CreateTags", resource), given)
		tagged.Context.Set("ec2:CreateAction", action)
		all = append(all, tagged)
	}
	return all
}

func (s *Server) ec2ARN(kind, id string) string {
	return s.st.Account.arn("ec2", s.st.Account.Region, kind+"/"+id)
}

// ofCall are the rights that the call itself needs, by its action; what launches need is told by
// ofLaunch. Actions that are not named need one right, on all resources.
func (s *Server) ofCall(c *call) []iampolicy.Call {
	action := c.service + ":" + iamAction(c.action)
	if needs, known := neededBy[c.service+":"+c.action]; known {
		return needs(c, action)
	}
	return []iampolicy.Call{need(action, "*")}
}

// iamAction is the action that is checked: batches of SQS need the right to the single one.
func iamAction(action string) string {
	for _, one := range []string{"DeleteMessage", "SendMessage", "ChangeMessageVisibility"} {
		if action == one+"Batch" {
			return one
		}
	}
	return action
}

// resourceName is the last part of a URL or a path.
func resourceName(text string) string { return text[strings.LastIndex(text, "/")+1:] }
