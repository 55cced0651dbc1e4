package constraint_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/constraint"
)

// absent stands for a label that is missing; no label value has a NUL.
const absent = "\x00"

// universe is every state that the sets of these tests can distinguish: the values they name, all
// integers near their bounds, strangers and absence.
func universe() []string {
	out := []string{absent, "", "a", "b", "c", "stranger", "9223372036854775807", "-9223372036854775808"}
	for n := -8; n <= 20; n++ {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// model is what an operator means, written down once more in the plainest way.
func model(op constraint.Operator, values []string, state string) bool {
	if state == absent {
		return op == constraint.NotIn || op == constraint.DoesNotExist
	}
	switch op {
	case constraint.In:
		return slices.Contains(values, state)
	case constraint.NotIn:
		return !slices.Contains(values, state)
	case constraint.Exists:
		return true
	case constraint.DoesNotExist:
		return false
	}
	n, err := strconv.ParseInt(state, 10, 64)
	bound, _ := strconv.ParseInt(values[0], 10, 64)
	return err == nil && map[constraint.Operator]bool{constraint.Gt: n > bound, constraint.Gte: n >= bound,
		constraint.Lt: n < bound, constraint.Lte: n <= bound}[op]
}

func allows(s constraint.Set, state string) bool {
	if state == absent {
		return s.AllowsAbsent()
	}
	return s.Allows(state)
}

var operators = []constraint.Operator{constraint.In, constraint.NotIn, constraint.Exists, constraint.DoesNotExist,
	constraint.Gt, constraint.Lt, constraint.Gte, constraint.Lte}

// chance draws a set and the model of it.
func chance(t testing.TB, r *rand.Rand) (constraint.Set, func(string) bool) {
	op := operators[r.IntN(len(operators))]
	var values []string
	switch op {
	case constraint.In, constraint.NotIn:
		for range r.IntN(4) {
			values = append(values, []string{"a", "b", "", "1", "2", "3", "11"}[r.IntN(7)])
		}
	case constraint.Gt, constraint.Lt, constraint.Gte, constraint.Lte:
		values = []string{strconv.Itoa(r.IntN(14) - 3)}
	}
	s, err := constraint.NewSet(op, values...)
	if err != nil {
		t.Fatal(err)
	}
	return s, func(state string) bool { return model(op, values, state) }
}

func TestSetsMeanWhatTheirOperatorsSay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		s, want := chance(t, r)
		text := s.String()
		for range r.IntN(4) {
			more, also := chance(t, r)
			before := want
			want = func(state string) bool { return before(state) && also(state) }
			s, text = s.Intersect(more), text+" and "+more.String()
		}
		checkAgainst(t, s, want, text)
	}
}

func checkAgainst(t *testing.T, s constraint.Set, want func(string) bool, text string) {
	t.Helper()
	some := false
	for _, state := range universe() {
		if got := allows(s, state); got != want(state) {
			t.Fatalf("%s = %s: allows %q is %v", text, s, state, got)
		}
		some = some || want(state)
	}
	if s.Empty() == some {
		t.Fatalf("%s = %s: Empty is %v", text, s, s.Empty())
	}
	if value, ok := s.Any(); ok && !want(value) {
		t.Fatalf("%s = %s: Any is %q", text, s, value)
	}
	again := constraint.Anything()
	for _, term := range s.Terms() {
		part, err := constraint.NewSet(term.Op, term.Values...)
		if err != nil {
			t.Fatalf("%s: term %v: %v", s, term, err)
		}
		again = again.Intersect(part)
	}
	if !again.Equal(s) {
		t.Fatalf("%s: its terms make %s", s, again)
	}
}

func TestTwoSetsIntersectIfTheyShareAState(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 5000 {
		a, inA := chance(t, r)
		b, inB := chance(t, r)
		shared := slices.ContainsFunc(universe(), func(state string) bool { return inA(state) && inB(state) })
		if a.Intersects(b) != shared || b.Intersects(a) != shared {
			t.Fatalf("%s and %s: Intersects is %v", a, b, a.Intersects(b))
		}
	}
}

func TestCoversIsNeverWrong(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	covered := 0
	for range 5000 {
		a, inA := chance(t, r)
		b, inB := chance(t, r)
		missing := slices.ContainsFunc(universe(), func(state string) bool { return inB(state) && !inA(state) })
		if a.Covers(b) && missing {
			t.Fatalf("%s does not cover %s", a, b)
		}
		if _, listed := b.Finite(); listed && !a.Covers(b) && !missing {
			t.Fatalf("%s covers %s", a, b)
		}
		if a.Covers(b) {
			covered++
		}
	}
	if covered < 500 {
		t.Errorf("only %d pairs were covered", covered)
	}
}

func TestBoundsAtTheEdges(t *testing.T) {
	tests := map[string]struct {
		op          constraint.Operator
		value       string
		allow, deny []string
	}{
		"greater than excludes the bound":     {constraint.Gt, "4", []string{"5", "100"}, []string{"4", "3", "-1", "x", ""}},
		"less than excludes the bound":        {constraint.Lt, "4", []string{"3", "-7"}, []string{"4", "5", "3.5"}},
		"at least includes the bound":         {constraint.Gte, "4", []string{"4", "5"}, []string{"3"}},
		"at most includes the bound":          {constraint.Lte, "4", []string{"4", "3"}, []string{"5"}},
		"nothing exceeds the largest":         {constraint.Gt, "9223372036854775807", nil, []string{"9223372036854775807", "1"}},
		"nothing is below the smallest":       {constraint.Lt, "-9223372036854775808", nil, []string{"-9223372036854775808", "1"}},
		"the largest is at least the largest": {constraint.Gte, "9223372036854775807", []string{"9223372036854775807"}, []string{"1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := constraint.NewSet(tt.op, tt.value)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range tt.allow {
				if !s.Allows(v) {
					t.Errorf("%s forbids %q", s, v)
				}
			}
			for _, v := range tt.deny {
				if s.Allows(v) {
					t.Errorf("%s allows %q", s, v)
				}
			}
		})
	}
}

func TestBadOperatorsAreRefused(t *testing.T) {
	tests := map[string]struct {
		op     constraint.Operator
		values []string
		want   string
	}{
		"an unknown one":       {"Near", nil, "is not one of"},
		"two bounds":           {constraint.Gt, []string{"1", "2"}, "takes one integer"},
		"a bound of no number": {constraint.Lte, []string{"many"}, "takes an integer"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := constraint.NewSet(tt.op, tt.values...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("NewSet(%s, %v): %v, want %q", tt.op, tt.values, err, tt.want)
			}
		})
	}
}

// FuzzIntersect checks the algebra with any values: what both allow, and
// nothing else; in either order.
func FuzzIntersect(f *testing.F) {
	f.Add(uint8(0), "a,b", uint8(1), "b", "a")
	f.Add(uint8(4), "3", uint8(5), "9", "7")
	f.Add(uint8(6), "9223372036854775807", uint8(1), "9223372036854775807", "9223372036854775807")
	f.Fuzz(func(t *testing.T, op1 uint8, list1 string, op2 uint8, list2, probe string) {
		a, err1 := constraint.NewSet(operators[op1%8], strings.Split(list1, ",")...)
		b, err2 := constraint.NewSet(operators[op2%8], strings.Split(list2, ",")...)
		if err1 != nil || err2 != nil {
			return
		}
		both := a.Intersect(b)
		if !both.Equal(b.Intersect(a)) {
			t.Errorf("%s, %s: the order matters: %s, %s", a, b, both, b.Intersect(a))
		}
		if both.Allows(probe) != (a.Allows(probe) && b.Allows(probe)) {
			t.Errorf("%s and %s = %s: allows %q is %v", a, b, both, probe, both.Allows(probe))
		}
		if both.Empty() && both.Allows(fmt.Sprint(probe)) && canonical(probe) {
			t.Errorf("%s is empty and allows %q", both, probe)
		}
		if v, ok := both.Any(); ok && !both.Allows(v) {
			t.Errorf("%s: Any is %q", both, v)
		}
	})
}

// canonical reports whether a number is written as it is printed: "01" is not.
func canonical(v string) bool {
	n, err := strconv.ParseInt(v, 10, 64)
	return err != nil || strconv.FormatInt(n, 10) == v
}
