package status_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/internal/story"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/status"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/view/viewtest"
)

// Every file in testdata is one story: a cluster that a plan is made for and recorded, and the screen.
func TestStories(t *testing.T) {
	shop := story.Shop(t, "../../core/decide/testdata/shop.txt")
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		var in view.Input
		for i := range files {
			switch f := &files[i]; f.Name {
			case "cluster":
				in = viewtest.Planned(t, shop+string(f.Data), &record.Record{})
			case "leader":
				renewed, err := time.ParseDuration(strings.TrimSpace(string(f.Data)))
				if err != nil {
					t.Fatal(err)
				}
				in.Controller = &view.Controller{Leader: "karpenter-5d8f9", Version: "1.2.3", Ready: 2, Wanted: 2,
					Renewed: in.Snapshot.Now.Add(-renewed)}
				in.Controller.Judge(in.Snapshot.Now)
			case "status":
				c := view.Of(in)
				var b bytes.Buffer
				if err := status.Write(text.New(&b), &c, false); err != nil {
					t.Fatal(err)
				}
				story.Expect(t, f, b.String())
			default:
				t.Fatalf("what is a file %q?", f.Name)
			}
		}
	})
}
