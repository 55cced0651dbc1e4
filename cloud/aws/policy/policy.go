// Package policy is IAM policy documents as values: it writes them, reads them, and decides about a
// call as IAM does.
//
// It promises to write a document the same way every time, and to refuse what it cannot evaluate (an
// operator or a policy variable that it does not know) instead of guessing. It knows identity-based
// policies and the trust policies of roles; it knows no permissions boundaries and no policies of
// organizations or of other resources. It makes no calls.
package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Version is the version of the policy language that documents are written in.
const Version = "2012-10-17"

// Effects of a statement.
const (
	Allow = "Allow"
	Deny  = "Deny"
)

// Document is one policy. Its name is what errors call it by; it is not part of the document.
type Document struct {
	Name       string
	Statements []Statement
}

// Statement is one statement of a policy. Principal, values by their sort, is set in policies of resources alone, as trust policies are.
type Statement struct {
	Sid          string
	Effect       string // Allow or Deny
	Principal    map[string][]string
	Actions      []string // with wildcards * and ?
	NotActions   []string // in place of Actions: all but these
	Resources    []string // ARNs, with wildcards * and ?
	NotResources []string
	Conditions   []Condition // all must hold
}

// Condition compares one key of a call with values.
type Condition struct {
	Operator string   // such as StringEquals, StringLike or ForAllValues:StringEquals
	Key      string   // such as aws:RequestTag/team; case counts in values alone
	Values   []string // any of these
}

// list is written as IAM's own tools do: one value stands alone.
type list []string

// MarshalJSON implements json.Marshaler.
func (l list) MarshalJSON() ([]byte, error) {
	if len(l) == 1 {
		return plainJSON(l[0])
	}
	return plainJSON([]string(l))
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *list) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = list{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

// values are those of a condition, which may be written as strings, booleans or numbers.
type values []string

// MarshalJSON implements json.Marshaler.
func (v values) MarshalJSON() ([]byte, error) { return list(v).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (v *values) UnmarshalJSON(data []byte) error {
	var all []json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		all = []json.RawMessage{data}
	}
	for _, raw := range all {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		*v = append(*v, text)
	}
	return nil
}

// principal is "*", or lists of values by the sort of principal.
type principal map[string]list

// UnmarshalJSON implements json.Unmarshaler.
func (p *principal) UnmarshalJSON(data []byte) error {
	var all string
	if json.Unmarshal(data, &all) == nil {
		*p = principal{"AWS": {all}}
		return nil
	}
	return json.Unmarshal(data, (*map[string]list)(p))
}

// statementJSON is a statement as it is written, its members in the order of AWS's documentation.
type statementJSON struct {
	Sid         string `json:",omitempty"`
	Effect      string
	Principal   principal                    `json:",omitempty"`
	Action      list                         `json:",omitempty"`
	NotAction   list                         `json:",omitempty"`
	Resource    list                         `json:",omitempty"`
	NotResource list                         `json:",omitempty"`
	Condition   map[string]map[string]values `json:",omitempty"`
}

// statementsJSON may be one that stands alone in place of a list.
type statementsJSON []statementJSON

// UnmarshalJSON implements json.Unmarshaler.
func (s *statementsJSON) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		*s = make(statementsJSON, 1)
		return json.Unmarshal(data, &(*s)[0])
	}
	return json.Unmarshal(data, (*[]statementJSON)(s))
}

type documentJSON struct {
	Version   string `json:",omitempty"`
	Statement statementsJSON
}

// MarshalJSON implements json.Marshaler: lists stay in their order, conditions are sorted.
func (d Document) MarshalJSON() ([]byte, error) {
	out := documentJSON{Version: Version}
	for _, s := range d.Statements {
		one := statementJSON{Sid: s.Sid, Effect: s.Effect, Action: s.Actions, NotAction: s.NotActions, Resource: s.Resources, NotResource: s.NotResources}
		for sort, who := range s.Principal {
			if one.Principal == nil {
				one.Principal = principal{}
			}
			one.Principal[sort] = who
		}
		for _, c := range s.Conditions {
			if one.Condition == nil {
				one.Condition = map[string]map[string]values{}
			}
			if one.Condition[c.Operator] == nil {
				one.Condition[c.Operator] = map[string]values{}
			}
			one.Condition[c.Operator][c.Key] = c.Values
		}
		out.Statement = append(out.Statement, one)
	}
	return plainJSON(out)
}

// plainJSON is JSON with <, > and & as they are: placeholders are written so.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// JSON is the document, indented by two spaces, with a newline at its end.
func (d Document) JSON() string {
	compact, err := d.MarshalJSON()
	var b bytes.Buffer
	if err == nil {
		err = json.Indent(&b, compact, "", "  ")
	}
	if err != nil {
		panic("a policy of strings does not encode: " + err.Error())
	}
	return b.String() + "\n"
}

// Characters is how many characters AWS counts of the document: all but white space.
func (d Document) Characters() int {
	compact, err := d.MarshalJSON()
	if err != nil {
		panic("a policy of strings does not encode: " + err.Error())
	}
	return len([]rune(strings.Join(strings.Fields(string(compact)), "")))
}

// Read reads a document, which errors call by the name. It refuses what is no policy, and what
// Decide could not decide on.
func Read(name string, document []byte) (Document, error) {
	d, err := Parse(name, document)
	if err != nil {
		return Document{}, err
	}
	for i, s := range d.Statements {
		if err := s.check(); err != nil {
			return Document{}, fmt.Errorf("%s, statement %s: %w", name, s.Called(i), err)
		}
	}
	return d, nil
}

// Parse reads a document as Read does, whatever operators and variables it has.
func Parse(name string, document []byte) (Document, error) {
	var in documentJSON
	if err := json.Unmarshal(document, &in); err != nil {
		return Document{}, fmt.Errorf("%s is no IAM policy in JSON: %w", name, err)
	}
	if len(in.Statement) == 0 {
		return Document{}, fmt.Errorf("%s has no Statement: give the document of an IAM policy, such as aws iam get-policy-version prints under Document", name)
	}
	d := Document{Name: name}
	for _, s := range in.Statement {
		one := Statement{Sid: s.Sid, Effect: s.Effect, Actions: s.Action, NotActions: s.NotAction, Resources: s.Resource, NotResources: s.NotResource}
		for sort, who := range s.Principal {
			if one.Principal == nil {
				one.Principal = map[string][]string{}
			}
			one.Principal[sort] = who
		}
		for _, operator := range slices.Sorted(maps.Keys(s.Condition)) {
			for _, key := range slices.Sorted(maps.Keys(s.Condition[operator])) {
				one.Conditions = append(one.Conditions, Condition{operator, key, s.Condition[operator][key]})
			}
		}
		d.Statements = append(d.Statements, one)
	}
	return d, nil
}

// Called is how errors name the statement at a position: by its Sid, or by its number.
func (s Statement) Called(at int) string {
	if s.Sid != "" {
		return s.Sid
	}
	return fmt.Sprintf("number %d", at+1)
}

// check refuses what a decision could not be made on.
func (s Statement) check() error {
	switch {
	case s.Effect != Allow && s.Effect != Deny:
		return fmt.Errorf("Effect is %q: want Allow or Deny", s.Effect) //nolint:staticcheck // the member's name
	case len(s.Actions) == 0 && len(s.NotActions) == 0:
		return fmt.Errorf("it names no Action and no NotAction")
	}
	for _, c := range s.Conditions {
		if _, err := c.operator(); err != nil {
			return err
		}
	}
	for _, text := range slices.Concat(s.Resources, s.NotResources, valuesOf(s.Conditions)) {
		if strings.Contains(text, "${") {
			return fmt.Errorf("%q holds a policy variable: they are not known here, write the value", text)
		}
	}
	return nil
}

func valuesOf(conditions []Condition) (all []string) {
	for _, c := range conditions {
		all = append(all, c.Values...)
	}
	return all
}
