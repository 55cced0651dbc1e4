package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// Line is what there is to say about the lines with one noun.
type Line struct {
	Nouns []string // more than one where these lines differ by it
	Was   string   // the noun that older versions wrote; empty if it has not changed
	Below []string // the lines that these stand below; none: they stand for themselves
	Like  string   // the noun of the lines that have the same facts; empty: they are here
	Means string   // in a sentence
	Facts []Fact
}

// Fact is what there is to say about one fact of a line.
type Fact struct {
	Word     string // that is written as it is; empty: the fact has a place
	Value    string // what it is followed by, or what stands there; empty: nothing
	Means    string
	Redacted string // what Redact does to it; empty: it stays
}

// Lines lists the lines of the language, in the order in which a snapshot has them.
func Lines() []Line {
	var d page
	for _, x := range top {
		x.describe(&d, nil)
	}
	return d.lines
}

type page struct{ lines []Line }

// describe adds the line and what stands below it to the page.
func (l *line[T]) describe(d *page, above []string) {
	at := slices.IndexFunc(d.lines, func(x Line) bool { return x.Nouns[0] == l.noun })
	if at < 0 {
		at = len(d.lines)
		d.lines = append(d.lines, l.about())
	}
	for _, noun := range above {
		if x := &d.lines[at]; !slices.Contains(x.Below, noun) {
			x.Below = append(x.Below, noun)
		}
	}
	for _, x := range l.below {
		x.describe(d, d.lines[at].Nouns)
	}
}

func (l *line[T]) about() Line {
	out := Line{Nouns: []string{l.noun}, Was: l.was, Like: l.like, Means: l.means}
	if l.other != "" {
		out.Nouns = append(out.Nouns, l.other)
	}
	for i := range l.facts {
		out.Facts = append(out.Facts, l.facts[i].about())
	}
	return out
}

func (f *fact[T]) about() Fact {
	out := Fact{Means: f.means, Redacted: f.hides}
	what := strings.ToUpper(withoutArticle(f.word))
	switch f.place {
	case byWord:
		out.Word, out.Value = f.word+"=", strings.ToUpper(f.form)
	case alone:
		out.Word = f.word
	case first:
		out.Value = what
	case optional:
		out.Value = "[" + what + "]"
	case each, rest:
		out.Value = what + " ..."
	}
	return out
}

// misplaced says where a line with the noun may stand.
func misplaced(noun string) error {
	for _, x := range Lines() {
		if slices.Contains(x.Nouns, noun) {
			return fmt.Errorf("%s: does not belong here: want it below %s", noun, strings.Join(x.Below, " or "))
		}
	}
	return fmt.Errorf("no line begins with %q", noun)
}

// Example is a snapshot that shows the language.
const Example = `snapshot 12 2026-11-21T04:00:00Z
shape web namespace=default cpu=500m memory=1Gi
  labels app=web
  spread topology.kubernetes.io/zone min-domains=2
    select app In web
waiting default/web-2 shape=web owner=Deployment/web
catalogue c1 7
kind m5.large cpu=2 memory=8Gi pods=29
  allocatable cpu=1930m memory=7Gi pods=29
  offer us-west-2a on-demand 0.096
  offer us-west-2a spot 0.04 risk=0.02
  offer us-west-2b spot unpriced unavailable
pool NodePool/default weight=10 catalogue=c1
  require node.kubernetes.io/instance-type Exists minvalues 5
  limit cpu=100 nodes=5
  policy consolidate=WhenEmpty after=30s
  allow 1 note="nodes: 10%"
pdb default/web allows=1
node ip-10-0-0-1 claim=default-1 pool=NodePool/default price=0.096 ready initialized
  labels topology.kubernetes.io/zone=us-west-2a
  allocatable cpu=1930m memory=7Gi pods=29
  pod default/web-1 shape=web returns pdbs=web
`
