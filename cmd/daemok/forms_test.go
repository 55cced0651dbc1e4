package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/explaincmd"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/test/store"
)

// aForm is a command of a user that shows something of a cluster.
type aForm struct {
	make    func() *cobra.Command
	args    []string
	name    string // what -o name prints
	columns string // of custom-columns
	row     string // a line of them, with single spaces
	path    string // a template
	value   string // what it prints
	wide    string // what -o wide has and the usual text has not; empty: no more is printed
}

// Each of kubectl's forms shows what a command has found: YAML the same as JSON, names what
// kubectl takes, columns and templates what JSON has.
func TestCommandsPrintInKubectlsForms(t *testing.T) {
	cluster := manyThings(t)
	store := func(*inspect.Target) (client.Client, error) { return cluster, nil }
	older := filepath.Join(t.TempDir(), "older.yaml")
	if err := os.WriteFile(older, []byte("apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: web}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]aForm{
		"plan": {
			func() *cobra.Command { return root() }, []string{"plan", "--snapshot", situationFile}, "nodeclaim.karpenter.sh/new-1\n",
			"NAME:.name,TYPE:.choice.type,NONE:.none", "new-1 m5.large <none>", "{.launches[?(@.choice.price<0.1)].pods[*]}", "default/web-1 default/web-2", "At the margin",
		},
		"explain": {
			func() *cobra.Command { return explaincmd.Command(store, inspect.Account) }, []string{"pod", "shop/web-1"}, "pod/web-1\n",
			"WHAT:.record[0].about.name,SAID:.record[0].said", "shop/web-1 has no place", "{.record[*].why}", "limit cpu is 2 short", "",
		},
		"roll --status": {
			func() *cobra.Command { return rollCommand(store) }, []string{"nodepool", "web", "--status"}, "nodepool.karpenter.sh/web\n",
			"POOL:.pool,DONE:.done", "NodePool/web true", "{[0].toGo}", "0", "",
		},
		"adopt": {
			func() *cobra.Command { return adoptCommand(store) }, nil, "node/lost\n",
			"NODE:.node,STATE:.state", "lost Kept", "{[*].machine}", "aws:///a/i-lost", "node lost (aws:///a/i-lost) stays",
		},
		"handback --check": {
			func() *cobra.Command { return handbackCommand(store) }, []string{"--check"}, "",
			"CLAIMS:.claims,WAITS:.waits", "0 []", "{.claims}", "0", "",
		},
		"iam policy": {
			func() *cobra.Command { return iamCommand(store) }, []string{"policy", "--without-cluster", "--cluster-name=prod", "--account=123456789012", "--region=us-east-1"}, "",
			"EFFECT:.Effect", "Allow", "{.Version}", "2012-10-17", "",
		},
		"migrate": {
			func() *cobra.Command { return root() }, []string{"migrate", "-f", older}, "provisioner.karpenter.sh/web\n",
			"FROM:.object,TO:.made[*]", "Provisioner web NodePool web", "{.objects[0].made[0]}", "NodePool web", "",
		},
		"version": {
			func() *cobra.Command { return root() }, []string{"version"}, "", "V:.version", "development", "{.version}", "development", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt.announce(t)
		})
	}
}

// print runs the command in a form. What migrate reports beside manifests goes elsewhere.
func (f aForm) print(t *testing.T, form string) string {
	t.Helper()
	cmd := f.make()
	var out, notes bytes.Buffer
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetErr(&notes)
	cmd.SetArgs(append(append([]string{}, f.args...), "-o", form))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("-o %s: %v", form, err)
	}
	if len(f.args) > 0 && f.args[0] == "migrate" {
		return notes.String()
	}
	return out.String()
}

func (f aForm) announce(t *testing.T) {
	t.Helper()
	var inJSON, inYAML any
	if text := f.print(t, "json"); json.Unmarshal([]byte(text), &inJSON) != nil {
		t.Fatalf("-o json printed\n%s", text)
	}
	if text := f.print(t, "yaml"); yaml.Unmarshal([]byte(text), &inYAML) != nil || !reflect.DeepEqual(inJSON, inYAML) {
		t.Errorf("-o yaml printed\n%s\nwant the same as -o json: %v", text, inJSON)
	}
	if got := f.print(t, "jsonpath="+f.path); got != f.value {
		t.Errorf("-o jsonpath=%s printed %q, want %q", f.path, got, f.value)
	}
	lines := strings.Split(f.print(t, "custom-columns="+f.columns), "\n")
	if got := strings.Join(strings.Fields(lines[1]), " "); got != f.row {
		t.Errorf("-o custom-columns=%s printed %q, want %q", f.columns, got, f.row)
	}
	if f.name != "" {
		if got := f.print(t, "name"); got != f.name {
			t.Errorf("-o name printed %q, want %q", got, f.name)
		}
	}
	if f.wide == "" {
		return
	}
	if wide, usual := f.print(t, "wide"), f.print(t, "table"); !strings.Contains(wide, f.wide) || strings.Contains(usual, f.wide) {
		t.Errorf("-o wide printed\n%s\nand -o table\n%s\nwant %q in the first alone", wide, usual, f.wide)
	}
}

// manyThings is a cluster with a pool, an orphan of another, and a record.
func manyThings(t *testing.T) client.Client {
	t.Helper()
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	store := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(store.Mapper(scheme)).WithObjects(
		&karpv1.NodePool{Spec: store.PoolSpec(), ObjectMeta: metav1.ObjectMeta{Name: "web", CreationTimestamp: metav1.NewTime(time.Now())}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "lost", Labels: map[string]string{api.LabelNodePool: "gone"}}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-lost"}},
	).Build()
	commandtest.Leave(t, store, record.Statement{About: record.Object{Kind: record.Pod, Name: "shop/web-1"}, Said: "has no place", Why: "limit cpu is 2 short"})
	return store
}

// What a command does step by step, and text that another command reads, has no such forms.
func TestCommandsWithoutFormsSayWhy(t *testing.T) {
	for want, args := range map[string][]string{
		"a snapshot is text that daemok plan --snapshot reads": {"snapshot", "-o", "yaml"},
		"what it has read is YAML in the folder of --backup":   {"migrate", "crds", "--backup", "x", "-o", "json"},
		"-o needs --check":                           {"handback", "-o", "json"},
		"there is no such form: want custom-columns": {"iam", "check", "-o", "custom-colums=A:.a"},
		"want text, json, yaml, name":                {"migrate", "-o", "table"},
	} {
		if _, err := run(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("daemok %s gives %v, want %q", strings.Join(args, " "), err, want)
		}
	}
}
