package whole_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/test/fakecloud"
)

// What was decided about a pod and its node can be asked while no controller
// runs, and the next one goes on with the record.
func TestDecisionsOutliveTheirController(t *testing.T) {
	report(t, fakecloud.Options{Seed: 7}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		first := w.start(setup{})
		w.scale("web", 1)
		w.until(5*time.Minute, "a pod running", func() bool { return w.run(1) })
		time.Sleep(2 * time.Minute)
		first.stop()
		pod, claim, node := w.allPods()[0], w.claims()[0], w.nodes()[0]
		ofPod := record.Object{Kind: record.Pod, Name: pod.Namespace + "/" + pod.Name}
		ofNode := record.Object{Kind: record.Node, Name: node.Name}
		w.explains(ofPod, "is to run on the instance of claim "+claim.Name)
		w.explains(ofNode, "was created: m5.large in ")
		w.start(setup{})
		w.scale("web", 0)
		w.until(10*time.Minute, "an empty cluster", w.empty)
		time.Sleep(2 * time.Minute)
		w.explains(ofNode, "goes: ", "was disrupted: ", "was created: m5.large in ") // for being empty, or since its pods are not created again
		w.explains(ofPod, "is to run on the instance of claim "+claim.Name)
	})
}

// explains checks what is on record about an object.
func (w *world) explains(o record.Object, wants ...string) {
	w.t.Helper()
	kept, _, err := record.Read(context.Background(), w.hand, "kube-system")
	if err != nil {
		w.t.Fatal(err)
	}
	list, err := kept.Explain(o)
	if err != nil {
		w.t.Fatal(err)
	}
	var out strings.Builder
	if err := record.Write(&out, list, time.Now(), time.Now()); err != nil {
		w.t.Fatal(err)
	}
	for _, want := range wants {
		if !strings.Contains(out.String(), want) {
			w.t.Errorf("on record about %s is nothing of %q:\n%s", o, want, out.String())
		}
	}
}
