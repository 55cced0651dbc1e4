package stories_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A cluster as Karpenter before 1.0 left it, of which v1beta1 is stored, is moved to v1 by
// a command that is killed after each of its steps: no claim is another object or loses its
// status or finalizer, no node goes, and then v1 is all there is. Claims and nodes are real
// to the garbage collector, which would take what has no owner any more.
func TestStoredVersionsMove(t *testing.T) {
	t.Parallel()
	moveStoredVersions(t, false)
}

// The same of a cluster of 1.0, which stores v1 beside v1beta1, and whose conversion webhook
// went with its controller: its objects cannot be listed any more.
func TestStoredVersionsMoveWithoutTheirWebhook(t *testing.T) {
	t.Parallel()
	moveStoredVersions(t, true)
}

func moveStoredVersions(t *testing.T, both bool) {
	s := begin(t, ownLab(t, "--controller=false"))
	ours := s.store("definitions.yaml", "objects.yaml")
	s.awaitCollector()
	before := s.uids("v1beta1")
	if both {
		s.storeBoth(ours)
	}
	s.ownNode("default-1", before["NodeClaim default-1"])

	folder := filepath.Join(t.TempDir(), "before")
	kills := 0
	for !s.migrateUntilALine(folder) {
		if kills++; kills > 60 {
			t.Fatal("it never comes to an end")
		}
	}
	if kills < 5 { // a busy instance may hear of several steps at once
		t.Errorf("it was killed %d times only", kills)
	}
	after := s.uids("v1")
	for name, uid := range before {
		if after[name] != uid {
			t.Errorf("%s is another object: %s, and was %s", name, after[name], uid)
		}
	}
	claim := s.object("karpenter.sh/v1", "NodeClaim", "default-1")
	if got, _, _ := unstructured.NestedString(claim.Object, "status", "providerID"); got != "aws:///eu-west-1a/i-1" || len(claim.GetFinalizers()) == 0 {
		t.Errorf("the claim became %v", claim.Object)
	}
	node := s.object("v1", "Node", "default-1")
	if owners := node.GetOwnerReferences(); len(owners) != 1 || owners[0].APIVersion != "karpenter.sh/v1" || owners[0].UID != claim.GetUID() {
		t.Errorf("the node's owners are %v", owners)
	}
	for _, name := range []string{"nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws"} {
		d := s.object("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
		stored, _, _ := unstructured.NestedStringSlice(d.Object, "status", "storedVersions")
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		if !slices.Equal(stored, []string{"v1"}) || len(versions) != 1 {
			t.Errorf("definition %s stores %v and has %d versions", name, stored, len(versions))
		}
	}
	if both {
		late := s.object("karpenter.k8s.aws/v1", "EC2NodeClass", "late")
		if got, _, _ := unstructured.NestedInt64(late.Object, "spec", "kubelet", "maxPods"); got != 30 {
			t.Errorf("what was stored as v1 became %v", late.Object)
		}
	}
	// The rules of v1 hold again.
	claim.Object["spec"].(map[string]any)["expireAfter"] = "1h"
	if err := s.client.Update(t.Context(), claim); err == nil || !strings.Contains(err.Error(), "immutable") {
		t.Errorf("a claim that is changed afterwards: %v", err)
	}
}

// store puts the files of a cluster of before in place of what the lab has, whose
// definitions it returns.
func (s *story) store(definitions, objects string) []*unstructured.Unstructured {
	s.Helper()
	var ours []*unstructured.Unstructured
	read := func(file string) []*unstructured.Unstructured {
		text, err := os.ReadFile(filepath.Join("..", "..", "migrate", "storage", "testdata", file))
		if err != nil {
			s.Fatal(err)
		}
		var all []*unstructured.Unstructured
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
		for {
			o := &unstructured.Unstructured{}
			if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
				return all
			} else if err != nil {
				s.Fatal(err)
			}
			if len(o.Object) > 0 {
				all = append(all, o)
			}
		}
	}
	for _, d := range read(definitions) {
		gone := s.object(d.GetAPIVersion(), d.GetKind(), d.GetName())
		ours = append(ours, gone.DeepCopy())
		if err := s.client.Delete(s.Context(), gone); err != nil {
			s.Fatal(err)
		}
		s.await("the lab's own definition to go", "apiextensions.k8s.io/v1/CustomResourceDefinition", func(seen []*unstructured.Unstructured) bool {
			return !slices.ContainsFunc(seen, func(o *unstructured.Unstructured) bool { return o.GetName() == d.GetName() })
		})
		if err := s.client.Create(s.Context(), d); err != nil {
			s.Fatal(err)
		}
		s.await("the definition to be followed", "apiextensions.k8s.io/v1/CustomResourceDefinition", func(seen []*unstructured.Unstructured) bool {
			return slices.ContainsFunc(seen, func(o *unstructured.Unstructured) bool {
				return o.GetName() == d.GetName() && isEstablished(o)
			})
		})
	}
	for _, o := range read(objects) {
		status := o.Object["status"]
		s.createServed(o)
		if status == nil {
			continue
		}
		o.Object["status"] = status
		if err := s.client.Status().Update(s.Context(), o); err != nil {
			s.Fatal(err)
		}
	}
	return ours
}

// storeBoth has v1 stored from now on, of our definitions, with a webhook between the versions
// that is not served, and one object of v1.
func (s *story) storeBoth(ours []*unstructured.Unstructured) {
	s.Helper()
	for _, our := range ours {
		d := s.object(our.GetAPIVersion(), our.GetKind(), our.GetName())
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		added, _, _ := unstructured.NestedSlice(our.Object, "spec", "versions")
		versions[0].(map[string]any)["storage"] = false
		if err := unstructured.SetNestedSlice(d.Object, append(versions, added...), "spec", "versions"); err != nil {
			s.Fatal(err)
		}
		webhook := map[string]any{"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"},
			"clientConfig": map[string]any{"service": map[string]any{"namespace": s.namespace, "name": "gone"}}}}
		if err := unstructured.SetNestedMap(d.Object, webhook, "spec", "conversion"); err != nil {
			s.Fatal(err)
		}
		if err := s.client.Update(s.Context(), d); err != nil {
			s.Fatal(err)
		}
	}
	late := s.decodeOne(`{"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "late"}, "spec": {"role": "nodes", "kubelet": {"maxPods": 30},
		"amiSelectorTerms": [{"alias": "al2023@latest"}], "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}]}}`)
	s.createServed(late)
	// The webhook is asked of as soon as the definition is followed.
	err := retry.OnError(soon, func(err error) bool { return errors.Is(err, errStillListed) }, func() error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("karpenter.sh/v1")
		list.SetKind("NodeClaimList")
		if err := s.client.List(s.Context(), list); err == nil {
			return errStillListed
		}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
}

var errStillListed = errors.New("claims can still be listed, so the webhook is not asked")

// soon is how what takes a moment is waited for.
var soon = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 1.5, Steps: 15}

// createServed makes an object once its version is served: a definition is established a
// moment before.
func (s *story) createServed(o *unstructured.Unstructured) {
	s.Helper()
	err := retry.OnError(soon, func(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) },
		func() error { return s.client.Create(s.Context(), o) })
	if err != nil {
		s.Fatal(err)
	}
}

func (s *story) decodeOne(text string) *unstructured.Unstructured {
	s.Helper()
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		s.Fatal(err)
	}
	return o
}

func isEstablished(d *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(d.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == "Established" && condition["status"] == "True"
	})
}

// awaitCollector waits until the garbage collector watches claims: it checks for new Kinds every 30 s,
// and takes an owner that it has not seen for gone once the owner's version is served no more. It alone
// deletes an owner that goes after its dependents.
func (s *story) awaitCollector() {
	s.Helper()
	claim := s.object("karpenter.sh/v1beta1", "NodeClaim", "default-1")
	probe := &unstructured.Unstructured{Object: map[string]any{"apiVersion": claim.GetAPIVersion(), "kind": claim.GetKind(), "spec": claim.Object["spec"]}}
	probe.SetName("probe")
	if err := s.client.Create(s.Context(), probe); err != nil {
		s.Fatal(err)
	}
	if err := s.client.Delete(s.Context(), probe, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		s.Fatal(err)
	}
	if !poll(limit, farEvery, func() bool {
		return apierrors.IsNotFound(s.client.Get(s.Context(), client.ObjectKeyFromObject(probe), probe))
	}) {
		s.Fatalf("the garbage collector does not see claims: %v is left", probe)
	}
}

// ownNode makes a node that a claim of before owns.
func (s *story) ownNode(claim, uid string) {
	s.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: claim, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "karpenter.sh/v1beta1", Kind: "NodeClaim", Name: claim, UID: types.UID(uid), BlockOwnerDeletion: new(true)},
	}}}
	if err := s.client.Create(s.Context(), node); err != nil {
		s.Fatal(err)
	}
}

// migrateUntilALine runs the command and kills it when it has reported a step that changed
// something. It reports whether it came to its end instead.
func (s *story) migrateUntilALine(folder string) bool {
	s.Helper()
	ctx, kill := context.WithCancel(s.Context())
	defer kill()
	command := exec.CommandContext(ctx, program("daemok"), "migrate", "crds", "--kubeconfig", filepath.Join(s.dir, "kubeconfig"), "--backup", folder)
	out, err := command.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	var wrong strings.Builder
	command.Stderr = &wrong
	if err := command.Start(); err != nil {
		s.Fatal(err)
	}
	killed := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		s.Log(line)
		if !killed && (strings.HasPrefix(line, "definition ") || strings.HasSuffix(line, " is rewritten") || strings.HasSuffix(line, " is made") ||
			strings.HasPrefix(line, "exported ") || strings.HasPrefix(line, "Node ")) {
			killed = true
			kill()
		}
	}
	if err := command.Wait(); err != nil && !killed {
		s.Fatalf("daemok migrate crds: %v\n%s", err, &wrong)
	} else if err == nil {
		return true
	}
	return false
}

// uids are those of the claims, pools and classes, by Kind and name.
func (s *story) uids(version string) map[string]string {
	s.Helper()
	out := map[string]string{}
	for _, kind := range [][2]string{{"karpenter.sh", "NodePool"}, {"karpenter.sh", "NodeClaim"}, {"karpenter.k8s.aws", "EC2NodeClass"}} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(kind[0] + "/" + version)
		list.SetKind(kind[1] + "List")
		if err := s.client.List(s.Context(), list); err != nil {
			s.Fatal(err)
		}
		for _, o := range list.Items {
			out[kind[1]+" "+o.GetName()] = string(o.GetUID())
		}
	}
	return out
}

func (s *story) object(version, kind, name string) *unstructured.Unstructured {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	if err := s.client.Get(s.Context(), client.ObjectKey{Name: name}, o); err != nil {
		s.Fatal(err)
	}
	return o
}
