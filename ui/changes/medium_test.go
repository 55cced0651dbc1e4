package changes_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/ui/changes"
	"github.com/daemok/daemok/ui/page"
)

// A page in a browser has no flags: what is cut short names the part of the page that has all of it.
func TestWhatIsCutShortSaysWhereTheRestIs(t *testing.T) {
	var in changes.Input
	in.Snapshot = &cluster.Snapshot{Now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	move := plan.Move{Removals: []plan.Removal{{Node: "node-0"}}}
	for i := range 40 {
		pod := cluster.Pod{Namespace: "shop", Name: fmt.Sprintf("web-%d", i), Owner: fmt.Sprintf("Deployment/web-%d", i)}
		move.Removals[0].Pods = append(move.Removals[0].Pods, pod)
		move.Placements = append(move.Placements, plan.Placement{Pod: pod, On: plan.OnNode, Target: "node-1"})
		in.Plan.Launches = append(in.Plan.Launches,
			plan.Launch{Name: fmt.Sprintf("new-%d", i), Notes: []string{fmt.Sprintf("note %d", i)}})
		in.Plan.Kept = append(in.Plan.Kept, plan.Kept{
			Node: fmt.Sprintf("node-%d", i+2), Reason: plan.RemovalReason(fmt.Sprintf("Reason%d", i)),
			By: plan.KeptByBudget, Why: fmt.Sprintf("why %d", i),
		})
	}
	in.Plan.Moves = []plan.Move{move}
	flag := regexp.MustCompile(`(^|[ :])--?[a-z]`)
	below := regexp.MustCompile(`more.*: see "(.*)" below`)
	for medium, want := range map[changes.Medium]int{changes.Screen: 0, changes.Document: 3, changes.WebPages: 3} {
		in.Medium = medium
		made := changes.Page(in)
		parts := 0
		for i := range made.Blocks {
			for _, line := range textOf(&made.Blocks[i]) {
				if medium != changes.Screen && flag.MatchString(line) {
					t.Errorf("medium %d names a flag: %q", medium, line)
				}
				named := below.FindStringSubmatch(line)
				if named == nil {
					continue
				}
				parts++
				if !hasRows(made, named[1], 40) {
					t.Errorf("medium %d: %q, and there is no such part with all", medium, line)
				}
			}
		}
		if parts != want {
			t.Errorf("medium %d names %d parts of the page, want %d", medium, parts, want)
		}
	}
}

func textOf(b *page.Block) (out []string) {
	for _, line := range append(b.Lines, b.After...) {
		var words strings.Builder
		for _, c := range line {
			words.WriteString(c.Text)
		}
		out = append(out, words.String())
	}
	return out
}

func hasRows(p page.Page, heading string, rows int) bool {
	for i := range p.Blocks {
		if b := &p.Blocks[i]; b.Heading == heading {
			return b.Detail && len(b.Table.Rows) >= rows
		}
	}
	return false
}
