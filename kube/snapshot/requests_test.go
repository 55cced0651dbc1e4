package snapshot

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	v1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/provisioningrequest"
)

func asking(cpu string) corev1.PodSpec {
	requests := corev1.ResourceList{"cpu": resource.MustParse(cpu)}
	main := corev1.Container{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}
	return corev1.PodSpec{Containers: []corev1.Container{main}}
}

// Pods that have a node count as come, each for the set that requests the same; those that wait are listed, those that
// failed are not, and of a request that is not there that is said.
func TestPodsConsumeRequests(t *testing.T) {
	kinds := func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return nil, "" }
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	k := New(kinds, func() time.Time { return now })
	r := &v1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "train", UID: "r"}}
	r.Spec.ProvisioningClassName = v1.ClassBestEffortAtomic
	r.Spec.PodSets = []v1.PodSet{{Count: 1}, {Count: 3}}
	pod := func(name, cpu, node, request string, phase corev1.PodPhase) {
		p := &corev1.Pod{Spec: asking(cpu)}
		p.Namespace, p.Name, p.UID = "d", name, types.UID(name)
		p.Annotations = map[string]string{api.AnnotationConsumesRequest: request}
		p.Spec.NodeName, p.Status.Phase = node, phase
		k.Seen(p)
	}
	pod("runs", "1", "n1", "train", corev1.PodRunning)
	pod("done", "1", "n1", "train", corev1.PodSucceeded)
	pod("failed", "1", "n1", "train", corev1.PodFailed)
	pod("waits", "1", "", "train", corev1.PodPending)
	pod("lost", "1", "", "other", corev1.PodPending)
	if list := k.Snapshot().Requested; len(list) != 0 {
		t.Fatalf("requests are shown before they have an effect: %+v", list)
	}
	k.Requests.Serve()
	k.Seen(r)
	if list := k.Snapshot().Requested; len(list) != 2 || list[1].NotReady != "its PodTemplates have not been read yet" {
		t.Fatalf("got %+v, want a request whose templates are not known", list)
	}
	resolved := provisioningrequest.Resolved{Object: r}
	for _, cpu := range []string{"2", "1"} {
		of := &corev1.Pod{Spec: asking(cpu)}
		of.Namespace = "d"
		resolved.Pods = append(resolved.Pods, of)
	}
	k.Requests.Resolved(resolved)
	list := k.Snapshot().Requested
	if len(list) != 2 || len(list[1].Sets) != 2 {
		t.Fatalf("got %+v, want the request with two sets, and the one that is not there", list)
	}
	other, train := list[0], list[1]
	if train.Sets[0].Come != 0 || train.Sets[1].Come != 2 || !slices.Equal(train.Consumers, []string{"waits"}) {
		t.Errorf("of sets have come %d and %d, and %q wait; want 0, 2 and the pod waits",
			train.Sets[0].Come, train.Sets[1].Come, train.Consumers)
	}
	if !slices.Equal(other.Consumers, []string{"lost"}) || other.NotReady == "" || other.Seeks(now) {
		t.Errorf("a request that is not there is %+v", other)
	}
	theirs := &v1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "other", UID: "o"}}
	theirs.Spec.ProvisioningClassName = "other.example.com"
	if k.Seen(theirs); len(k.Snapshot().Requested) != 1 {
		t.Errorf("a pod waits for a request that another autoscaler serves: %+v", k.Snapshot().Requested)
	}
	k.Gone(theirs)
	if len(k.Snapshot().Requested) != 2 {
		t.Errorf("a request that was deleted is still served by another autoscaler")
	}
	pod("lost", "1", "", "", corev1.PodPending)
	if list := k.Snapshot().Requested; len(list) != 1 {
		t.Errorf("a pod without the annotation still waits: %+v", list)
	}
	k.Requests.Provisioned(types.NamespacedName{Namespace: "d", Name: "train"}, now)
	if train = k.Snapshot().Requested[0]; !train.Books(now) || train.Books(now.Add(10*time.Minute)) {
		t.Errorf("it is booked until %s, want ten minutes", train.BookedUntil)
	}
}

// After a restart nothing is known of what a booked request keeps until its PodTemplates are read: no node goes before.
func TestNoNodeGoesBeforeBookedRequestsAreRead(t *testing.T) {
	kinds := func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return nil, "" }
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	k := New(kinds, func() time.Time { return now })
	k.Requests.Serve()
	r := &v1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "train", UID: "r"}}
	r.Spec.ProvisioningClassName, r.Spec.PodSets = v1.ClassBestEffortAtomic, []v1.PodSet{{Count: 1}}
	k.Seen(r)
	if s := k.Snapshot(); s.Unread != "" {
		t.Errorf("a request that nothing was launched for holds plans up: %s", s.Unread)
	}
	k.Requests.Provisioned(types.NamespacedName{Namespace: "d", Name: "train"}, now)
	if s := k.Snapshot(); s.Unread != "ProvisioningRequests have not been read yet" {
		t.Errorf("what is not known yet is %q", s.Unread)
	}
	of := &corev1.Pod{Spec: asking("1")}
	of.Namespace = "d"
	k.Requests.Resolved(provisioningrequest.Resolved{Object: r, Pods: []*corev1.Pod{of}})
	if s := k.Snapshot(); s.Unread != "" {
		t.Errorf("what is not known yet is %q, once all is read", s.Unread)
	}
}
