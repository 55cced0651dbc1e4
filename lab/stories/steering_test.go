package stories_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

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
	cost := fmt.Sprintf(`{"metadata":{"annotations":{%q:"-5",%q:"-5"}}}`, api.AnnotationPodDeletionCost, api.MarkDeletionCost)
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
