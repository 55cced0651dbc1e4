package manifest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/story"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
)

var start = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

// Every file in testdata is one story: a sentence saying what must happen, the
// world before, as a saved snapshot or as the objects of a live cluster, the setting to plan for devices, the
// manifests, and what they come to: changes, notes and the world with them, or
// an error.
func TestStories(t *testing.T) {
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		last := len(files) - 1
		story.Expect(t, &files[last], report(t, files[:last]))
	})
}

func report(t *testing.T, files []txtar.File) string {
	t.Helper()
	var w World
	var sources []Source
	for _, f := range files {
		switch f.Name {
		case "snapshot":
			w = saved(t, string(f.Data))
		case "cluster":
			w = live(t, string(f.Data))
		case "devices": // pods with ResourceClaims are planned for
			w.Configure(func(s *snapshot.Settings) { s.PlanDevices = true })
		case "delete": // the manifests are deleted
		default:
			sources = append(sources, Source{Name: f.Name, Data: f.Data})
		}
	}
	deleted := slices.ContainsFunc(files, func(f txtar.File) bool { return f.Name == "delete" })
	read := Read
	if deleted {
		read = ReadNames
	}
	objects, notes, err := read(sources, "default")
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	outcome, after, err := carriedOut(objects, w, deleted)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var b strings.Builder
	for _, line := range outcome.Changes {
		b.WriteString(line + "\n")
	}
	for _, line := range append(notes, outcome.Notes...) {
		b.WriteString("note: " + line + "\n")
	}
	_, rest, _ := strings.Cut(scenario.Print(after), "\n") // the revision counts what was seen
	return b.String() + "\n" + rest
}

// carriedOut is what manifests come to that are applied, or deleted.
func carriedOut(objects []Object, w World, deleted bool) (Outcome, *cluster.Snapshot, error) {
	if deleted {
		live := w.ClusterState
		if w.Saved != nil {
			live = nil
		}
		after, outcome, err := Delete(objects, w.Snapshot(), live)
		return outcome, after, err
	}
	outcome, err := Apply(objects, w)
	if err != nil {
		return Outcome{}, nil, err
	}
	return outcome, w.Snapshot(), nil
}

func saved(t *testing.T, text string) World {
	t.Helper()
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	state := snapshot.Recall(s)
	state.Configure(func(s *snapshot.Settings) { s.FreezeIn, s.CommitmentsIn = "kube-system", "kube-system" })
	return World{ClusterState: state, Now: s.Now, Saved: s}
}

func live(t *testing.T, text string) World {
	t.Helper()
	state := snapshot.New(func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return nil, "no class in this story" },
		func() time.Time { return start })
	state.Configure(func(s *snapshot.Settings) { s.FreezeIn, s.CommitmentsIn = "kube-system", "kube-system" })
	var priorities []schedulingv1.PriorityClass
	r, err := newReader("default")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range strings.Split(text, "\n---\n") {
		data, err := sigsyaml.YAMLToJSONStrict([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		object, _, err := r.decoder.Decode(data, nil, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if c, is := object.(*schedulingv1.PriorityClass); is {
			priorities = append(priorities, *c)
			continue
		}
		show(t, state, object)
	}
	return World{ClusterState: state, Now: start, Priorities: func() ([]schedulingv1.PriorityClass, error) { return priorities, nil }}
}

func show(t *testing.T, k *snapshot.ClusterState, object runtime.Object) {
	t.Helper()
	switch o := object.(type) {
	case *karpv1.NodePool:
		k.PoolSeen(translate.FromNodePool(o))
	case *v1alpha1.DisruptionPolicy:
		k.PoliciesAre([]v1alpha1.DisruptionPolicy{*o})
	case client.Object:
		k.Listed(o)
	default:
		t.Fatalf("no story shows a %T", o)
	}
}
