package scenario

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// field is a fact that is written word=value, unless its value is zero.
func field[T any, V comparable](word string, at func(*T) *V, kind func() codec[V], means string) fact[T] {
	return valued(word, byWord, at, kind(), means)
}

// always is a field that is written though its value is zero.
func always[T any, V comparable](word string, at func(*T) *V, kind func() codec[V], means string) fact[T] {
	f, show := field(word, at, kind, means), kind().print
	f.print = func(_ *printer, of *T) string { return word + "=" + show(*at(of)) }
	return f
}

// argument is a fact that has a place and must be there.
func argument[T any, V comparable](what string, at func(*T) *V, kind func() codec[V], means string) fact[T] {
	return valued(what, first, at, kind(), means)
}

// option is a fact that has a place and may be left out; its codec prints nothing then.
func option[T any, V comparable](what string, at func(*T) *V, kind func() codec[V], means string) fact[T] {
	return valued(what, optional, at, kind(), means)
}

func valued[T any, V comparable](word string, where place, at func(*T) *V, c codec[V], means string) fact[T] {
	var zero V
	return fact[T]{word: word, place: where, form: c.form, means: means, hides: c.hides,
		read: func(_ *parser, to *T, words []string) (err error) {
			*at(to), err = c.parse(word, words[0])
			return err
		},
		print: func(_ *printer, of *T) string {
			switch v := *at(of); {
			case where != byWord:
				return c.print(v)
			case v != zero:
				return word + "=" + c.print(v)
			}
			return ""
		},
		redact: func(r *redactor, in *T) { *at(in) = c.hide(r, *at(in)) }}
}

// several is a fact that a line may have any number of: words that are no other fact, or word=value.
func several[T, V any](word string, where place, at func(*T) *[]V, kind func() codec[V], means string) fact[T] {
	c, prefix := kind(), ""
	if where == byWord {
		prefix = word + "="
	}
	return fact[T]{word: word, place: where, form: c.form, means: means, hides: c.hides,
		read: func(_ *parser, to *T, words []string) error {
			x, err := c.parse(word, words[0])
			*at(to) = append(*at(to), x)
			return err
		},
		print: func(_ *printer, of *T) string {
			return strings.Join(mapped(*at(of), func(x V) string { return prefix + c.print(x) }), " ")
		},
		redact: func(r *redactor, in *T) {
			if len(*at(in)) > 0 {
				*at(in) = mapped(*at(in), func(x V) V { return c.hide(r, x) })
			}
		}}
}

// silent is a fact that another one prints.
func silent[T any](f fact[T]) fact[T] {
	f.print = nil
	return f
}

// flag is a fact whose word stands alone where it holds.
func flag[T any](word string, at func(*T) *bool, means string) fact[T] {
	return flagged(word, at, true, means)
}

// flagged is a fact whose word stands alone where the value is as given.
func flagged[T any](word string, at func(*T) *bool, given bool, means string) fact[T] {
	return fact[T]{word: word, place: alone, means: means,
		read: func(_ *parser, to *T, _ []string) error { *at(to) = given; return nil },
		print: func(_ *printer, of *T) string {
			if *at(of) != given {
				return ""
			}
			return word
		}}
}

// formerly is a fact that had another word in older versions.
func formerly[T any](was string, f fact[T]) fact[T] {
	f.was = was
	return f
}

// slashedNames are two names with a slash between, at the beginning of a line. One whose category is empty stays.
func slashedNames[T any](word string, at func(*T) (a, b *string), categoryA, categoryB, means string) fact[T] {
	return fact[T]{word: word, place: first, means: means, hides: replaced,
		read: func(_ *parser, to *T, words []string) (err error) {
			a, b := at(to)
			*a, *b, err = readSlashed(words[0])
			return err
		},
		print: func(_ *printer, of *T) string {
			a, b := at(of)
			return slashed(*a, *b)
		},
		redact: func(r *redactor, in *T) {
			a, b := at(in)
			if categoryA != "" {
				*a = r.name(categoryA, *a)
			}
			*b = r.name(categoryB, *b)
		}}
}

// amounts are resource=amount for each resource.
func amounts[T any](at func(*T) *quantity.Resources, print func(quantity.Resources) string, means string) fact[T] {
	return fact[T]{word: "resource=amount", place: each, means: means,
		read:  func(_ *parser, to *T, words []string) error { return readAmount(at(to), words[0]) },
		print: func(_ *printer, of *T) string { return print(*at(of)) }}
}

// given is the name that the text alone has for a T.
func given[T any](means string) fact[T] {
	return fact[T]{word: "a name", place: first, means: means, hides: "printing gives another one",
		read: func(p *parser, _ *T, words []string) (err error) {
			p.given, err = unquote(words[0])
			return err
		},
		print: func(p *printer, _ *T) string { return quote(p.given) }}
}

// reference is a fact that names what stands above it in the text.
func reference[T, V any](of *named[V], at func(*T) **V, means string) fact[T] {
	return fact[T]{word: of.noun, place: byWord, form: "name", means: means, hides: "like that line",
		read: func(p *parser, to *T, words []string) error {
			name, err := unquote(words[0])
			x, known := p.named[of.noun+" "+name].(*V)
			if *at(to) = x; err == nil && !known {
				err = fmt.Errorf("no %s %q above", of.noun, name)
			}
			return err
		},
		print: func(p *printer, x *T) string {
			if *at(x) == nil {
				return ""
			}
			return of.noun + "=" + of.name(p, *at(x))
		},
		redact: func(r *redactor, in *T) {
			if *at(in) != nil {
				*at(in) = of.redacted(r, *at(in))
			}
		}}
}

// count is how many things a line stands for.
func count[T any]() fact[T] {
	return fact[T]{word: "count", place: byWord, form: "number", means: "the line stands for so many; it is printed once for each",
		read: func(p *parser, _ *T, words []string) (err error) {
			p.count, err = number[int]().parse("count", words[0])
			if err != nil || p.count < 1 || p.count > countMax {
				err = fmt.Errorf("count %s: want a number from 1 to %d", words[0], countMax)
			}
			return err
		}}
}

// countMax bounds what one count= may stand for.
const countMax = 10_000

// pairs are key=value for each label.
func pairs(value func(r *redactor, key, value string) string) []fact[constraint.Labels] {
	return []fact[constraint.Labels]{{word: "key=value", place: each, means: "a label", hides: replaced,
		read: func(_ *parser, to *constraint.Labels, words []string) error {
			key, value, hasValue, err := pair(words[0])
			if err == nil && !hasValue {
				err = fmt.Errorf("%s: want key=value", words[0])
			}
			*to = to.With(key, value)
			return err
		},
		print: func(_ *printer, of *constraint.Labels) string {
			return strings.Join(mapped(*of, func(l constraint.Label) string { return quote(l.Key) + "=" + quote(l.Value) }), " ")
		},
		redact: func(r *redactor, in *constraint.Labels) { *in = r.labels(*in, value) }}}
}

func withoutArticle(what string) string {
	return strings.TrimPrefix(strings.TrimPrefix(what, "a "), "an ")
}
