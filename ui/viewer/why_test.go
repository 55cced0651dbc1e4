package viewer

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/view"
)

// explaining is a source that explains its nodes, and counts how often it is asked.
type explaining struct {
	cluster view.Cluster
	asked   []record.Object
}

func (e *explaining) View() *view.Cluster      { return &e.cluster }
func (e *explaining) Changed() <-chan struct{} { return nil }

func (e *explaining) Explain(o record.Object) (view.Card, error) {
	e.asked = append(e.asked, o)
	return view.Card{
		Why:    []view.Cause{{About: "8 of 11 nodes", What: "cpu"}},
		Change: []view.Cause{{About: "node n2", What: "cpu: need 600m more"}},
		Blocks: []view.Block{{What: "expireAfter", Text: "it is replaced by then", Until: e.cluster.At.Add(time.Hour)}},
	}, nil
}

// The details of a node say why it stays, what would change that and what keeps it; the source is asked once for each view.
func TestDetailsOfANodeExplainIt(t *testing.T) {
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	source := &explaining{cluster: view.Cluster{At: now, Nodes: []view.Node{{Name: "n1", Status: view.Ready}}}}
	m := New(source, Options{}, now)
	for _, msg := range []tea.Msg{tea.WindowSizeMsg{Width: 100, Height: 60}, tea.KeyPressMsg{Code: tea.KeyEnter}, Tick(now.Add(time.Second))} {
		m.Update(msg)
	}
	screen := ansi.Strip(m.View().Content)
	for _, want := range []string{"Why", "8 of 11 nodes", "What would change it", "cpu: need 600m more", "What keeps it so", "m left"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the details do not say %q:\n%s", want, screen)
		}
	}
	if len(source.asked) != 1 || source.asked[0] != (record.Object{Kind: record.Node, Name: "n1"}) {
		t.Errorf("the source was asked about %v, want node n1 once", source.asked)
	}
}
