package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// line describes the lines that begin with one noun; each stands for a T. By its facts a line is read, printed, redacted
// and documented.
type line[T any] struct {
	noun   string
	was    string         // the noun in texts of older versions, which are still read
	other  string         // the noun of those where is leads to true
	is     func(*T) *bool // nil: there is one noun
	like   string         // the noun of a line with the same facts, which the page has already
	means  string         // a sentence for the page
	starts T              // what a line without a word stands for
	facts  []fact[T]      // those that have a place before the others, those that must be there first
	ends   func(*T) error // completes and checks what the words say; nil: nothing to do
	below  []part[T]      // what may stand below it
	flat   bool           // what stands below it is not indented
}

// fact is one thing that a line says of a T.
type fact[T any] struct {
	word   string // of the text; of a fact that has a place, what it is: "a protocol"
	was    string // the word in texts of older versions, which are still read
	place  place
	form   string // how its value looks, for the page
	means  string // what it says, for the page
	hides  string // what redaction does to it, for the page; empty: it stays
	read   func(p *parser, to *T, words []string) error
	print  func(p *printer, of *T) string // words of the line; empty: it is left out; nil: another fact prints it
	redact func(r *redactor, in *T)       // nil: it stays
}

// place says where a fact stands.
type place int

const (
	byWord   place = iota // wherever its word is, followed by "=" and its value
	alone                 // wherever its word is, and nothing more
	first                 // in the order of the table, and it must be there
	optional              // in that order too, and may be left out
	each                  // every word that is no other fact
	rest                  // all words that are left
)

// parse reads what the words of a line say.
func (l *line[T]) parse(p *parser, to *T, words []string) error {
	at := 0 // facts before it have had their place
	for len(words) > 0 {
		i, given, err := l.pick(words, at)
		if err != nil {
			return err
		}
		f := &l.facts[i]
		if err := f.read(p, to, given); err != nil {
			return err
		}
		if f.place == first || f.place == optional {
			at = i + 1
		}
		words = words[max(1, len(given)):]
	}
	if l.lacks(at) {
		return l.want()
	}
	if l.ends != nil {
		return l.ends(to)
	}
	return nil
}

// pick finds the fact that the next word belongs to, and what is given for it.
func (l *line[T]) pick(words []string, at int) (fact int, given []string, err error) {
	if l.lacks(at) {
		return at, words[:1], nil
	}
	key, value, hasValue := cut(words[0], '=')
	for i := range l.facts {
		f := &l.facts[i]
		if f.place > alone || f.word != key && (f.was != key || key == "") {
			continue
		}
		switch {
		case f.place == alone && hasValue:
			return 0, nil, fmt.Errorf("%s takes no value", key)
		case f.place == byWord && !hasValue:
			return 0, nil, fmt.Errorf("%s: want %s=%s", key, key, f.form)
		}
		return i, []string{value}, nil
	}
	for i := at; i < len(l.facts); i++ {
		switch p := l.facts[i].place; {
		case p == each, p == optional && !hasValue:
			return i, words[:1], nil
		case p == rest:
			return i, words, nil
		}
	}
	if key, _, _, err = pair(words[0]); err == nil {
		err = fmt.Errorf("no field %q", key)
	}
	return 0, nil, err
}

// lacks reports whether a fact must still come whose place is there.
func (l *line[T]) lacks(at int) bool {
	return at < len(l.facts) && l.facts[at].place == first
}

// want says what must stand behind the noun.
func (l *line[T]) want() error {
	var needed []string
	for i := range l.facts {
		if l.lacks(i) {
			needed = append(needed, l.facts[i].word)
		}
	}
	return errors.New("want " + strings.Join(needed, " and "))
}

// print writes the line and what stands below it.
func (l *line[T]) print(p *printer, depth int, of *T) {
	p.line(depth, l.words(p, of)...)
	if !l.flat {
		depth++
	}
	for _, x := range l.below {
		x.print(p, depth, of)
	}
}

func (l *line[T]) words(p *printer, of *T) []string {
	out := []string{l.noun}
	if l.is != nil && *l.is(of) {
		out[0] = l.other
	}
	for i := range l.facts {
		if show := l.facts[i].print; show != nil {
			out = append(out, show(p, of))
		}
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" })
}

// redact replaces names in what is the caller's own.
func (l *line[T]) redact(r *redactor, in *T) {
	for i := range l.facts {
		if hide := l.facts[i].redact; hide != nil {
			hide(r, in)
		}
	}
	for _, x := range l.below {
		x.redact(r, in)
	}
}

// begins reports whether a line with the noun is such a line.
func (l *line[T]) begins(noun string) bool {
	return noun == l.noun || noun != "" && (noun == l.was || noun == l.other)
}

// enter returns where the lines below go; nil if there are none.
func (l *line[T]) enter(at *T) level {
	if len(l.below) == 0 {
		return nil
	}
	return under[T]{at, l.below}
}

// level is a thing that further lines may belong to.
type level interface {
	// read reads a line; below is where those after it may belong, nil if it opens nothing.
	read(p *parser, noun string, words []string) (below level, known bool, err error)
}

type under[T any] struct {
	at    *T
	parts []part[T]
}

func (u under[T]) read(p *parser, noun string, words []string) (below level, known bool, err error) {
	for _, x := range u.parts {
		if x.begins(noun) {
			below, err = x.read(p, u.at, noun, words)
			return below, true, err
		}
	}
	return nil, false, nil
}

// part is a kind of line that may stand below that of a P, and where its value is in the P.
type part[P any] interface {
	begins(noun string) bool
	read(p *parser, to *P, noun string, words []string) (below level, err error)
	print(p *printer, depth int, of *P)
	redact(r *redactor, in *P)
	describe(d *page, above []string)
}

// one is a line that a P has once.
type one[P, T any] struct {
	line[T]
	at    func(*P) *T
	when  func(*P) bool         // it is printed; nil: always
	anew  bool                  // a line takes the place of what was there, instead of adding to it
	after func(to *P, before T) // it has been read; nil: nothing more to do
}

func (o *one[P, T]) read(p *parser, to *P, _ string, words []string) (level, error) {
	at := o.at(to)
	before := *at
	if o.anew {
		*at = o.starts
	}
	if err := o.parse(p, at, words); err != nil {
		return nil, err
	}
	if o.after != nil {
		o.after(to, before)
	}
	return o.enter(at), nil
}

func (o *one[P, T]) print(p *printer, depth int, of *P) {
	if o.when == nil || o.when(of) {
		o.line.print(p, depth, o.at(of))
	}
}

func (o *one[P, T]) redact(r *redactor, in *P) { o.line.redact(r, o.at(in)) }

// list is a line for each T of a P.
type list[P, T any] struct {
	line[T]
	at     func(*P) *[]T
	show   func(*P, T) T // leaves out what the P says already; nil: nothing
	put    func(*P, T)   // undoes that and keeps the order of the list; nil: at the end
	number func(*T, int) // tells one of several apart that count= stands for; nil: they are equal
}

func (l *list[P, T]) read(p *parser, to *P, noun string, words []string) (level, error) {
	x := l.starts
	if l.is != nil {
		*l.is(&x) = noun == l.other
	}
	p.count = 0
	if err := l.parse(p, &x, words); err != nil {
		return nil, err
	}
	for i := range max(1, p.count) {
		next := x
		if p.count > 0 && l.number != nil {
			l.number(&next, i+1)
		}
		l.add(to, next)
	}
	if len(l.below) == 0 {
		return nil, nil
	}
	all := *l.at(to)
	return l.enter(&all[len(all)-1]), nil
}

func (l *list[P, T]) add(to *P, x T) {
	if l.put != nil {
		l.put(to, x)
		return
	}
	*l.at(to) = append(*l.at(to), x)
}

// each lists what the lines are to say.
func (l *list[P, T]) each(of *P) []T {
	if l.show == nil {
		return *l.at(of)
	}
	return mapped(*l.at(of), func(x T) T { return l.show(of, x) })
}

func (l *list[P, T]) print(p *printer, depth int, of *P) {
	all := l.each(of)
	for i := range all {
		l.line.print(p, depth, &all[i])
	}
}

func (l *list[P, T]) redact(r *redactor, in *P) {
	all := slices.Clone(l.each(in))
	*l.at(in) = nil
	for i := range all {
		l.line.redact(r, &all[i])
		l.add(in, all[i])
	}
}
