// Package constraint holds sets of allowed label values with all eight operators, requirements, taints
// and tolerations.
//
// It promises exact set algebra: Intersect never allows what one side forbids, and a set is Empty only
// if it allows neither any value nor the absence of the label. It does not know which labels exist or
// what they mean.
package constraint

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Operator relates a label to the values of a requirement.
type Operator string

// The eight operators. Pods may use the first six in node affinity.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
	Gt           Operator = "Gt"
	Lt           Operator = "Lt"
	Gte          Operator = "Gte"
	Lte          Operator = "Lte"
)

// Set is a set of states that one label may be in: each of its values, or
// absent. The zero value allows nothing.
type Set struct {
	absent     bool     // the label may be missing
	complement bool     // values are those not allowed
	values     []string // sorted, no duplicates; never written after construction
	low, high  int64    // integer bounds, both inclusive; meaningful if bounded
	bounded    bool     // values must be integers within low and high
}

// Anything allows every value and absence.
func Anything() Set { return Set{absent: true, complement: true} }

// Absent allows no value: the label must be missing.
func Absent() Set { return Set{absent: true} }

// Values allows exactly the given values, and not absence.
func Values(values ...string) Set { return Set{values: sorted(values)} }

// NewSet returns the set that an operator and its values describe. Gt, Lt,
// Gte and Lte take one integer; anything else is an error. NotIn allows
// absence, as Kubernetes does.
func NewSet(op Operator, values ...string) (Set, error) {
	switch op {
	case In:
		return Values(values...), nil
	case NotIn:
		return Set{absent: true, complement: true, values: sorted(values)}, nil
	case Exists:
		return Set{complement: true}, nil
	case DoesNotExist:
		return Absent(), nil
	case Gt, Lt, Gte, Lte:
		return bound(op, values)
	}
	return Set{}, fmt.Errorf("operator %q is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte", op)
}

func bound(op Operator, values []string) (Set, error) {
	if len(values) != 1 {
		return Set{}, fmt.Errorf("operator %s takes one integer, not %d values", op, len(values))
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil {
		return Set{}, fmt.Errorf("operator %s takes an integer, not %q", op, values[0])
	}
	s := Set{complement: true, bounded: true, low: math.MinInt64, high: math.MaxInt64}
	switch {
	case op == Gt && n == math.MaxInt64 || op == Lt && n == math.MinInt64:
		return Set{}, nil
	case op == Gt:
		s.low = n + 1
	case op == Gte:
		s.low = n
	case op == Lt:
		s.high = n - 1
	default:
		s.high = n
	}
	return s, nil
}

// Allows reports whether the label may have this value.
func (s Set) Allows(value string) bool {
	if !s.inBounds(value) {
		return false
	}
	_, listed := slices.BinarySearch(s.values, value)
	return listed != s.complement
}

// AllowsAbsent reports whether the label may be missing.
func (s Set) AllowsAbsent() bool { return s.absent }

// Empty reports whether nothing is allowed, not even absence.
func (s Set) Empty() bool { return !s.absent && !s.allowsSomeValue() }

// allowsSomeValue reports whether any present value is allowed.
func (s Set) allowsSomeValue() bool {
	if !s.complement {
		return len(s.values) > 0
	}
	if !s.bounded {
		return true
	}
	if s.low > s.high {
		return false
	}
	// A bounded interval shorter than the list of exceptions may be used up.
	if width := uint64(s.high) - uint64(s.low); width < uint64(len(s.values)) {
		for n := s.low; ; n++ {
			if s.Allows(strconv.FormatInt(n, 10)) {
				return true
			}
			if n == s.high {
				return false
			}
		}
	}
	return true
}

// Finite returns the allowed values in order when they can be listed; ok is
// false when infinitely many are allowed.
func (s Set) Finite() (values []string, ok bool) {
	if s.complement {
		return nil, false
	}
	return s.values, true
}

// Any returns a value the set allows: the first listed one or, where only
// exceptions or bounds are given, the smallest integer from the lower bound
// (else 0) up that is allowed. ok is false when no value is.
func (s Set) Any() (value string, ok bool) {
	if !s.allowsSomeValue() {
		return "", false
	}
	if !s.complement {
		return s.values[0], true
	}
	n := int64(0)
	if s.bounded && (s.low > 0 || s.high < 0) {
		n = max(s.low, min(s.high, 0))
	}
	for ; ; n++ {
		text := strconv.FormatInt(n, 10)
		if s.Allows(text) {
			return text, true
		}
		if s.bounded && n >= s.high {
			n = s.low - 1 // the free values lie below where the search began
		}
	}
}

// Intersect allows what both allow.
func (s Set) Intersect(t Set) Set {
	out := Set{absent: s.absent && t.absent, complement: s.complement && t.complement}
	out.bounded = s.bounded || t.bounded
	if out.bounded {
		out.low, out.high = max(s.lower(), t.lower()), min(s.upper(), t.upper())
	}
	switch {
	case s.complement && t.complement:
		out.values = sorted(slices.Concat(s.values, t.values))
		return out
	case s.complement:
		out.values = keep(t.values, s.Allows)
	case t.complement:
		out.values = keep(s.values, t.Allows)
	default:
		out.values = keep(s.values, t.Allows)
	}
	out.bounded, out.low, out.high = false, 0, 0 // a list has passed its bounds
	return out
}

// Intersects reports whether both allow a common value or both allow absence.
func (s Set) Intersects(t Set) bool { return !s.Intersect(t).Empty() }

// Equal reports whether both were built from the same lists and bounds.
func (s Set) Equal(t Set) bool {
	return s.absent == t.absent && s.complement == t.complement && s.bounded == t.bounded &&
		s.low == t.low && s.high == t.high && slices.Equal(s.values, t.values)
}

// String prints the set as operators: "in a,b", "exists", "gte 4 lte 8".
func (s Set) String() string {
	if !s.complement {
		if len(s.values) == 0 {
			if s.absent {
				return "doesnotexist"
			}
			return "nothing"
		}
		return "in " + strings.Join(s.values, ",")
	}
	var words []string
	if s.bounded && s.low != math.MinInt64 {
		words = append(words, "gte "+strconv.FormatInt(s.low, 10))
	}
	if s.bounded && s.high != math.MaxInt64 {
		words = append(words, "lte "+strconv.FormatInt(s.high, 10))
	}
	if len(s.values) > 0 {
		words = append(words, "notin "+strings.Join(s.values, ","))
	}
	if !s.absent && len(s.values) > 0 && !s.bounded {
		words = append(words, "exists")
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, " ")
	case s.absent:
		return "anything"
	}
	return "exists"
}

// Term is one operator of a requirement, as the API writes it.
type Term struct {
	Op     Operator
	Values []string
}

// Terms returns operators whose intersection is the set; nothing for a set
// that allows anything. It is the inverse of intersecting NewSets.
func (s Set) Terms() []Term {
	if !s.complement {
		if s.absent {
			return []Term{{Op: DoesNotExist}}
		}
		return []Term{{In, s.values}}
	}
	var terms []Term
	if s.bounded && s.low != math.MinInt64 {
		terms = append(terms, Term{Gte, []string{strconv.FormatInt(s.low, 10)}})
	}
	if s.bounded && s.high != math.MaxInt64 {
		terms = append(terms, Term{Lte, []string{strconv.FormatInt(s.high, 10)}})
	}
	if len(s.values) > 0 {
		terms = append(terms, Term{NotIn, s.values})
	}
	if !s.absent && !s.bounded {
		terms = append(terms, Term{Op: Exists})
	}
	return terms
}

func (s Set) inBounds(value string) bool {
	if !s.bounded {
		return true
	}
	n, err := strconv.ParseInt(value, 10, 64)
	return err == nil && n >= s.low && n <= s.high
}

func (s Set) lower() int64 {
	if s.bounded {
		return s.low
	}
	return math.MinInt64
}

func (s Set) upper() int64 {
	if s.bounded {
		return s.high
	}
	return math.MaxInt64
}

func sorted(values []string) []string {
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Compact(out)
}

func keep(values []string, allowed func(string) bool) []string {
	var out []string
	for _, v := range values {
		if allowed(v) {
			out = append(out, v)
		}
	}
	return out
}

// Covers reports whether s allows everything that t allows.
func (s Set) Covers(t Set) bool {
	if t.absent && !s.absent {
		return false
	}
	return s.withAbsence().Intersect(t).sameValues(t)
}

func (s Set) withAbsence() Set {
	s.absent = true
	return s
}

// sameValues reports whether s, which was cut out of t, still has all values
// of t: an interval counts as what it holds, not as how it was written.
func (s Set) sameValues(t Set) bool {
	if !t.allowsSomeValue() {
		return true
	}
	if !t.complement {
		return len(s.values) == len(t.values)
	}
	if !s.complement || s.bounded && (!t.bounded || s.low > t.low || s.high < t.high) {
		return false
	}
	return !slices.ContainsFunc(s.values, t.Allows)
}
