package snapshot

import (
	"slices"
	"testing"

	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/story"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// TestARecalledSnapshotSaysTheSame: what a cluster state that began with a saved
// snapshot says is that snapshot, for every story of decisions.
func TestARecalledSnapshotSaysTheSame(t *testing.T) {
	shop := story.Shop(t, "../../core/decide/testdata/shop.txt")
	story.Each(t, "../../core/decide/testdata", func(t *testing.T, files []txtar.File) {
		saved, err := scenario.Parse(shop + string(files[0].Data))
		if err != nil {
			t.Fatal(err)
		}
		want := scenario.Print(canonical(saved))
		got := Recall(saved).Snapshot()
		if text := scenario.Print(got); text != want {
			t.Errorf("recalled\n%s\nwant\n%s", text, want)
		}
	})
}

// canonical leaves out what a cluster state does not make: shapes that are there twice.
func canonical(s *cluster.Snapshot) *cluster.Snapshot {
	out := *s
	byKey := map[string]*cluster.Shape{}
	use := func(shape *cluster.Shape) *cluster.Shape {
		key := podspec.ShapeKey(shape)
		if byKey[key] == nil {
			byKey[key] = shape
		}
		return byKey[key]
	}
	pods := func(list []cluster.Pod) []cluster.Pod {
		list = slices.Clone(list)
		for i := range list {
			list[i].Shape = use(list[i].Shape)
		}
		return list
	}
	out.Waiting, out.Nodes, out.Instances, out.Daemons = pods(s.Waiting), slices.Clone(s.Nodes), slices.Clone(s.Instances), slices.Clone(s.Daemons)
	for i := range out.Nodes {
		out.Nodes[i].Pods, out.Nodes[i].LaunchedFor = pods(out.Nodes[i].Pods), pods(out.Nodes[i].LaunchedFor)
	}
	for i := range out.Instances {
		out.Instances[i].LaunchedFor = pods(out.Instances[i].LaunchedFor)
	}
	for i := range out.Daemons {
		out.Daemons[i].Shape = use(out.Daemons[i].Shape)
	}
	return &out
}

// A pod that comes after the recall is shown with the labels that pods of the
// snapshot chose by, and one that leaves is gone.
func TestARecalledSnapshotGoesOn(t *testing.T) {
	saved, err := scenario.Parse(`snapshot 7 2026-11-21T04:00:00Z
shape web namespace=default cpu=1
  labels app=web
  apart kubernetes.io/hostname
    select app In web
waiting default/web-1 shape=web
node n claim=c pool=NodePool/default ready initialized
  allocatable cpu=4 memory=8Gi pods=20
  pod default/web-0 shape=web returns
`)
	if err != nil {
		t.Fatal(err)
	}
	k := Recall(saved)
	k.Seen(pod("other", "1", "", func(p *corev1.Pod) { p.Labels = map[string]string{"app": "other", "tier": "x"} }))
	k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}})
	s := k.Snapshot()
	if len(s.Waiting) != 2 || !slices.Equal(s.Waiting[0].Shape.Labels, constraint.Labels{{Key: "app", Value: "other"}}) {
		t.Errorf("waiting: got %+v, want other with the label app alone beside web-1", s.Waiting)
	}
	if n := s.Nodes[0]; len(n.Pods) != 0 || !n.QuietSince.Equal(saved.Now) {
		t.Errorf("got a node with %d pods, quiet since %v; want it empty, and quiet since the moment of the snapshot", len(n.Pods), n.QuietSince)
	}
}
