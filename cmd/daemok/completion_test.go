package main

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/help"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// completed is what a shell offers for a line whose last word is not finished, without descriptions.
func completed(t *testing.T, line string) []string {
	t.Helper()
	cmd := root()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetArgs(append([]string{"__completeNoDesc"}, strings.Split(line, " ")...))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[:len(lines)-1] // the last is for the shell
}

// living serves a cluster with a few objects, and has KUBECONFIG name it.
func living(t *testing.T) {
	t.Helper()
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	server := store.New(scheme, time.Now)
	connection := server.Connect(nil)
	in := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: in("", "shop")}, &corev1.Namespace{ObjectMeta: in("", "default")},
		&corev1.Node{ObjectMeta: in("", "ip-10-0-1-7")}, &corev1.Node{ObjectMeta: in("", "ip-10-0-2-8")},
		&corev1.Pod{ObjectMeta: in("shop", "web-1")}, &corev1.Pod{ObjectMeta: in("shop", "web-2")}, &corev1.Pod{ObjectMeta: in("default", "job-1")},
	} {
		if err := connection.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"default", "spot"} {
		pool := &karpv1.NodePool{ObjectMeta: in("", name)}
		pool.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
		pool.Spec.Template.Spec.Requirements = []karpv1.Requirement{}
		if err := connection.Create(t.Context(), pool); err != nil {
			t.Fatal(err)
		}
	}
	resources := append(server.Resources(true, &corev1.Pod{}), server.Resources(false, &corev1.Namespace{}, &corev1.Node{}, &karpv1.NodePool{}, &karpv1.NodeClaim{})...)
	web := httptest.NewServer(server.Handler("36", resources...))
	t.Cleanup(web.Close)
	kubeconfig(t, web.URL)
}

// kubeconfig writes one with a context "here" for a cluster, and another "there", and has KUBECONFIG name it.
func kubeconfig(t *testing.T, url string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "here", "clusters": [{"name": "c", "cluster": {"server": %q}}], "users": [{"name": "me", "user": {}}],
  "contexts": [{"name": "here", "context": {"cluster": "c", "user": "me"}}, {"name": "there", "context": {"cluster": "c", "user": "me", "namespace": "shop"}}]}`, url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
}

func TestNamesOfTheClusterAreCompleted(t *testing.T) {
	living(t)
	for line, want := range map[string][]string{
		"explain node":                          {"node", "nodepool", "nodeclaim", "nodeoverlay"},
		"explain node ":                         {"ip-10-0-1-7", "ip-10-0-2-8"},
		"explain node ip-10-0-2":                {"ip-10-0-2-8"},
		"explain nodes ip-10-0-2":               {"ip-10-0-2-8"},
		"explain nodepool/s":                    {"nodepool/spot"},
		"explain nodepool.karpenter.sh/":        {"nodepool.karpenter.sh/default", "nodepool.karpenter.sh/spot"},
		"explain pod ":                          {"job-1"},
		"explain -n shop pod w":                 {"web-1", "web-2"},
		"explain --context there pod w":         {"web-1", "web-2"},
		"explain nodeclaim ":                    nil,
		"explain pod job-1 ":                    nil,
		"explain provisioner ":                  nil, // it is not served
		"roll nodepool ":                        {"default", "spot"},
		"roll node":                             {"nodepool", "nodeclass"},
		"adopt ip-10-0-1-7 ":                    {"ip-10-0-2-8"},
		"explain --namespace s":                 {"shop"},
		"plan --context t":                      {"there"},
		"plan -o j":                             {"json", "jsonpath=", "jsonpath-file=", "jsonpath-as-json="},
		"plan --output=custom":                  {"custom-columns="},
		"plan --what-if pool=":                  {"pool=default", "pool=spot"},
		"plan --what-if pool=spot,cap":          {"pool=spot,capacity="},
		"plan --what-if pool=spot,capacity=o":   {"pool=spot,capacity=on-demand"},
		"plan --fail-on unplaced,c":             {"unplaced,cost>"},
		"cost --by na":                          {"namespace"},
		"cost --by pool,node":                   {"pool,node", "pool,node-label="},
		"cost --by node,no":                     {"node,node-label="},
		"plan --preference-policy R":            {"Respect"},
		"plan ":                                 nil,
		"simulate --policy k":                   {"karpenter"},
		"migrate --policy k":                    nil, // a file
		"iam policy --system-namespace default": {"default"},
	} {
		t.Run(line, func(t *testing.T) {
			if got := completed(t, line); !slices.Equal(got, want) {
				t.Errorf("daemok %s is completed by %q; want %q", line, got, want)
			}
		})
	}
}

func TestWithoutAClusterWordsAreCompletedAndNoErrorIsShown(t *testing.T) {
	none := httptest.NewServer(nil)
	none.Close() // nothing answers at its address
	kubeconfig(t, none.URL)
	for line, want := range map[string][]string{
		"explain node ": nil,
		"explain po":    {"pod"},
		"plan --cont":   {"--context"},
		"plan -o n":     {"name"},
	} {
		if got := completed(t, line); !slices.Equal(got, want) {
			t.Errorf("daemok %s is completed by %q; want %q", line, got, want)
		}
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	if got := completed(t, "explain node "); len(got) > 0 {
		t.Errorf("without a kubeconfig nodes are %q", got)
	}
}

func TestThePluginOfKubectlSaysHowItWasCalled(t *testing.T) {
	cmd := root()
	help.CalledAs(cmd, "/opt/krew/bin/kubectl-daemok")
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"plan", "--help"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n  kubectl daemok plan [flags]\n", "\n  kubectl daemok plan --snapshot situation.txt\n", `"kubectl daemok snapshot"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help of the plugin does not say %q:\n%s", want, out.String())
		}
	}
	if plain, err := run(t, "plan", "--help"); err != nil || strings.Contains(plain, "kubectl daemok") {
		t.Errorf("help of the program speaks of a plugin (%v):\n%s", err, plain)
	}
}
