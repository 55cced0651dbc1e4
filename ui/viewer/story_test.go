package viewer_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/story"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/view/viewtest"
	"github.com/daemok/daemok/ui/viewer"
)

// shown is a source whose view a test sets.
type shown struct {
	cluster *view.Cluster
	changes chan struct{}
}

func (s *shown) View() *view.Cluster      { return s.cluster }
func (s *shown) Changed() <-chan struct{} { return s.changes }

// Every file in testdata is one story: a cluster that a plan is made for and recorded, what its user does,
// and the screen.
func TestStories(t *testing.T) {
	shop := story.Shop(t, "../../core/decide/testdata/shop.txt")
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		s := &stage{t: t, shop: shop, width: 80, height: 24}
		for i := range files {
			s.act(&files[i])
		}
	})
}

// stage is a screen on which a story is played.
type stage struct {
	t             *testing.T
	shop          string
	in            view.Input
	source        shown
	options       viewer.Options
	model         *viewer.Model
	width, height int
	waited        time.Duration
}

func (s *stage) act(f *txtar.File) {
	s.t.Helper()
	said := strings.TrimSpace(string(f.Data))
	name, _, _ := strings.Cut(f.Name, " ")
	switch name {
	case "cluster":
		s.in = viewtest.Planned(s.t, s.shop+string(f.Data), &record.Record{})
		s.in.Offers = false
		s.changed()
	case "troubles":
		s.in.Troubles = strings.Split(said, "\n")
		s.changed()
	case "control":
		said = strings.NewReplacer("ESC", "\x1b", "BEL", "\a").Replace(said)
		s.in.Statements = append(s.in.Statements, done(s.t, said, s.in.Snapshot.Now)...)
		s.changed()
	case "done":
		s.in.Statements = append(s.in.Statements, done(s.t, said, s.in.Snapshot.Now)...)
		s.changed()
	case "usage":
		s.in.Usage = usage(s.t, said)
		s.changed()
	case "options":
		s.options = options(s.t, said)
	case "size":
		if _, err := fmt.Sscanf(said, "%dx%d", &s.width, &s.height); err != nil {
			s.t.Fatal(err)
		}
		s.send(tea.WindowSizeMsg{Width: s.width, Height: s.height})
	case "keys":
		for press := range strings.FieldsSeq(said) {
			s.press(press)
		}
	case "typed":
		for _, r := range said {
			s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	case "later":
		d, err := time.ParseDuration(said)
		if err != nil {
			s.t.Fatal(err)
		}
		s.waited += d
		s.send(viewer.Tick(s.now()))
	case "screen":
		story.Expect(s.t, f, s.screen())
	case "once":
		var b bytes.Buffer
		if err := viewer.Once(text.New(&b), s.source.cluster, s.options); err != nil {
			s.t.Fatal(err)
		}
		story.Expect(s.t, f, b.String())
	case "csv":
		var b bytes.Buffer
		if err := viewer.CSV(&b, s.source.cluster, s.options); err != nil {
			s.t.Fatal(err)
		}
		story.Expect(s.t, f, b.String())
	default:
		s.t.Fatalf("what is a file %q?", f.Name)
	}
}

// changed shows another view of the cluster.
func (s *stage) changed() {
	c := view.Of(s.in)
	s.source.cluster = &c
	if s.model != nil {
		s.send(viewer.Changed{})
	}
}

// now is a clock that is wrong by a year.
func (s *stage) now() time.Time { return s.in.Snapshot.Now.AddDate(1, 0, 0).Add(s.waited) }

func (s *stage) send(msg tea.Msg) {
	if s.model == nil {
		s.model = viewer.New(&s.source, s.options, s.now())
		s.model.Update(tea.WindowSizeMsg{Width: s.width, Height: s.height})
	}
	s.model.Update(msg)
}

var named = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "tab": tea.KeyTab,
	"pgdown": tea.KeyPgDown, "end": tea.KeyEnd, "home": tea.KeyHome,
}

func (s *stage) press(key string) {
	if code, is := named[key]; is {
		s.send(tea.KeyPressMsg{Code: code})
		return
	}
	s.send(tea.KeyPressMsg{Code: []rune(key)[0], Text: key})
}

// screen is what is on it, without colours, and without blanks at the ends of lines. It is no wider and no
// higher than it may be.
func (s *stage) screen() string {
	s.t.Helper()
	s.send(tea.FocusMsg{})
	lines := strings.Split(ansi.Strip(s.model.View().Content), "\n")
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > s.width {
			s.t.Errorf("line %d has %d columns, the screen %d: %s", i+1, n, s.width, l)
		}
		lines[i] = strings.TrimRight(l, " ")
	}
	if len(lines) > s.height {
		s.t.Errorf("the screen has %d lines and room for %d", len(lines), s.height)
	}
	return strings.Join(lines, "\n") + "\n"
}

func options(t *testing.T, said string) (o viewer.Options) {
	t.Helper()
	for line := range strings.Lines(said) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		var err error
		switch key {
		case "cluster":
			o.Cluster = value
		case "resources":
			o.Resources = strings.Split(value, ",")
		case "labels":
			o.Labels = strings.Split(value, ",")
		case "sort":
			o.Sort, err = viewer.ParseSort(value)
		case "selector":
			o.Selector, err = labels.Parse(value)
		case "pools":
			o.Pools = strings.Split(value, ",")
		default:
			t.Fatalf("what is the option %q?", key)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// usage reads lines as "n1 1500m 2Gi".
func usage(t *testing.T, said string) map[string]quantity.Resources {
	t.Helper()
	out := map[string]quantity.Resources{}
	for line := range strings.Lines(said) {
		f := strings.Fields(line)
		var r quantity.Resources
		for i, name := range []string{quantity.NameCPU, quantity.NameMemory} {
			n, err := quantity.ParseAmount(name, f[1+i])
			if err != nil {
				t.Fatal(err)
			}
			r = r.With(name, n)
		}
		out[f[0]] = r
	}
	return out
}

// done reads lines as "node/n1 5m terminated because it is empty".
func done(t *testing.T, said string, now time.Time) (out []record.Statement) {
	t.Helper()
	for line := range strings.Lines(said) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3)
		kind, name, _ := strings.Cut(f[0], "/")
		ago, err := time.ParseDuration(f[1])
		if err != nil {
			t.Fatal(err)
		}
		what, why, _ := strings.Cut(f[2], " because ")
		about := record.Object{Kind: record.Kind(kind), Name: name}
		out = append(out, record.Statement{About: about, From: now.Add(-ago), Said: what, Why: why})
	}
	return out
}
