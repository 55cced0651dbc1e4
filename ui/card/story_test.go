package card_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/internal/story"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/card"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/view/viewtest"
)

// Every file in testdata is one story: a cluster that a plan is made for and recorded, and what is explained.
func TestStories(t *testing.T) {
	shop := story.Shop(t, "../../core/decide/testdata/shop.txt")
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		var in view.Input
		kept := &record.Record{}
		for i := range files {
			f := &files[i]
			switch what, about, _ := strings.Cut(f.Name, " "); what {
			case "cluster":
				in = viewtest.Planned(t, shop+string(f.Data), kept)
			case "explain":
				story.Expect(t, f, explained(t, in, kept, about))
			default:
				t.Fatalf("what is a file %q?", f.Name)
			}
		}
	})
}

// explained is the screen of "pod/shop/web-1", or of "owner shop Deployment/web".
func explained(t *testing.T, in view.Input, kept *record.Record, about string) string {
	t.Helper()
	var c view.Card
	var err error
	if owner, is := strings.CutPrefix(about, "owner "); is {
		namespace, name, _ := strings.Cut(owner, " ")
		c, err = view.ExplainOwner(in, namespace, name)
	} else {
		kind, name, _ := strings.Cut(about, "/")
		o := record.Object{Kind: record.Kind(kind), Name: name}
		c, err = view.Explain(in, o, kept.About(o))
	}
	if err != nil {
		return err.Error() + "\n"
	}
	var b bytes.Buffer
	if err := card.Write(text.New(&b), &c, in.Snapshot.Now, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
