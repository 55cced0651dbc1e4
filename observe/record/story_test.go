package record_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/story"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/observe/record"
)

// Every file in testdata is one story: a sentence saying what must be on record, and in their order
// clusters that a plan is made for and carried out, how moves ended, what became of launches, and
// what is then reported about an object.
func TestStories(t *testing.T) {
	shop := story.Shop(t, "../../core/decide/testdata/shop.txt")
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) { report(t, files, shop) })
}

// office is a clerk with what it writes about.
type office struct {
	*record.Clerk
	now    time.Time
	last   plan.Plan
	claims int
}

func open() *office {
	o := &office{}
	o.Clerk = &record.Clerk{Record: &record.Record{}, Now: func() time.Time { return o.now }}
	return o
}

func report(t *testing.T, files []txtar.File, shop string) {
	o, asked := open(), 0
	for i := range files {
		f := &files[i]
		switch what, about, _ := strings.Cut(f.Name, " "); what {
		case "cluster":
			s, err := scenario.Parse(shop + string(f.Data))
			if err != nil {
				t.Fatal(err)
			}
			o.plan(s)
		case "ended":
			o.end(strings.TrimSpace(string(f.Data)))
		case "unlaunched", "became", "gaveup":
			o.launch(what, about, strings.TrimSpace(string(f.Data)))
		case "explain":
			asked++
			story.Expect(t, f, o.explain(t, about))
		default:
			t.Fatalf("what is a file %q?", f.Name)
		}
	}
	if asked == 0 {
		t.Fatal("nothing was asked")
	}
}

// plan makes a plan and launches what it asks for.
func (o *office) plan(s *cluster.Snapshot) {
	o.now = s.Now
	effort := decide.Usual(s)
	effort.Disruption = decide.DisruptionQuestions
	o.last = decide.Decide(s, decide.Policy{}, effort)
	o.Planned(s, o.last, 0)
	var launched []apply.Launched
	for _, l := range o.last.Launches {
		launched = append(launched, apply.Launched{Launch: l, Claim: o.claim(l.Pool.Name)})
	}
	o.Launched(launched)
	var withdrawn []apply.Withdrawn
	for _, w := range o.last.Withdrawals {
		withdrawn = append(withdrawn, apply.Withdrawn{Withdrawal: w})
	}
	o.Withdrawn(withdrawn)
	o.Explain(s, o.last)
}

func (o *office) claim(pool string) *karpv1.NodeClaim {
	o.claims++
	return &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-claim%d", pool, o.claims)}}
}

// end lets the moves of the last plan end, a little later: well, or with an
// error in these words.
func (o *office) end(words string) {
	o.now = o.now.Add(12 * time.Second)
	for _, m := range o.last.Moves {
		for _, l := range m.Launches {
			o.Replacing(m, apply.Launched{Launch: l, Claim: o.claim(l.Pool.Name)})
		}
		e := apply.Ended{Move: m, Gone: make([]bool, len(m.Removals))}
		for i := range e.Gone {
			e.Gone[i] = words == "well"
		}
		if words != "well" {
			e.Err = errors.New(words)
		}
		o.Moved(e)
	}
}

// launch has a launch that is under way come to something, or not: what, and after a colon why.
func (o *office) launch(what, claim, words string) {
	o.now = o.now.Add(2 * time.Second)
	launches := &record.Launches{Record: o.Record, Now: func() time.Time { return o.now }}
	said, why, _ := strings.Cut(words, "; ")
	switch what {
	case "became":
		launches.Became(claim, said, why)
		return
	case "gaveup":
		launches.GaveUp(claim, said)
		return
	}
	launches.Unlaunched(claim, said, why, "next: the launch is repeated")
}

func (o *office) explain(t *testing.T, about string) string {
	t.Helper()
	kind, name, _ := strings.Cut(about, "/")
	object, err := record.Parse(kind, name, "default")
	if err != nil {
		t.Fatal(err)
	}
	list, err := o.Record.Explain(object)
	if err != nil {
		return err.Error() + "\n"
	}
	var out strings.Builder
	if err := record.Write(&out, list, o.now, o.now); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
