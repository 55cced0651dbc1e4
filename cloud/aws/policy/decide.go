package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Call is what IAM judges: one action on one resource.
type Call struct {
	Action   string  // such as ec2:CreateFleet
	Resource string  // ARN; * where the action has no resource
	Context  Context // what conditions may ask for
}

// Context holds the values of condition keys, by key in lower case. Set and Tag fill it.
type Context map[string][]string

// Set gives a key its values, in place of those that it had.
func (c Context) Set(key string, values ...string) { c[strings.ToLower(key)] = values }

// Tags gives a key for each tag, such as aws:RequestTag/team for the key aws:RequestTag.
func (c Context) Tags(key string, tags map[string]string) {
	for name, value := range tags {
		c.Set(key+"/"+name, value)
	}
}

// Decision is what IAM says of a call, in the words of SimulatePrincipalPolicy.
type Decision string

// The decisions.
const (
	Allowed      Decision = "allowed"
	ImplicitDeny Decision = "implicitDeny" // no statement allows it
	ExplicitDeny Decision = "explicitDeny" // a statement denies it
)

// Decide says what the policies of one principal make of a call: a Deny that matches outweighs
// every Allow. The second value is the statement that decided, as "policy, statement Sid"; empty
// for an implicit deny. An error names the statement that cannot be decided on, which Read would
// have refused.
func Decide(policies []Document, call Call) (Decision, string, error) {
	return decide(policies, func(s Statement) (bool, error) {
		if !s.speaksOf(call.Action) || !s.covers(call.Resource) {
			return false, nil
		}
		return s.applies(call.Context)
	})
}

// decide goes through all statements, each of which may match.
func decide(policies []Document, match func(Statement) (bool, error)) (Decision, string, error) {
	decision, by := ImplicitDeny, ""
	for _, d := range policies {
		for i, s := range d.Statements {
			matches, err := match(s)
			name := d.Name + ", statement " + s.Called(i)
			switch {
			case err != nil:
				return "", "", fmt.Errorf("%s: %w", name, err)
			case matches && s.Effect == Deny:
				return ExplicitDeny, name, nil
			case matches && decision == ImplicitDeny:
				decision, by = Allowed, name
			}
		}
	}
	return decision, by, nil
}

// applies reports whether all conditions of the statement hold.
func (s Statement) applies(context Context) (bool, error) {
	for _, c := range s.Conditions {
		holds, err := c.holds(context)
		if !holds || err != nil {
			return false, err
		}
	}
	return true, nil
}

// speaksOf reports whether the statement means an action: it names it, or all but others.
func (s Statement) speaksOf(action string) bool {
	means := func(pattern string) bool { return MatchAction(pattern, action) }
	if len(s.NotActions) > 0 {
		return !slices.ContainsFunc(s.NotActions, means)
	}
	return slices.ContainsFunc(s.Actions, means)
}

func (s Statement) covers(resource string) bool {
	means := func(pattern string) bool { return MatchARN(pattern, resource) }
	if len(s.NotResources) > 0 {
		return !slices.ContainsFunc(s.NotResources, means)
	}
	return slices.ContainsFunc(s.Resources, means)
}

// SpeaksOf reports whether the statement names an action, or all but others, whatever its
// resources and conditions.
func (s Statement) SpeaksOf(action string) bool { return s.speaksOf(action) }

// MatchAction reports whether a pattern with * and ? means an action; case does not count.
func MatchAction(pattern, action string) bool {
	return like(strings.ToLower(pattern), strings.ToLower(action))
}

// arnParts is how many parts colons make of an ARN; the last may hold further ones.
const arnParts = 6

// MatchARN reports whether a pattern means a resource. Wildcards stay within one of the six
// parts of an ARN; * alone means every resource.
func MatchARN(pattern, arn string) bool {
	if pattern == "*" {
		return true
	}
	p, a := strings.SplitN(pattern, ":", arnParts), strings.SplitN(arn, ":", arnParts)
	if len(p) != len(a) {
		return false
	}
	for i := range p {
		if !like(p[i], a[i]) {
			return false
		}
	}
	return true
}

// like matches text with a pattern in which * stands for any text and ? for one character.
func like(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	i, j, star, from := 0, 0, -1, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0: // let the last * take one character more
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
