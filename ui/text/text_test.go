package text

import (
	"strings"
	"testing"
)

func printed(write func(p *Printer)) string {
	var b strings.Builder
	p := New(&b)
	write(p)
	return b.String()
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestAWideSentenceGoesOnBelow(t *testing.T) {
	got := printed(func(p *Printer) {
		p.Line(Of("  "), Say(Bad, "pod shop/web-1 waits: "),
			Of(strings.Repeat("no node has room for it, ", 4)+"and no pool may launch one"))
	})
	want(t, got, "  pod shop/web-1 waits: no node has room for it, no node has room for it, no\n"+
		"    node has room for it, no node has room for it, and no pool may launch one\n")
}

func TestAnIndentIsKeptInEveryTone(t *testing.T) {
	got := printed(func(p *Printer) { p.Line(Say(Faint, "  note: %s", strings.Repeat("a word ", 12))) })
	want(t, got, "  note: a word a word a word a word a word a word a word a word a word a word\n    a word a word\n")
}

func TestATableKeepsNamesWholeAndWrapsReasons(t *testing.T) {
	table := Table{Columns: []Column{{Title: "POD"}, {Title: "CPU", Right: true}, {Title: "NOTHING"},
		{Title: "WHY", Wraps: true}}}
	table.Add(Of("shop/web-1"), Of("2"), Cell{},
		Of("no node has room for it: cpu on 8, a taint on 3; and the limit of NodePool/default is reached"))
	table.Add(Of("shop/a-pod-with-a-long-name-1"), Of("16"), Cell{}, Of("short"))
	want(t, printed(func(p *Printer) { p.Table(table) }), `POD                            CPU  WHY
shop/web-1                       2  no node has room for it: cpu on 8, a taint
                                    on 3; and the limit of NodePool/default is
                                    reached
shop/a-pod-with-a-long-name-1   16  short
`)
}

func TestWithoutRowsThereIsNoTable(t *testing.T) {
	want(t, printed(func(p *Printer) { p.Table(Table{Columns: []Column{{Title: "POD"}}}) }), "")
}

// A message of a cluster could move the cursor, set a title, or turn the text around.
func TestTextOfAClusterIsNoControlSequence(t *testing.T) {
	got := printed(func(p *Printer) {
		p.Line(Of("\x1b[2Jcleared \x1b]0;title\x07 \u202ereversed\r\nnext\u009b1m"))
	})
	want(t, got, "\ufffd[2Jcleared \ufffd]0;title\ufffd \ufffdreversed\ufffd next\ufffd1m\n")
}

func TestColourIsOnTerminalsAlone(t *testing.T) {
	got := printed(func(p *Printer) { p.Line(Say(Bad, "bad"), Say(Good, " good")) })
	want(t, got, "bad good\n")
}
