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
)

// ownerWithin is how long the look-up of a workload may take: an event is not
// worth more.
const ownerWithin = 2 * time.Second

// workloads are the kinds of owners that are looked up, with their groups. It
// is never written.
var workloads = map[string]string{
	"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "Job": "batch/v1", "ReplicationController": "v1",
}

// Owners returns a function that finds workloads by live reads. One that
// cannot be read is described by its name alone; one that is gone, or of
// another kind, is not found.
func Owners(ctx context.Context, live client.Reader) func(namespace, owner string) (runtime.Object, bool) {
	return func(namespace, owner string) (runtime.Object, bool) {
		kind, name, _ := strings.Cut(owner, "/")
		version, known := workloads[kind]
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
		switch err := live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, read); {
		case apierrors.IsNotFound(err):
			return nil, false
		case err == nil:
			out.UID = read.UID
		}
		return out, true
	}
}
