package demo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	k8stesting "k8s.io/client-go/testing"
)

func TestWarningsAreTheNewestOnes(t *testing.T) {
	event := func(name, when, about string) runtime.Object {
		return object(t, "{apiVersion: v1, kind: Event, metadata: {name: "+name+", namespace: default}, type: Warning, reason: Sad, message: lost, "+
			when+", involvedObject: {kind: NodeClaim, name: "+about+"}}")
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{{Version: "v1", Resource: "events"}: "EventList"},
		event("a", "lastTimestamp: '2026-01-01T00:00:03Z'", "third"),
		event("b", "eventTime: '2026-01-01T00:00:02.000000Z'", "second"),
		event("c", "lastTimestamp: '2026-01-01T00:00:01Z'", "first"))
	got := (&user{client}).warnings(t.Context(), 2)
	want := []string{"NodeClaim second: Sad: lost", "NodeClaim third: Sad: lost"}
	if !slices.Equal(got, want) {
		t.Errorf("warnings = %q; want %q", got, want)
	}
}

func TestApplyAndScaleAreWhatKubectlDoes(t *testing.T) {
	client := fake.NewSimpleDynamicClient(runtime.NewScheme())
	var asked []string
	client.PrependReactor("patch", "*", func(action k8stesting.Action) (bool, runtime.Object, error) {
		patch := action.(k8stesting.PatchAction)
		asked = append(asked, fmt.Sprintf("%s %s %s %s/%s %s", patch.GetPatchType(), patch.GetResource().Resource,
			patch.GetSubresource(), patch.GetNamespace(), patch.GetName(), patch.GetPatch()))
		return true, &unstructured.Unstructured{}, nil
	})
	u := &user{client}
	for _, manifest := range []string{
		"{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: default}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: inflate}}",
	} {
		if err := u.apply(t.Context(), []byte(manifest)); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.scale(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"application/apply-patch+yaml ec2nodeclasses  /default ",
		"application/apply-patch+yaml deployments  default/inflate ",
		`application/merge-patch+json deployments scale default/inflate {"spec":{"replicas":5}}`,
	}
	if len(asked) != len(want) {
		t.Fatalf("asked %q; want %q", asked, want)
	}
	for i := range want {
		if !strings.HasPrefix(asked[i], want[i]) {
			t.Errorf("request %d is %q; want it to begin with %q", i, asked[i], want[i])
		}
	}
}
