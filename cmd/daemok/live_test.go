package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cloud/aws/emulator"
	"github.com/daemok/daemok/examples"
)

// pretendAccount connects to an AWS account that is not real.
func pretendAccount(t *testing.T) *aws.Provider {
	t.Helper()
	server := emulator.New(emulator.Options{Account: emulator.Account{ClusterName: "prod"}, Seed: 1})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": web.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true", "CLUSTER_NAME": "prod",
	} {
		t.Setenv(name, value)
	}
	provider, err := market(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

// liveCluster is one in memory, with the account beside it.
func liveCluster(t *testing.T, provider *aws.Provider, objects ...client.Object) reader {
	t.Helper()
	scheme, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	return func(ctx context.Context, _ string) (situation, error) { return readFrom(ctx, store, provider) }
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

func TestManifestsOnALiveCluster(t *testing.T) {
	account := pretendAccount(t)
	t.Run("say what they would buy, though nothing of them is there yet", func(t *testing.T) {
		got, err := planJSONOf(t, liveCluster(t, account), exampleFiles(t, "replicas: 0", "replicas: 5"))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Launches) == 0 || len(got.Unplaced) != 0 || got.Manifests == nil ||
			got.Manifests.Without.Machines != 0 || got.Manifests.Difference != got.LaunchCost {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("are refused with a class that finds nothing", func(t *testing.T) {
		_, err := planJSONOf(t, liveCluster(t, account), exampleFiles(t, "karpenter.sh/discovery: prod", "karpenter.sh/discovery: test"))
		if err == nil || !strings.Contains(err.Error(), "ec2nodeclass.yaml, document 1, EC2NodeClass default: ") {
			t.Errorf("got %v, want an error that names the class", err)
		}
	})
	t.Run("want nothing again that runs", func(t *testing.T) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "inflate-abc-1", Labels: map[string]string{"app": "inflate", "pod-template-hash": "abc"},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "inflate-abc", Controller: new(true)}}},
			Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "inflate", Resources: corev1.ResourceRequirements{
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

func planJSONOf(t *testing.T, read reader, args []string) (planJSON, error) {
	t.Helper()
	cmd := planCommand(read)
	var out bytes.Buffer
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetArgs(append(args, "-o", "json"))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		return planJSON{}, err
	}
	var got planJSON
	err := json.Unmarshal(out.Bytes(), &got)
	return got, err
}
