package storage_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/kube/api/crds"
	"github.com/daemok/daemok/migrate/storage"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var rules = sync.OnceValues(storage.NewRules)

// documents are those of a file in testdata.
func documents(t *testing.T, file string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for text := range strings.SplitSeq("\n"+string(data), "\n---\n") {
		one, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if string(one) != "null" {
			out = append(out, one)
		}
	}
	return out
}

// cluster is one as Karpenter before 1.0 left it, or of 1.0 where both versions are there.
func cluster(t *testing.T, both bool) *apiserver {
	t.Helper()
	a := &apiserver{
		definitions: map[string]*apiextensionsv1.CustomResourceDefinition{}, before: map[string]*apiextensionsv1.CustomResourceDefinition{},
		objects: map[schema.GroupKind]map[string]map[string]any{}, now: now, lag: 3, writes: -1,
	}
	for _, data := range documents(t, "definitions.yaml") {
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(data, d); err != nil {
			t.Fatal(err)
		}
		d.Status.StoredVersions = []string{"v1beta1"}
		a.definitions[d.Name] = d
	}
	for _, data := range documents(t, "objects.yaml") {
		a.take(t, data)
	}
	for _, name := range []string{"node-1", "node-2"} {
		a.nodes = append(a.nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "karpenter.sh/v1beta1", Kind: "NodeClaim", Name: "default-1", UID: "uid-default-1"},
		}}})
	}
	if both {
		a.upgrade(t)
	}
	return a
}

// take stores an object as it is, claims a week and pools two weeks ago.
func (a *apiserver) take(t *testing.T, data []byte) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetUID(types.UID("uid-" + u.GetKind() + "-" + u.GetName()))
	u.SetCreationTimestamp(metav1.NewTime(now.Add(-7 * 24 * time.Hour)))
	u.SetGeneration(1)
	if u.GetKind() == "NodeClaim" {
		u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "karpenter.sh/v1beta1", Kind: "NodePool", Name: u.GetLabels()["karpenter.sh/nodepool"], UID: "uid-NodePool-" + types.UID(u.GetLabels()["karpenter.sh/nodepool"])}})
	}
	d, err := a.held(u.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	a.keep(d, u)
	return u
}

// upgrade makes it a cluster of 1.0: v1 is stored, whatever was stored stays in v1beta1, and
// a webhook converts between them.
func (a *apiserver) upgrade(t *testing.T) {
	t.Helper()
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, ours := range all {
		if a.definitions[ours.Name] == nil {
			continue
		}
		d := a.definitions[ours.Name].DeepCopy()
		a.definitions[ours.Name] = d
		d.Spec.Versions[0].Storage = false
		d.Spec.Versions = append(d.Spec.Versions, *ours.Spec.Versions[0].DeepCopy())
		d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "kube-system", Name: "karpenter", Port: new(int32(443))}},
		}}
		d.Status.StoredVersions = []string{"v1beta1", "v1"}
	}
	a.take(t, []byte(`{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "late"}, "spec": {
		"template": {"spec": {"requirements": [], "expireAfter": "48h", "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "late"}}},
		"disruption": {"consolidateAfter": "1m"}}}`))
	a.take(t, []byte(`{"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "late"}, "spec": {
		"role": "nodes", "amiSelectorTerms": [{"alias": "al2023@latest"}], "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}], "kubelet": {"maxPods": 30}}}`))
}

func move(t *testing.T, a *apiserver, folder string) (string, error) {
	t.Helper()
	return run(t, a, &storage.Mover{Folder: folder})
}

func run(t *testing.T, a *apiserver, m *storage.Mover) (string, error) {
	t.Helper()
	r, err := rules()
	if err != nil {
		t.Fatal(err)
	}
	var reported bytes.Buffer
	m.Store, m.Rules, m.Report = a, r, &reported
	m.Now = func() time.Time { return a.now }
	m.Wait = func(ctx context.Context) error { return ctx.Err() }
	err = m.Run(t.Context())
	return reported.String(), err
}

// state is all that is stored, without revisions.
func state(a *apiserver) map[string]any {
	out := map[string]any{}
	for of, named := range a.objects {
		for name, o := range named {
			o := (&unstructured.Unstructured{Object: o}).DeepCopy()
			o.SetResourceVersion("")
			out[of.Kind+" "+name] = o.Object
		}
	}
	for name, d := range a.definitions {
		out[name] = []any{d.Spec, d.Status}
	}
	out["nodes"] = a.nodes
	return out
}

// stored is an object as it is stored.
func (a *apiserver) stored(kind, name string) *unstructured.Unstructured {
	for of, named := range a.objects {
		if of.Kind == kind && named[name] != nil {
			return &unstructured.Unstructured{Object: named[name]}
		}
	}
	return &unstructured.Unstructured{}
}

func field(o *unstructured.Unstructured, path string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, strings.Split(path, ".")...)
	return v
}

// After the move everything is stored as v1 and there is no other version; of claims nothing is
// another but what the version asks for; none was deleted.
func TestMove(t *testing.T) {
	for name, both := range map[string]bool{"from before 1.0": false, "from 1.0, whose webhook is gone": true} {
		t.Run(name, func(t *testing.T) {
			a := cluster(t, both)
			was := a.stored("NodeClaim", "default-1").DeepCopy()
			if reported, err := move(t, a, t.TempDir()); err != nil {
				t.Fatalf("%v after\n%s", err, reported)
			}
			for name, d := range a.definitions {
				if len(d.Spec.Versions) != 1 || d.Spec.Versions[0].Name != "v1" || !slices.Equal(d.Status.StoredVersions, []string{"v1"}) || d.Labels["app.kubernetes.io/managed-by"] != "Helm" {
					t.Errorf("definition %s has versions %d, and stores %v; its labels are %v", name, len(d.Spec.Versions), d.Status.StoredVersions, d.Labels)
				}
			}
			for of, named := range a.objects {
				for name, o := range named {
					if o["apiVersion"] != of.Group+"/v1" {
						t.Errorf("%s %s is stored as %v", of.Kind, name, o["apiVersion"])
					}
				}
			}
			claim := a.stored("NodeClaim", "default-1")
			for path, want := range map[string]any{
				"spec.nodeClassRef.group": "karpenter.k8s.aws", "spec.nodeClassRef.name": "default", "spec.expireAfter": "720h",
				"status.providerID": "aws:///eu-west-1a/i-1", "status.nodeName": "node-1", "status.capacity": map[string]any{"cpu": "2", "memory": "8Gi"},
			} {
				if got := field(claim, path); !reflect.DeepEqual(got, want) {
					t.Errorf("claim default-1 has %s %v, want %v", path, got, want)
				}
			}
			if claim.GetUID() != was.GetUID() || !slices.Equal(claim.GetFinalizers(), was.GetFinalizers()) || claim.GetDeletionTimestamp() != nil ||
				!reflect.DeepEqual(claim.GetLabels(), was.GetLabels()) || claim.GetOwnerReferences()[0].APIVersion != "karpenter.sh/v1" {
				t.Errorf("the claim's metadata became %v", claim.Object["metadata"])
			}
			dense := a.stored("NodeClaim", "dense-1")
			if field(dense, "spec.expireAfter") != "Never" || field(dense, "spec.nodeClassRef.name") != "default-dense" || field(dense, "spec.kubelet") != nil {
				t.Errorf("claim dense-1, which has outlived its pool's 24h and has a kubelet of its own, has the spec %v", dense.Object["spec"])
			}
			if got := field(a.stored("EC2NodeClass", "default-dense"), "spec.kubelet.maxPods"); got != int64(20) {
				t.Errorf("the class of the pool with a kubelet of its own has maxPods %v", got)
			}
			class := a.stored("EC2NodeClass", "default")
			if field(class, "spec.kubelet") != nil || field(class, "spec.userData") != "#!/bin/bash\necho \"${HOME} $PATH\"\n" ||
				field(class, "spec.metadataOptions.httpPutResponseHopLimit") != int64(2) || field(class, "status.instanceProfile") != "my-cluster_123" {
				t.Errorf("class default became %#v", class.Object)
			}
			for _, n := range a.nodes {
				if n.OwnerReferences[0].APIVersion != "karpenter.sh/v1" || n.OwnerReferences[0].UID != "uid-default-1" {
					t.Errorf("node %s is owned by %v", n.Name, n.OwnerReferences)
				}
			}
			if both && (field(a.stored("EC2NodeClass", "late"), "spec.kubelet.maxPods") != int64(30) || field(a.stored("NodePool", "late"), "spec.template.spec.expireAfter") != "48h") {
				t.Error("what was stored as v1 has lost something")
			}
		})
	}
}

// A move that is killed at any write, whether that took effect or not, is gone on with to
// the same end; what is done a second time changes nothing.
func TestMoveKilledAnywhere(t *testing.T) {
	for _, both := range []bool{false, true} {
		whole := cluster(t, both)
		if _, err := move(t, whole, t.TempDir()); err != nil {
			t.Fatal(err)
		}
		want := state(whole)
		kills := 0
		for n := 0; ; n++ {
			var a *apiserver
			for _, lost := range [][]bool{{n%2 == 0}, {true, false}}[map[bool]int{true: 1}[both]] {
				a = cluster(t, both)
				folder := t.TempDir()
				a.writes, a.lost = n, lost
				_, err := move(t, a, folder)
				if !a.killed {
					if err != nil {
						t.Fatal(err)
					}
					break
				}
				kills++
				a.killed, a.writes = false, -1
				if _, err := os.Stat(filepath.Join(folder, "export.json")); err == nil {
					a.now = a.now.Add(80 * 24 * time.Hour) // ages are those of the export
				}
				if reported, err := move(t, a, folder); err != nil {
					t.Fatalf("both versions %t, gone on with after write %d (lost: %t): %v after\n%s", both, n, lost, err, reported)
				}
				if other := difference(state(a), want); len(other) > 0 {
					t.Fatalf("both versions %t, killed at write %d (lost: %t) it came to other ends: %v", both, n, lost, other)
				}
				revision := a.revision
				if reported, err := move(t, a, folder); err != nil || a.revision != revision || !strings.Contains(reported, "nothing is left to do") {
					t.Fatalf("done again: %v, %d writes\n%s", err, a.revision-revision, reported)
				}
			}
			if a.writes >= 0 {
				break
			}
		}
		if kills < 15 {
			t.Errorf("both versions %t: it was killed %d times only", both, kills)
		}
	}
}

// difference names what differs, but for the moment at which something was made.
func difference(a, b map[string]any) []string {
	var out []string
	for name := range a {
		got, want := a[name], b[name]
		if object, is := got.(map[string]any); is {
			if _, is := want.(map[string]any); is {
				unstructured.RemoveNestedField(object, "metadata", "creationTimestamp")
				unstructured.RemoveNestedField(want.(map[string]any), "metadata", "creationTimestamp")
			}
		}
		if !reflect.DeepEqual(got, want) {
			out = append(out, name)
		}
	}
	return out
}

// Whatever cannot be moved safely is listed with the way out, and nothing is written.
func TestRefused(t *testing.T) {
	lease := func(renewed time.Duration) func(*testing.T, *apiserver) {
		return func(_ *testing.T, a *apiserver) {
			at := metav1.NewMicroTime(now.Add(-renewed))
			a.leases = []coordinationv1.Lease{{ObjectMeta: metav1.ObjectMeta{Namespace: "karpenter", Name: "karpenter-leader-election"},
				Spec: coordinationv1.LeaseSpec{HolderIdentity: new("karpenter-7d_1"), RenewTime: &at, LeaseDurationSeconds: new(int32(15))}}}
		}
	}
	with := func(kind, name string, edit func(*unstructured.Unstructured)) func(*testing.T, *apiserver) {
		return func(_ *testing.T, a *apiserver) { edit(a.stored(kind, name)) }
	}
	tests := map[string]struct {
		but  func(*testing.T, *apiserver)
		want []string // words of the refusal; none: it is moved
	}{
		"a controller that runs":      {lease(5 * time.Second), []string{"Lease karpenter/karpenter-leader-election: karpenter-7d_1 holds it", "kubectl -n karpenter scale deployment karpenter --replicas=0"}},
		"a controller that has ended": {lease(time.Minute), nil},
		"an admission webhook of that time": {func(_ *testing.T, a *apiserver) {
			a.judges = []admissionregistrationv1.ValidatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "validation.webhook.karpenter.sh"},
				Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "validation.webhook.karpenter.sh", Rules: []admissionregistrationv1.RuleWithOperations{{Rule: admissionregistrationv1.Rule{APIGroups: []string{"karpenter.sh"}}}}}}}}
		}, []string{"kubectl delete ValidatingWebhookConfiguration validation.webhook.karpenter.sh"}},
		"a claim that is being deleted": {with("NodeClaim", "default-1", func(o *unstructured.Unstructured) {
			o.SetDeletionTimestamp(&metav1.Time{Time: now})
		}), []string{"NodeClaim default-1 is being deleted and waits for karpenter.sh/termination"}},
		"a family that is gone": {with("EC2NodeClass", "default", func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(o.Object, "Ubuntu", "spec", "amiFamily")
		}), []string{"EC2NodeClass default", "ec2nodeclasses/default.yaml:", "spec.amiFamily: there is no family Ubuntu: select the images of Canonical"}},
		"a value that v1 does not take, and another": {func(t *testing.T, a *apiserver) {
			_ = unstructured.SetNestedField(a.stored("NodePool", "dense").Object, "1.5h", "spec", "disruption", "consolidateAfter")
			_ = unstructured.SetNestedField(a.stored("NodePool", "default").Object, "soon", "spec", "disruption", "expireAfter")
		}, []string{"nodepools/dense.yaml:", "spec.disruption.consolidateAfter", "NodePool default", "spec.template.spec.expireAfter"}},
		"a claim that v1 does not take": {with("NodeClaim", "default-1", func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedSlice(o.Object, []any{map[string]any{"key": "x", "operator": "In"}}, "spec", "requirements")
		}), []string{"NodeClaim default-1 (", "nodeclaims/default-1.yaml): as v1 it would be refused: ", "spec.requirements"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := cluster(t, true)
			tt.but(t, a)
			before := state(a)
			reported, err := move(t, a, t.TempDir())
			if tt.want == nil {
				if err != nil {
					t.Errorf("%v after\n%s", err, reported)
				}
				return
			}
			var refused *storage.Refusal
			if !errors.As(err, &refused) {
				t.Fatalf("%v after\n%s", err, reported)
			}
			for _, words := range tt.want {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("it does not say %q:\n%v", words, err)
				}
			}
			if after := state(a); !reflect.DeepEqual(after, before) {
				t.Errorf("refused it left\n%v\nof\n%v", after, before)
			}
		})
	}
}

// Asked to check, it exports and reports, and leaves the cluster as it was.
func TestCheckChangesNothing(t *testing.T) {
	a := cluster(t, true)
	before, folder := state(a), t.TempDir()
	reported, err := run(t, a, &storage.Mover{Folder: folder, Check: true})
	if err != nil || !strings.Contains(reported, "NodeClaim dense-1: is older than the 24h that its pool allows") {
		t.Errorf("%v after\n%s", err, reported)
	}
	if after := state(a); !reflect.DeepEqual(after, before) {
		t.Errorf("it left\n%v\nof\n%v", after, before)
	}
	data, err := os.ReadFile(filepath.Join(folder, "nodeclaims", "default-1.yaml"))
	if err != nil || !strings.Contains(string(data), "apiVersion: karpenter.sh/v1beta1") || !strings.Contains(string(data), "providerID: aws:///eu-west-1a/i-1") {
		t.Errorf("the claim's export (%v) is\n%s", err, data)
	}
}

// What another user or controller changed or made since the export is not written over.
func TestChangedSinceTheExport(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*testing.T, *apiserver)
		want   string
	}{
		"changed": {func(_ *testing.T, a *apiserver) {
			_ = unstructured.SetNestedField(a.stored("NodePool", "dense").Object, int64(20), "spec", "weight")
		}, "NodePool dense was changed since it was exported: put it back as it is in "},
		"made": {func(t *testing.T, a *apiserver) {
			a.take(t, []byte(`{"apiVersion": "karpenter.sh/v1beta1", "kind": "NodePool", "metadata": {"name": "more"}, "spec": {}}`))
		}, "NodePool more was made since the export: give a new folder"},
		"another of its name": {func(t *testing.T, a *apiserver) {
			a.stored("NodePool", "dense").SetUID("another")
			_ = unstructured.SetNestedField(a.stored("NodePool", "dense").Object, int64(1), "spec", "weight")
		}, "NodePool dense was changed since it was exported"},
	} {
		t.Run(name, func(t *testing.T) {
			a, folder := cluster(t, false), t.TempDir()
			if _, err := run(t, a, &storage.Mover{Folder: folder, Check: true}); err != nil {
				t.Fatal(err)
			}
			tt.change(t, a)
			_, err := move(t, a, folder)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, want it to say %q", err, tt.want)
			}
			if got := a.stored("NodePool", "default").GetAPIVersion(); got != "karpenter.sh/v1beta1" {
				t.Errorf("pool default was written: it is stored as %s", got)
			}
			if reported, err := move(t, a, t.TempDir()); (err == nil) == (name == "made") {
				t.Errorf("with a new folder: %v after\n%s", err, reported)
			}
		})
	}
}

// A folder is of one cluster and holds an export alone.
func TestFolder(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := move(t, cluster(t, false), folder); err == nil || !strings.Contains(err.Error(), "the folder has notes.txt, which is no part of an export: give an empty one") {
		t.Error(err)
	}
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "export.json"), []byte(`{"cluster": "another"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "definitions.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := move(t, cluster(t, false), folder); err == nil || !strings.Contains(err.Error(), "is of another cluster: give a new folder") {
		t.Error(err)
	}
}
