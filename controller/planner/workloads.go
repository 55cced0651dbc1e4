package planner

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/observe"
)

const (
	// ownerWithin is how long the look-up of a workload may take: an event is not worth
	// more.
	ownerWithin = 2 * time.Second
	// ownersMax is how many workloads may wait to be looked up, about a minute's
	// worth of an API server that does not answer. The next plan says again
	// what there was no room for.
	ownersMax = 32
)

// owners are the Kinds of workloads that are looked up, with their groups. It is never
// written.
var owners = map[string]string{
	"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "Job": "batch/v1", "ReplicationController": "v1",
}

// Workloads publishes events about pods on their workloads. It reads the workloads past
// every cache, one after another, while no plan waits. Build it with NewWorkloads.
type Workloads struct {
	live   client.Reader
	events publisher
	asked  chan reported
}

// reported is a message for the workload that pods of a namespace say they are of.
type reported struct {
	namespace, owner string
	key              string        // of the workload's events
	event            observe.Event // as the pod hears it where there is no such workload
}

// NewWorkloads returns workloads about which nothing was reported.
func NewWorkloads(live client.Reader, events publisher) *Workloads {
	return &Workloads{live: live, events: events, asked: make(chan reported, ownersMax)}
}

// report keeps a message for Run to send; it reports false where too many wait.
func (w *Workloads) report(m reported) bool {
	select {
	case w.asked <- m:
		return true
	default:
		return false
	}
}

// Run publishes these messages until ctx ends.
func (w *Workloads) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-w.asked:
			if object, there := w.find(ctx, m.namespace, m.owner); there {
				m.event.About, m.event.Key = object, m.key
			}
			w.events.Publish(m.event)
		}
	}
}

// find reads a workload, such as "Deployment/web". One that cannot be read is described by
// its name alone; one that is gone, or of another Kind, is not found.
func (w *Workloads) find(ctx context.Context, namespace, owner string) (runtime.Object, bool) {
	kind, name, _ := strings.Cut(owner, "/")
	version, known := owners[kind]
	if !known || name == "" {
		return nil, false
	}
	out := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}
	ctx, cancel := context.WithTimeout(ctx, ownerWithin)
	defer cancel()
	read := out.DeepCopy()
	switch err := w.live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, read); {
	case apierrors.IsNotFound(err):
		return nil, false
	case err == nil:
		out.UID = read.UID
	}
	return out, true
}
