package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Prefixes of operators over keys with several values.
const (
	forAll = "ForAllValues:"
	forAny = "ForAnyValue:"
)

// compared says whether a value of a call matches one that a policy names.
type compared func(named, value string) bool

// operators are those that are known, without prefixes and IfExists. A negated one holds where no
// named value matches.
var operators = map[string]struct {
	match   compared
	negated bool
}{
	"StringEquals":              {equal, false},
	"StringNotEquals":           {equal, true},
	"StringEqualsIgnoreCase":    {strings.EqualFold, false},
	"StringNotEqualsIgnoreCase": {strings.EqualFold, true},
	"StringLike":                {like, false},
	"StringNotLike":             {like, true},
	"ArnEquals":                 {MatchARN, false},
	"ArnLike":                   {MatchARN, false},
	"ArnNotEquals":              {MatchARN, true},
	"ArnNotLike":                {MatchARN, true},
	"Bool":                      {strings.EqualFold, false},
}

func equal(named, value string) bool { return named == value }

// test is a condition's operator, taken apart.
type test struct {
	match    compared
	negated  bool
	set      string // forAll, forAny or empty
	ifExists bool
	null     bool
}

// operator takes the operator apart; the error says that it is not known.
func (c Condition) operator() (test, error) {
	var t test
	name := c.Operator
	for _, prefix := range []string{forAll, forAny} {
		if rest, has := strings.CutPrefix(name, prefix); has {
			t.set, name = prefix, rest
		}
	}
	if name == "Null" && t.set == "" {
		t.null = true
		return t, nil
	}
	name, t.ifExists = strings.CutSuffix(name, "IfExists")
	known, is := operators[name]
	if !is {
		return t, fmt.Errorf("condition operator %s of key %s is not known here", c.Operator, c.Key)
	}
	t.match, t.negated = known.match, known.negated
	return t, nil
}

// holds reports whether the condition holds for a call: as IAM has it, a key that the call does
// not have makes it false, but for negated operators, those that end in IfExists and ForAllValues.
func (c Condition) holds(context Context) (bool, error) {
	t, err := c.operator()
	if err != nil {
		return false, err
	}
	have, there := context[strings.ToLower(c.Key)]
	there = there && len(have) > 0
	if t.null {
		return slices.Contains(c.Values, fmt.Sprint(!there)), nil
	}
	if !there {
		return t.ifExists || t.set == forAll || t.negated && t.set == "", nil
	}
	one := func(value string) bool {
		return slices.ContainsFunc(c.Values, func(named string) bool { return t.match(named, value) }) != t.negated
	}
	switch t.set {
	case forAll:
		return !slices.ContainsFunc(have, func(value string) bool { return !one(value) }), nil
	case forAny:
		return slices.ContainsFunc(have, one), nil
	}
	return !slices.ContainsFunc(have, func(value string) bool { return !one(value) }), nil
}
