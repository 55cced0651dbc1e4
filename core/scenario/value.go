package scenario

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// codec is a kind of value: how it is read, printed and redacted. What read gets and print returns is without quotes.
type codec[V any] struct {
	form   string // how it looks, for the page
	want   string // what is wanted where it cannot be read; empty: the error says it
	hides  string // what redaction does to it, for the page
	read   func(string) (V, error)
	print  func(V) string
	redact func(*redactor, V) V // nil: it stays
	parts  bool                 // it is quoted in parts: read gets the word as it is
}

// hide redacts a value.
func (c codec[V]) hide(r *redactor, x V) V {
	if c.redact == nil {
		return x
	}
	return c.redact(r, x)
}

// parse reads the value of a fact.
func (c codec[V]) parse(fact, text string) (V, error) {
	var x V
	var err error
	if !c.parts {
		text, err = unquote(text)
	}
	if err != nil {
		return x, err
	}
	if x, err = c.read(text); err != nil && c.want != "" {
		return x, fmt.Errorf("%s %s: want %s", withoutArticle(fact), text, c.want)
	}
	return x, err
}

// What redaction does.
const (
	replaced = "replaced"
	leftOut  = "left out"
)

// word is a word of an API, or a text that says nothing about a user.
func word[S ~string]() codec[S] {
	return codec[S]{form: "word",
		read:  func(text string) (S, error) { return S(text), nil },
		print: func(s S) string { return quote(string(s)) }}
}

// text is free text, which may say anything.
func text() codec[string] {
	c := word[string]()
	c.form, c.hides = "text", leftOut
	c.redact = func(_ *redactor, s string) string { return left(s) }
	return c
}

func renamed(rename func(*redactor, string) string) func() codec[string] {
	return func() codec[string] {
		c := word[string]()
		c.form, c.hides, c.redact = "name", replaced, rename
		return c
	}
}

// name is the name of something.
func name(what string) func() codec[string] {
	return renamed(func(r *redactor, s string) string { return r.name(what, s) })
}

// names are several with commas between.
func names(what string) func() codec[string] {
	return renamed(func(r *redactor, s string) string {
		return strings.Join(mapped(strings.Split(s, ","), func(s string) string { return r.name(what, s) }), ",")
	})
}

// behind is a name with something before a slash; without one it is a name alone.
func behind(what string, before func(*redactor, string) string) func() codec[string] {
	return renamed(func(r *redactor, s string) string {
		if head, name, found := strings.Cut(s, "/"); found {
			return before(r, head) + "/" + r.name(what, name)
		}
		return r.name(what, s)
	})
}

// key is the key of a label.
func key() codec[string] { return renamed((*redactor).key)() }

func number[N ~int | ~int32 | ~int64]() codec[N] {
	return codec[N]{form: "number", want: "a whole number",
		read: func(text string) (N, error) {
			n, err := strconv.ParseInt(text, 10, 64)
			if err == nil && int64(N(n)) != n {
				err = strconv.ErrRange
			}
			return N(n), err
		},
		print: func(n N) string { return strconv.FormatInt(int64(n), 10) }}
}

func revision() codec[uint64] {
	return codec[uint64]{form: "number", want: "a whole number",
		read:  func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) },
		print: func(n uint64) string { return strconv.FormatUint(n, 10) }}
}

// share is a number that need not be whole.
func share() codec[float64] {
	return codec[float64]{form: "number", want: "a number, 0 or more, such as 0.02",
		read: func(text string) (float64, error) {
			n, err := strconv.ParseFloat(text, 64)
			if n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
				err = strconv.ErrRange
			}
			return n, err
		},
		print: func(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }}
}

func length() codec[time.Duration] {
	return codec[time.Duration]{form: "length", want: "a length of time such as 1m30s", read: time.ParseDuration, print: time.Duration.String}
}

func moment() codec[time.Time] {
	return codec[time.Time]{form: "time", want: "it as in 2026-01-31T12:00:00Z",
		read: func(text string) (time.Time, error) {
			t, err := time.Parse(time.RFC3339Nano, text)
			if t = t.UTC(); err == nil && (t.Year() < 1 || t.Year() > 9999) {
				err = strconv.ErrRange
			}
			return t, err
		},
		print: func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.UTC().Format(time.RFC3339Nano)
		}}
}

func money() codec[quantity.MicroUSDPerHour] {
	return codec[quantity.MicroUSDPerHour]{form: "price", want: "dollars an hour with six decimals at most", read: readDollars, print: dollars}
}

// price is what something costs in an hour.
type price = quantity.MicroUSDPerHour

func readDollars(text string) (quantity.MicroUSDPerHour, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", max(0, 6-len(fraction))), 10, 64)
	if len(fraction) > 6 {
		err = strconv.ErrRange
	}
	return quantity.MicroUSDPerHour(n), err
}

func dollars(p quantity.MicroUSDPerHour) string {
	sign, n := "", uint64(p)
	if p < 0 {
		sign, n = "-", uint64(-p)
	}
	text := fmt.Sprintf("%s%d.%06d", sign, n/1e6, n%1e6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func cpu() codec[quantity.MilliCPU] {
	return codec[quantity.MilliCPU]{form: "amount", read: quantity.ParseCPU, print: quantity.MilliCPU.String}
}

func bytes() codec[quantity.Bytes] {
	return codec[quantity.Bytes]{form: "amount", read: quantity.ParseBytes, print: quantity.Bytes.String}
}

// poolID is kind/name of a pool.
func poolID() codec[cluster.PoolID] {
	return codec[cluster.PoolID]{form: "kind/name", hides: replaced,
		read: func(text string) (cluster.PoolID, error) {
			kind, name, err := readSlashed(text)
			return cluster.PoolID{Kind: kind, Name: name}, err
		},
		print: func(id cluster.PoolID) string { return quote(slashed(id.Kind, id.Name)) },
		redact: func(r *redactor, id cluster.PoolID) cluster.PoolID {
			return cluster.PoolID{Kind: id.Kind, Name: r.name("pool", id.Name)}
		}}
}

// held is what a pod holds. A pod takes one place, which is not said.
func held() codec[*quantity.Resources] {
	return codec[*quantity.Resources]{form: "amounts",
		read: func(text string) (*quantity.Resources, error) {
			out := quantity.Resources{Pods: 1}
			list, err := words(text)
			for i := 0; err == nil && i < len(list); i++ {
				err = readAmount(&out, list[i])
			}
			return &out, err
		},
		print: func(r *quantity.Resources) string { return quote(onePod(*r)) }}
}

// label is key=value.
func label() codec[constraint.Label] {
	return codec[constraint.Label]{form: "key=value", hides: replaced,
		read: func(text string) (constraint.Label, error) {
			key, value, _ := strings.Cut(text, "=")
			return constraint.Label{Key: key, Value: value}, nil
		},
		print: func(l constraint.Label) string { return quote(l.Key + "=" + l.Value) },
		redact: func(r *redactor, l constraint.Label) constraint.Label {
			return r.labels(constraint.Labels{l}, (*redactor).value)[0]
		}}
}

// oneOf is one of a few words.
func oneOf[S ~string](these ...S) func() codec[S] {
	return func() codec[S] {
		c := word[S]()
		c.form = strings.Join(mapped(these, func(s S) string { return string(s) }), " or ")
		c.want = c.form
		c.read = func(text string) (S, error) {
			if !slices.Contains(these, S(text)) {
				return "", strconv.ErrSyntax
			}
			return S(text), nil
		}
		return c
	}
}

// maybe is a number that may be missing, which is not zero.
func maybe() codec[*int64] {
	n := number[int64]()
	return codec[*int64]{form: n.form, want: n.want,
		read: func(text string) (*int64, error) {
			x, err := n.read(text)
			return &x, err
		},
		print: func(x *int64) string { return n.print(*x) }}
}

func maybeMoney() codec[*price] {
	m := money()
	return codec[*price]{form: m.form, want: m.want,
		read: func(text string) (*price, error) {
			x, err := m.read(text)
			return &x, err
		},
		print: func(x *price) string { return m.print(*x) }}
}

// minimum is a number of nodes or pods that are on demand, or a share of them.
func minimum() codec[cluster.Minimum] {
	return codec[cluster.Minimum]{form: "30%", want: "a number or share of what is on demand: 2, or 30%",
		read: func(text string) (out cluster.Minimum, err error) {
			text, out.Percent = strings.CutSuffix(text, "%")
			if out.Least, err = number[int64]().read(text); err == nil && out.Percent && out.Least > 100 {
				err = errors.New("more than 100%")
			}
			return out, err
		},
		print: cluster.Minimum.String}
}

// wildcard is what an empty key or effect is written as.
const wildcard = "*"

// taint is key=value:effect.
func taint() codec[constraint.Taint] {
	return codec[constraint.Taint]{parts: true, hides: replaced,
		read: func(word string) (constraint.Taint, error) {
			t, err := toleration().read(word)
			return constraint.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}, err
		},
		print: func(t constraint.Taint) string {
			return toleration().print(constraint.Toleration{Key: t.Key, Value: t.Value, Effect: t.Effect, Exists: t.Value == ""})
		},
		redact: func(r *redactor, t constraint.Taint) constraint.Taint {
			return constraint.Taint{Key: r.key(t.Key), Value: r.value(t.Key, t.Value), Effect: t.Effect}
		}}
}

// toleration is key=value:effect, and "exists" behind it where there is a value that does not matter.
func toleration() codec[constraint.Toleration] {
	return codec[constraint.Toleration]{parts: true, hides: replaced, read: readToleration,
		print: func(t constraint.Toleration) string {
			effect := ":" + star(string(t.Effect))
			switch {
			case t.Exists && t.Value == "":
				return star(t.Key) + effect
			case t.Exists:
				effect += " exists"
			}
			return star(t.Key) + "=" + quote(t.Value) + effect
		},
		redact: func(r *redactor, t constraint.Toleration) constraint.Toleration {
			t.Key, t.Value = r.key(t.Key), r.value(t.Key, t.Value)
			return t
		}}
}

func readToleration(word string) (t constraint.Toleration, err error) {
	head, effect, found := cut(word, ':')
	if !found {
		return t, fmt.Errorf("%s: want key=value:effect", word)
	}
	key, value, hasValue := cut(head, '=')
	var text [3]string
	for i, part := range []string{key, value, effect} {
		if part == wildcard && i != 1 {
			continue
		}
		if text[i], err = unquote(part); err != nil {
			return t, err
		}
	}
	return constraint.Toleration{Key: text[0], Value: text[1], Effect: constraint.Effect(text[2]), Exists: !hasValue}, nil
}

func star(s string) string {
	if s == "" {
		return wildcard
	}
	return quote(s)
}

func readSlashed(word string) (a, b string, err error) {
	head, tail, found := cut(word, '/')
	if !found {
		return "", "", fmt.Errorf("%s: want two names with a slash between", word)
	}
	if a, err = unquote(head); err != nil {
		return "", "", err
	}
	b, err = unquote(tail)
	return a, b, err
}

// slashed writes two names as one word; one that has a slash itself is quoted.
func slashed(a, b string) string {
	head := quote(a)
	if strings.Contains(a, "/") {
		head = strconv.Quote(a)
	}
	return head + "/" + quote(b)
}

// amount is resource=amount.
func amount() codec[quantity.Extended] {
	return codec[quantity.Extended]{parts: true,
		read: func(word string) (quantity.Extended, error) {
			name, value, hasValue, err := pair(word)
			if err == nil && (!hasValue || name == "") {
				err = fmt.Errorf("%s: want resource=amount", word)
			}
			if err != nil {
				return quantity.Extended{}, err
			}
			n, err := quantity.ParseAmount(name, value)
			return quantity.Extended{Name: name, Amount: n}, err
		},
		print: func(e quantity.Extended) string { return quote(e.Name) + "=" + quantity.FormatAmount(e.Name, e.Amount) }}
}

func readAmount(r *quantity.Resources, word string) error {
	e, err := amount().read(word)
	*r = r.With(e.Name, e.Amount)
	return err
}

func printAmounts(r quantity.Resources) string {
	show := amount().print
	return strings.Join(mapped(r.Names(), func(name string) string { return show(quantity.Extended{Name: name, Amount: r.Get(name)}) }), " ")
}

// onePod writes pod slots only where they are not one.
func onePod(r quantity.Resources) string {
	n := r.Pods
	r.Pods = 0
	out := printAmounts(r)
	if n != 1 {
		out = strings.TrimPrefix(out+" "+amount().print(quantity.Extended{Name: quantity.NamePods, Amount: n}), " ")
	}
	return out
}

// mapped maps a list.
func mapped[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}
