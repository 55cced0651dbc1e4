package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Sorts of principals, as the element Principal names them.
const (
	PrincipalAWS       = "AWS"
	PrincipalService   = "Service"
	PrincipalFederated = "Federated"
)

// Caller is who asks for a role, as trust policies name it.
type Caller struct {
	Sort  string   // PrincipalAWS, PrincipalService or PrincipalFederated
	Names []string // any by which a policy may mean it: a role's ARN and its account, a service, a provider's ARN
}

// ReadTrust reads a trust policy: a role's, which says who may assume it. It refuses, in IAM's words where
// IAM refuses it, what is none, and what Trusts could not decide on.
func ReadTrust(name string, document []byte) (Document, error) {
	d, err := Parse(name, document)
	if err != nil {
		return Document{}, err
	}
	var others struct{ Statement others }
	if err := json.Unmarshal(document, &others); err != nil {
		return Document{}, fmt.Errorf("%s is no IAM policy in JSON: %w", name, err)
	}
	for i, s := range d.Statements {
		err := s.checkTrust()
		if others.Statement[i].NotPrincipal != nil {
			err = fmt.Errorf("NotPrincipal is not known here: name who is meant under Principal") //nolint:staticcheck // the member's name
		}
		if err != nil {
			return Document{}, fmt.Errorf("%s, statement %s: %w", name, s.Called(i), err)
		}
	}
	return d, nil
}

// others are statements by what values of Statement do not keep; one may stand alone.
type others []struct{ NotPrincipal any }

// UnmarshalJSON implements json.Unmarshaler.
func (o *others) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		*o = make(others, 1)
		return json.Unmarshal(data, &(*o)[0])
	}
	type plain others
	return json.Unmarshal(data, (*plain)(o))
}

func (s Statement) checkTrust() error {
	switch {
	case len(s.Resources)+len(s.NotResources) > 0:
		return fmt.Errorf("Has prohibited field Resource") //nolint:staticcheck // IAM's words
	case len(s.Principal) == 0:
		return fmt.Errorf("Missing required field Principal") //nolint:staticcheck // IAM's words
	}
	for _, sort := range slices.Sorted(maps.Keys(s.Principal)) {
		if !slices.Contains([]string{PrincipalAWS, PrincipalService, PrincipalFederated}, sort) {
			return fmt.Errorf("a Principal of sort %q is not known here: want AWS, Service or Federated", sort)
		}
	}
	for _, action := range s.Actions {
		if service, _, _ := strings.Cut(strings.ToLower(action), ":"); service != "sts" && action != "*" {
			return fmt.Errorf("AssumeRole policy may only specify STS AssumeRole actions.") //nolint:staticcheck,revive // IAM's words
		}
	}
	return s.check()
}

// Trusts says what a trust policy makes of an action of a caller: a Deny that matches outweighs every
// Allow. The resource of the call does not count, for the policy speaks of its own role. The second
// value and errors are those of Decide.
func (d Document) Trusts(who Caller, call Call) (Decision, string, error) {
	return decide([]Document{d}, func(s Statement) (bool, error) {
		if !s.names(who) || !s.speaksOf(call.Action) {
			return false, nil
		}
		return s.applies(call.Context)
	})
}

// names reports whether the statement is about a caller; * is everybody, of whatever sort.
func (s Statement) names(who Caller) bool {
	return slices.Contains(s.Principal[PrincipalAWS], "*") ||
		slices.ContainsFunc(s.Principal[who.Sort], func(named string) bool { return slices.Contains(who.Names, named) })
}
