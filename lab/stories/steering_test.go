package stories_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
)

// The controller's account may patch pods, and the admission policy that comes with that right leaves it two annotations
// of them. Others are not concerned.
func TestTheControllerChangesOnlyDeletionCostsOfPods(t *testing.T) {
	t.Parallel()
	s := begin(t, bare)
	s.changesOnlyDeletionCosts()
}

// Some nodes are to empty: they get a taint, and their pods a deletion cost. When the user scales the Deployment down, the pods
// on these nodes end, and the nodes go, empty.
func TestNodesEmptyByScaleDownsAlone(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool("") // whose nodes go when they are empty
	s.deploy("apart", 4, from(s.namespace), asking(corev1.ResourceCPU, "500m"), apart(hostLabel))
	s.awaitFor(3*limit, "a node for each pod", "v1/Pod", of("apart", running(4)))

	var emptying map[string]bool // by name of the node
	s.awaitFor(3*limit, "nodes that are to empty, not all", "v1/Node", func(seen []*unstructured.Unstructured) bool {
		all := inPool(seen, s.namespace)
		emptying = thatEmpty(all)
		return len(all) == 4 && len(emptying) > 0
	})
	if len(emptying) == 4 {
		t.Fatal("all four nodes are to empty")
	}
	stay := map[types.UID]bool{}
	s.awaitFor(3*limit, "the deletion costs of their pods", "v1/Pod", func(seen []*unstructured.Unstructured) bool {
		costs := 0
		for _, p := range seen {
			if emptying[text(p, "spec", "nodeName")] {
				costs += len(p.GetAnnotations()[api.AnnotationPodDeletionCost])
			} else {
				stay[p.GetUID()] = true
			}
		}
		return costs > 0 && len(seen) == len(emptying)+len(stay)
	})

	s.scale("apart", len(stay))
	s.awaitFor(3*limit, "the pods on other nodes to be left", "v1/Pod", func(seen []*unstructured.Unstructured) bool {
		return len(seen) == len(stay)
	})
	for _, p := range s.list("v1/Pod") {
		if !stay[p.GetUID()] {
			t.Errorf("pod %s is left, on a node of those that were to empty, %v; want %v", p.GetUID(), emptying, stay)
		}
	}
	s.awaitFor(3*limit, "the empty nodes to go", "v1/Node", func(seen []*unstructured.Unstructured) bool {
		return !slices.ContainsFunc(inPool(seen, s.namespace), func(n *unstructured.Unstructured) bool { return emptying[n.GetName()] })
	})
	for _, p := range s.list("v1/Pod") {
		if !stay[p.GetUID()] || p.GetDeletionTimestamp() != nil {
			t.Errorf("pod %s has come or ends with the nodes; want %v as they were", p.GetUID(), stay)
		}
	}
}

// thatEmpty are those of the nodes that are to empty.
func thatEmpty(nodes []*unstructured.Unstructured) map[string]bool {
	out := map[string]bool{}
	for _, n := range nodes {
		taints, _, _ := unstructured.NestedSlice(n.Object, "spec", "taints")
		if slices.ContainsFunc(taints, func(t any) bool { return t.(map[string]any)["key"] == emptyingTaint }) {
			out[n.GetName()] = true
		}
	}
	return out
}

// changesOnlyDeletionCosts tries patches of a pod as the controller's account.
func (s *story) changesOnlyDeletionCosts() {
	s.Helper()
	s.applyObject(s.decode(`
apiVersion: v1
kind: Pod
metadata: {name: patched, labels: {app: patched}, annotations: {mine: "1"}}
spec:
  nodeSelector: {no: such-node}
  containers: [{name: c, image: pause}]
`)[0])
	controller, owner := s.as("system:serviceaccount:kube-system:karpenter"), s.as("")
	cost := fmt.Sprintf(`{"metadata":{"annotations":{%q:"-5",%q:"-5"}}}`, api.AnnotationPodDeletionCost, api.AnnotationDeletionCost)
	noCost := strings.ReplaceAll(cost, `"-5"`, "null")
	tests := []struct {
		what, patch string
		as          client.Client
		want        bool
	}{
		{"sets a deletion cost", cost, controller, true},
		{"changes one", strings.ReplaceAll(cost, "-5", "-7"), controller, true},
		{"takes it away", noCost, controller, true},
		{"sets another annotation", `{"metadata":{"annotations":{"other":"1"}}}`, controller, false},
		{"changes another annotation", `{"metadata":{"annotations":{"mine":"2"}}}`, controller, false},
		{"takes another annotation away", `{"metadata":{"annotations":{"mine":null}}}`, controller, false},
		{"takes all annotations away", `{"metadata":{"annotations":null}}`, controller, false},
		{"sets a label", `{"metadata":{"labels":{"a":"b"}}}`, controller, false},
		{"takes a label away", `{"metadata":{"labels":{"app":null}}}`, controller, false},
		{"sets a finalizer", `{"metadata":{"finalizers":["example.com/a"]}}`, controller, false},
		{"sets an owner", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"a"}]}}`, controller, false},
		{"sets a deadline", `{"spec":{"activeDeadlineSeconds":60}}`, controller, false},
		{"changes the image", `{"spec":{"containers":[{"name":"c","image":"another"}]}}`, controller, false},
		{"changes the image beside the cost", strings.TrimSuffix(cost, "}") + `,"spec":{"containers":[{"name":"c","image":"another"}]}}`, controller, false},
		{"changes the image", `{"spec":{"containers":[{"name":"c","image":"another"}]}}`, owner, true},
		{"sets a label", `{"metadata":{"labels":{"a":"b"}}}`, owner, true},
	}
	for _, tt := range tests {
		pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}
		pod.SetNamespace(s.namespace)
		pod.SetName("patched")
		err := tt.as.Patch(s.Context(), pod, client.RawPatch(types.StrategicMergePatchType, []byte(tt.patch)))
		refused := apierrors.IsForbidden(err) && strings.Contains(err.Error(), "may change only the annotations")
		if tt.want != (err == nil) || !tt.want && !refused {
			s.Errorf("the controller %t: who %s with %s got %v; want it accepted: %t", tt.as == controller, tt.what, tt.patch, err, tt.want)
		}
	}
}

// as returns a client of another user; of the owner if there is no name.
func (s *story) as(user string) client.Client {
	s.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(s.dir, "kubeconfig"))
	if err != nil {
		s.Fatal(err)
	}
	config.Impersonate.UserName = user
	c, err := client.New(config, client.Options{})
	if err != nil {
		s.Fatal(err)
	}
	return c
}
