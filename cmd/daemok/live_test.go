package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/cmd/daemok/plancmd"
	"github.com/daemok/daemok/controller/remember"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/examples"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/test/store"
)

// liveCluster is one in memory, with the account beside it.
func liveCluster(t *testing.T, provider *aws.Provider, objects ...client.Object) inspect.Reader {
	t.Helper()
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	store := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(store.Mapper(scheme)).WithObjects(objects...).Build()
	return func(ctx context.Context, at *inspect.Target) (inspect.Situation, error) {
		if err := at.Learn(ctx, store); err != nil {
			return inspect.Situation{}, err
		}
		return inspect.ReadFrom(ctx, at, store, provider)
	}
}

// exampleFiles are the manifests that a first user applies, changed by words.
func exampleFiles(t *testing.T, change ...string) (args []string) {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"ec2nodeclass", "nodepool", "inflate"} {
		text, err := examples.Manifest("v1/"+name+".yaml", "prod")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name+".yaml")
		if err := os.WriteFile(path, []byte(strings.NewReplacer(change...).Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-f", path)
	}
	return args
}

// What the controller met lately and no object says is known to a plan beside it: an
// offering that could not be had, and a launch that AWS refuses.
func TestAPlanBesideAControllerKnowsWhatThatKnows(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	refused := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "default-1",
		Labels: map[string]string{api.LabelNodePool: "default"}}, Spec: store.ClaimSpec()}
	condition.SetUnknown(refused, karpv1.ClaimLaunched, "Unauthorized", "the role may not call ec2:CreateFleet",
		time.Now())
	store := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(store.Mapper(scheme)).WithObjects(refused).Build()
	plan := func() plancmd.JSON {
		t.Helper()
		got, err := planJSONOf(t, func(ctx context.Context, at *inspect.Target) (inspect.Situation, error) {
			return inspect.ReadFrom(ctx, at, store, account)
		}, exampleFiles(t, "replicas: 0", "replicas: 5"))
		if err != nil || len(got.Launches) == 0 {
			t.Fatalf("%+v, %v; want launches", got, err)
		}
		return got
	}
	before := plan()
	if want := []string{"NodeClaim default-1 is not launched: Unauthorized: the role may not call ec2:CreateFleet"}; !slices.Equal(before.Failing, want) {
		t.Errorf("failing: %q, want %q", before.Failing, want)
	}
	first := before.Launches[0].Choice
	book := &remember.Book{ClusterState: snapshot.New(nil, time.Now), Store: store, Live: store,
		Namespace: inspect.NewTarget().SystemNamespace(), Offerings: commandtest.Met{
			{Kind: first.Type, Zone: first.Zone, Option: cluster.Option(first.Option),
				Until: time.Now().Add(time.Minute)}}}
	if _, err := book.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := plan().Launches[0].Choice; after.Type == first.Type && after.Zone == first.Zone && after.Option == first.Option {
		t.Errorf("it would launch %+v, which could not be had", after)
	}
}

// What the installed controller is set up with counts for a plan of its cluster, unless the
// environment of the command says otherwise.
func TestAPlanIsMadeAsTheInstalledControllerIsSetUp(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	cost := func(objects ...client.Object) float64 {
		t.Helper()
		got, err := planJSONOf(t, liveCluster(t, account, objects...), exampleFiles(t, "replicas: 0", "replicas: 1"))
		if err != nil || len(got.Launches) != 1 {
			t.Fatalf("%+v, %v; want one launch", got, err)
		}
		return got.LaunchCost
	}
	usual := cost()
	if got := cost(commandtest.Installed("MACHINE_COST=2")); math.Abs(got-usual-2) > 1e-6 {
		t.Errorf("an instance costs %f, and without a controller %f: want 2 more, as its Deployment says", got, usual)
	}
	t.Setenv("MACHINE_COST", "1")
	if got := cost(commandtest.Installed("MACHINE_COST=2")); math.Abs(got-usual-1) > 1e-6 {
		t.Errorf("an instance costs %f, and without a controller %f: want 1 more, as the environment says", got, usual)
	}
	_, err := planJSONOf(t, liveCluster(t, account, commandtest.Installed("PAYBACK=sometimes")), exampleFiles(t))
	if err == nil || err.Error() != `PAYBACK is "sometimes": want on or off` {
		t.Errorf("got %v, want an error that names the setting", err)
	}
}

func TestManifestsOnALiveCluster(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	t.Run("say what they would buy, though nothing of them is there yet", func(t *testing.T) {
		got, err := planJSONOf(t, liveCluster(t, account), exampleFiles(t, "replicas: 0", "replicas: 5"))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Launches) == 0 || len(got.Unplaced) != 0 || got.Manifests == nil ||
			got.Manifests.Without.Instances != 0 || got.Manifests.Difference != got.LaunchCost {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("are refused with a class that finds nothing", func(t *testing.T) {
		_, err := planJSONOf(t, liveCluster(t, account),
			exampleFiles(t, "karpenter.sh/discovery: prod", "karpenter.sh/discovery: test"))
		if err == nil || !strings.Contains(err.Error(), "ec2nodeclass.yaml, document 1, EC2NodeClass default: ") {
			t.Errorf("got %v, want an error that names the class", err)
		}
	})
	t.Run("say which nodes drift", func(t *testing.T) {
		labels := map[string]string{
			api.LabelNodePool: "default", api.LabelArch: "amd64", api.LabelInstanceType: "m5.large", api.LabelZone: "us-east-1a",
			api.LabelCapacityType: "on-demand", api.LabelOS: "linux", "karpenter.k8s.aws/instance-category": "m", "karpenter.k8s.aws/instance-generation": "5",
			api.LabelRegistered: "true", api.LabelInitialized: "true", api.LabelHostname: "node-1",
		}
		id := "aws:///us-east-1a/i-00000000000000001"
		claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "default-1", UID: "c1", Labels: labels},
			Spec: store.ClaimSpec()}
		claim.Status.ProviderID, claim.Status.NodeName = id, "node-1"
		for _, is := range []string{karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized} {
			condition.SetTrue(claim, is, time.Now())
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: labels},
			Spec: corev1.NodeSpec{ProviderID: id}, Status: corev1.NodeStatus{
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
				Allocatable: corev1.ResourceList{"cpu": resource.MustParse("2"), "pods": resource.MustParse("20")},
			}}
		for change, want := range map[string]int{`["amd64"]`: 0, `["arm64"]`: 1} {
			got, err := planJSONOf(t, liveCluster(t, account, claim, node), exampleFiles(t, `["amd64"]`, change))
			if err != nil {
				t.Fatal(err)
			}
			if d := got.Manifests.Drift; len(d) != want || want > 0 && (d[0].Reason != karpv1.ReasonRequirementsDrifted || !slices.Equal(d[0].Nodes, []string{"node-1"})) {
				t.Errorf("with processors %s drift is %+v, want it of %d nodes", change, d, want)
			}
		}
	})
	t.Run("want nothing again that runs", func(t *testing.T) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "inflate-abc-1",
				Labels: map[string]string{"app": "inflate", "pod-template-hash": "abc"},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet",
					Name: "inflate-abc", Controller: new(true)}}},
			Spec: corev1.PodSpec{NodeName: "node-1",
				Containers: []corev1.Container{{Name: "inflate", Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}},
		}
		got, err := planJSONOf(t, liveCluster(t, account, pod), exampleFiles(t, "replicas: 0", "replicas: 3"))
		if err != nil {
			t.Fatal(err)
		}
		if list := got.Manifests.Changes; list[len(list)-1] != "Deployment default/inflate: 1 stay, 2 new" {
			t.Errorf("got %q", list)
		}
	})
}

func planJSONOf(t *testing.T, read inspect.Reader, args []string) (plancmd.JSON, error) {
	t.Helper()
	cmd := plancmd.New(plancmd.Cluster{Read: read})
	var out bytes.Buffer
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetArgs(append(args, "-o", "json"))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		return plancmd.JSON{}, err
	}
	var got plancmd.JSON
	err := json.Unmarshal(out.Bytes(), &got)
	return got, err
}

const olderManifests = `apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec:
  subnetSelector: {karpenter.sh/discovery: prod}
  securityGroupSelector: {karpenter.sh/discovery: prod}
---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: shared}
spec:
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
  kubeletConfiguration: {maxPods: 20}
  weight: 10
---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: inline}
spec:
  provider:
    amiFamily: Bottlerocket
    subnetSelector: {karpenter.sh/discovery: prod}
    securityGroupSelector: {karpenter.sh/discovery: prod}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {nodeSelector: {karpenter.sh/provisioner-name: POOL}, containers: [{name: web, image: web, resources: {requests: {cpu: "1"}}}]}
`

// Objects of the older API generation are planned with as those of the newer are: with
// settings in a template, and inline.
func TestManifestsOfTheOlderGenerationOnALiveCluster(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	plan := func(text string) (plancmd.JSON, error) {
		path := filepath.Join(t.TempDir(), "older.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return planJSONOf(t, liveCluster(t, account), []string{"-f", path})
	}
	for pool, option := range map[string]string{"shared": "spot", "inline": "on-demand"} {
		got, err := plan(strings.ReplaceAll(olderManifests, "POOL", pool))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Launches) == 0 || len(got.Unplaced) != 0 || got.Launches[0].Pool != "Provisioner/"+pool || got.Launches[0].Choice.Option != option {
			t.Errorf("for pods of %s it launches %+v, and leaves %+v", pool, got.Launches, got.Unplaced)
		}
	}
	if _, err := plan(strings.Replace(olderManifests, "subnetSelector: {karpenter.sh/discovery: prod}",
		"subnetSelector: {karpenter.sh/discovery: test}", 1)); err == nil ||
		!strings.Contains(err.Error(), "AWSNodeTemplate default: ") {
		t.Errorf("got %v, want an error that names the template", err)
	}
}
