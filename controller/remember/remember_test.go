package remember

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
)

// head remembers the claims that went.
type head map[string]translate.Departure

func (h head) Memory() snapshot.Memory { return snapshot.Memory{Departures: h} }
func (h head) Remember(m snapshot.Memory) {
	for name, d := range m.Departures {
		h[name] = d
	}
}

// lookout has seen spot instances.
type lookout struct{ seen cloud.SpotSeen }

func (l *lookout) SpotSeen() cloud.SpotSeen       { return l.seen }
func (l *lookout) RecallSpot(seen cloud.SpotSeen) { l.seen = seen }

// deaf is an API server that cannot be read.
type deaf struct{ client.Reader }

func (deaf) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("no answer")
}

func store(t *testing.T) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(s).Build()
}

func round(t *testing.T, b *Book) {
	t.Helper()
	if _, err := b.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Two processes take turns, and neither writes over what the other has seen.
func TestTheNextLeaderKnows(t *testing.T) {
	at, s := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), store(t)
	one, two := head{"a": {At: at}}, head{}
	first := &Book{ClusterState: one, Store: s, Live: s, Namespace: "kube-system"}
	second := &Book{ClusterState: two, Store: s, Live: s, Namespace: "kube-system"}
	round(t, first)
	if err := second.Load(t.Context()); err != nil || !two["a"].At.Equal(at) {
		t.Fatalf("the second knows %v, error %v; want what the first has seen", two, err)
	}
	two["b"] = translate.Departure{At: at}
	round(t, second)
	one["c"] = translate.Departure{At: at}
	round(t, first) // another writer wrote
	round(t, first)
	third := head{}
	if err := (&Book{ClusterState: third, Store: s, Live: s, Namespace: "kube-system"}).Load(t.Context()); err != nil || len(third) != 3 {
		t.Errorf("the third knows %v, error %v; want a, b and c", third, err)
	}
}

// How often spot instances were taken away is known to the next leader.
func TestWhatWasSeenOfSpotInstancesIsKept(t *testing.T) {
	s := store(t)
	saw, next := &lookout{cloud.SpotSeen{At: time.Unix(1e9, 0).UTC(), Pools: []cloud.SpotPool{{Kind: "m5.large", Zone: "a", Hours: 12.5, Events: 2}}}}, &lookout{}
	round(t, &Book{ClusterState: head{}, Spot: saw, Store: s, Live: s, Namespace: "kube-system"})
	err := (&Book{ClusterState: head{}, Spot: next, Store: s, Live: s, Namespace: "kube-system"}).Load(t.Context())
	if err != nil || !reflect.DeepEqual(next.seen, saw.seen) {
		t.Errorf("the next knows %+v, error %v; want %+v", next.seen, err, saw.seen)
	}
}

// scales have seen how much memory instances have.
type scales struct{ seen cloud.MemorySeen }

func (s *scales) MemorySeen() cloud.MemorySeen       { return s.seen }
func (s *scales) RecallMemory(seen cloud.MemorySeen) { s.seen = seen }

// How much memory instances turned out to have is known to the next leader.
func TestWhatInstancesHaveIsKept(t *testing.T) {
	s := store(t)
	saw, next := &scales{cloud.MemorySeen{{Kind: "m5.large", Image: "ami-1", Memory: 7 << 30, SeenOn: time.Unix(1e9, 0).UTC()}}}, &scales{}
	round(t, &Book{ClusterState: head{}, Sizes: saw, Store: s, Live: s, Namespace: "kube-system"})
	err := (&Book{ClusterState: head{}, Sizes: next, Store: s, Live: s, Namespace: "kube-system"}).Load(t.Context())
	if err != nil || !reflect.DeepEqual(next.seen, saw.seen) {
		t.Errorf("the next knows %+v, error %v; want %+v", next.seen, err, saw.seen)
	}
}

// offerings remembers which could not be had.
type offerings struct{ seen []cloud.Unavailable }

func (o *offerings) UnavailableSeen() []cloud.Unavailable       { return o.seen }
func (o *offerings) RecallUnavailable(seen []cloud.Unavailable) { o.seen = seen }

// Which offerings could not be had is known to the next leader, and to daemok plan.
func TestWhatCouldNotBeHadIsKept(t *testing.T) {
	s := store(t)
	saw, next := &offerings{[]cloud.Unavailable{{Kind: "m5.large", Zone: "a", Option: "spot", Until: time.Unix(1e9, 0).UTC()}}}, &offerings{}
	round(t, &Book{ClusterState: head{}, Offerings: saw, Store: s, Live: s, Namespace: "kube-system"})
	err := (&Book{ClusterState: head{}, Offerings: next, Store: s, Live: s, Namespace: "kube-system"}).Load(t.Context())
	if err != nil || !reflect.DeepEqual(next.seen, saw.seen) {
		t.Errorf("the next knows %+v, error %v; want %+v", next.seen, err, saw.seen)
	}
}

// Nothing is written while it is not known what is there.
func TestNothingIsWrittenOverWhatWasNotRead(t *testing.T) {
	s := store(t)
	b := &Book{ClusterState: head{"a": {}}, Store: s, Live: deaf{s}, Namespace: "kube-system"}
	if _, err := b.Round(t.Context()); err == nil {
		t.Error("it is not told that nothing could be read")
	}
	var list corev1.ConfigMapList
	if err := s.List(t.Context(), &list); err != nil || len(list.Items) > 0 {
		t.Errorf("there are %d ConfigMaps, error %v; want none", len(list.Items), err)
	}
}
