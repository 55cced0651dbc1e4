package identity

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"slices"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// Enforce has IAM decide on calls that are signed with an access key: by the policies of a role of
// the account, attached ones and its own, as they are at each call. Other keys may do everything
// that Deny did not take, and so may this one again where the role is empty. It is not part of
// what Export writes.
func (s *Identity) Enforce(key, role string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.enforced[key] = role
	if role == "" {
		delete(s.enforced, key)
	}
}

// Attach gives a role of the account a managed policy, which is made for it; the role must be there.
func (s *Identity) Attach(role, name, document string) error {
	if _, err := iampolicy.Read(name, []byte(document)); err != nil {
		return err
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	r := s.Roles[role]
	if r == nil {
		return NoSuchEntity("The role with name", role)
	}
	p := &Policy{ID: s.Settings.UniqueID("ANPA", s.NewID(name)), Name: name, Path: "/", Document: document, CreatedAt: s.Now()}
	arn := s.PolicyARN(p)
	s.Policies[arn] = p
	if !slices.Contains(r.Policies, arn) {
		r.Policies = append(r.Policies, arn)
	}
	return nil
}

// HasPolicies reports whether a role of the account has policies of the account's own, or inline ones.
func (s *Identity) HasPolicies(role string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	r := s.Roles[role]
	return r != nil && (len(r.Inline) > 0 || slices.ContainsFunc(r.Policies, func(arn string) bool { return s.Policies[arn] != nil }))
}

// DocumentsOf are the policies of a role. AWS's own managed ones have documents that allow nothing.
func (s *Identity) DocumentsOf(role string) ([]iampolicy.Document, error) {
	r := s.Roles[role]
	if r == nil {
		return nil, wire.Errorf("InvalidClientTokenId", "The role %s that the access key belongs to is gone.", role).WithStatus(http.StatusForbidden)
	}
	texts := map[string]string{}
	for _, arn := range r.Policies {
		if p := s.Policies[arn]; p != nil {
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

// Authorize decides on all that an action needs, and returns AWS's refusal of the first that the
// caller has no right to. The lock is held.
func (s *Identity) Authorize(who world.Principal, service string, needs []iampolicy.Call) error {
	as := s.CallerOf(who.Key)
	if !as.Decided {
		return nil
	}
	documents, err := s.DocumentsOf(as.Role)
	if err != nil {
		return err
	}
	for _, need := range needs {
		need.Context.Set("aws:RequestedRegion", who.Region)
		need.Context.Set("aws:PrincipalArn", s.Settings.ARN("iam", "", "role/"+as.Role))
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
func (s *Identity) refusal(as Caller, service string, need iampolicy.Call, decision iampolicy.Decision) *wire.Error {
	because := "because no identity-based policy allows the " + need.Action + " action"
	if decision == iampolicy.ExplicitDeny {
		because = "with an explicit deny in an identity-based policy"
	}
	message := fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", as.ARN(s.Settings), need.Action, need.Resource, because)
	switch service {
	case wire.EC2:
		sealed := sha256.Sum256(fmt.Appendf(nil, "%s %d", need.Action, s.Requests.Load()))
		return wire.Errorf("UnauthorizedOperation", "You are not authorized to perform this operation. %s. Encoded authorization failure message: %x", message, sealed).
			WithStatus(http.StatusForbidden)
	case wire.IAM, wire.STS, wire.Scaling, wire.ELB:
		return wire.Errorf("AccessDenied", "%s", message).WithStatus(http.StatusForbidden)
	}
	return wire.Errorf("AccessDeniedException", "%s", message)
}

// Need is one action on one resource, with nothing in its context.
func Need(action, resource string) iampolicy.Call {
	return iampolicy.Call{Action: action, Resource: resource, Context: iampolicy.Context{}}
}

// On is need for a resource that has tags.
func On(action, resource string, has world.Tags) iampolicy.Call {
	n := Need(action, resource)
	n.Context.Tags("aws:ResourceTag", has.AsMap())
	n.Context.Tags("ec2:ResourceTag", has.AsMap())
	return n
}

// Giving is a need that puts tags on its resource.
func Giving(n iampolicy.Call, given world.Tags) iampolicy.Call {
	if len(given) > 0 {
		n.Context.Tags("aws:RequestTag", given.AsMap())
		n.Context.Set("aws:TagKeys", given.Keys()...)
	}
	return n
}

// Making are the needs of an action of EC2 that makes something of a kind, and tags it: "if tags are
// specified in the resource-creating action, Amazon performs additional authorization on the
// ec2:CreateTags action".
func Making(a world.Account, action, kind string, given world.Tags) []iampolicy.Call {
	resource := a.EC2ARN(kind, "*")
	all := []iampolicy.Call{Giving(Need("ec2:"+action, resource), given)}
	if len(given) > 0 {
		tagged := Giving(Need("ec2:CreateTags", resource), given)
		tagged.Context.Set("ec2:CreateAction", action)
		all = append(all, tagged)
	}
	return all
}
