package plancmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const manifestsFolder = "testdata/manifests"

func TestPlanWithManifestsIsComparedWithTheOneWithout(t *testing.T) {
	out, err := run(t, "plan", "--snapshot", situationFile, "-f", manifestsFolder,
		"--what-if", "drop-type=m5.xlarge", "-o", "wide")
	if err != nil {
		t.Fatal(err)
	}
	want := `Manifests
  Deployment default/api: 0 stay, 4 new
  no plan depends on 1 ConfigMap
  without them: +1 launched, $0.000/h -> $0.096/h
  they change what the cluster costs by +$0.096/h, +$70 a month

`
	if !strings.Contains(out, want) {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	want = `What if
  QUESTION             NEW  $/H AFTER           CHANGE     GAP  ALL PODS FIT
  as it is               1     $0.192                -  33.3 %  yes
  drop-type=m5.xlarge    2     $0.192  $0.000 (+0.0 %)  33.3 %  yes
`
	if !strings.Contains(out, want) {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	if !strings.Contains(out, "default/api-new-4") {
		t.Errorf("the plan is not the one with the manifests:\n%s", out)
	}
}

func TestPlanWithManifestsAsJSON(t *testing.T) {
	out, err := run(t, "plan", "--snapshot", situationFile, "-f", manifestsFolder+"/api.yaml", "-n", "shop", "-o",
		"json")
	if err != nil {
		t.Fatal(err)
	}
	var got JSON
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	m := got.Manifests
	if m == nil || m.Difference != 0.096 || m.Without.LaunchCost != 0.096 || len(m.Without.Launches) != 1 || len(m.Changes) != 2 ||
		m.Changes[0] != "Deployment shop/api: 0 stay, 4 new" || m.Notes == nil {
		t.Errorf("got %+v", m)
	}
	if got.LaunchCost != 0.192 {
		t.Errorf("the plan costs %v, not as with the manifests", got.LaunchCost)
	}
}

func TestManifestsFromStandardInput(t *testing.T) {
	text, err := os.ReadFile(manifestsFolder + "/api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		input string
		want  string // of the answer, or of the error
	}{
		"are added": {string(text), "Deployment default/api: 0 stay, 4 new"},
		"are named where wrong": {string(text) + "---\nkind: Pod\n",
			"standard input, document 3: apiVersion or kind is missing"},
		"must be some":             {"# none\n", "standard input has no manifest in it"},
		"must be YAML":             {"a: b: c", "standard input, document 1: "},
		"must say each thing once": {"kind: Pod\nkind: Pod\n", "already set"},
		"must be of one name each": {string(text) + "---\n" + string(text),
			"document 3, Deployment default/api: it is there twice: see standard input, document 1"},
		"must name what they are": {"apiVersion: v1\nkind: Pod\nmetadata: {}\n", "metadata.name is missing"},
		"must hold what they claim": {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
			"Pod default/p: spec.containers is missing"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := New(Cluster{})
			var out bytes.Buffer
			cmd.SetIn(strings.NewReader(tt.input))
			cmd.SetOut(&out)
			cmd.SetArgs([]string{"--snapshot", situationFile, "-f", "-"})
			got := ""
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				got = err.Error()
			}
			if got += out.String(); !strings.Contains(got, tt.want) {
				t.Errorf("got %s; want %q", got, tt.want)
			}
		})
	}
}

func TestManifestsThatAreNotThere(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"a file that is not there": {[]string{"-f", "testdata/none.yaml"},
			"read manifests: stat testdata/none.yaml"},
		"an address":                   {[]string{"-f", "https://example.com/api.yaml"}, "nothing is fetched"},
		"a folder without any":         {[]string{"-f", t.TempDir()}, "has no file that ends in .yaml"},
		"two that read standard input": {[]string{"-f", "-", "--snapshot", "-"}, "cannot both read standard input"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := run(t,
				append([]string{"plan", "--snapshot", situationFile},
					tt.args...)...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A change that leaves pods without a place saves nothing, and says so.
func TestPodsThatLoseTheirPlaceAreNoSaving(t *testing.T) {
	args := []string{"plan", "--snapshot", "testdata/change/situation.txt", "-f", "testdata/change/pool.yaml",
		"--delete"}
	out, err := run(t, args...)
	want := `  without them: +2 launched, -1 terminated, $0.192/h -> $0.288/h
  2 pods lose their place: shop/new-1, shop/new-2
  they change what the cluster costs by -$0.192/h, -$140 a month, because pods
    without a place cost nothing
`
	if err != nil || !strings.Contains(out, want) {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
	if trouble, _, _ := strings.Cut(out, "\nPlan: "); !strings.Contains(trouble,
		"! 2 pods have no place: shop/new-1, shop/new-2") {
		t.Errorf("the bad news does not come first:\n%s", out)
	}
	out, err = run(t, append(args, "-o", "jsonpath={.manifests.lost}")...)
	if err != nil || out != `["shop/new-1","shop/new-2"]` {
		t.Errorf("lost: %v, %s", err, out)
	}
}

// An empty node would go; what a manifest says keeps it, and the plan reports why.
func TestManifestsThatKeepNodes(t *testing.T) {
	situation := filepath.Join(t.TempDir(), "situation.txt")
	text := `snapshot 7 2026-11-21T04:00:00Z
catalogue c1 1
kind m5.large cpu=2 memory=8Gi pods=29
  offer us-west-2a on-demand 0.096
pool NodePool/default catalogue=c1 nodes=1
  allow 1
node n claim=c pool=NodePool/default price=0.096 quiet-since=2026-11-21T03:00:00Z ready initialized
  allocatable cpu=2 memory=8Gi pods=29
`
	if err := os.WriteFile(situation, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ manifest, want string }{
		"nothing does": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}",
			"-1  default  Empty     0  -$0.096  n\n"},
		"a freeze": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: daemok-freeze, namespace: kube-system}, data: {reason: sale}}",
			"! no node of NodePool/default may be disrupted now: frozen by ConfigMap\n" +
				"  kube-system/daemok-freeze: sale\n"},
		"a policy": {`{apiVersion: daemok.sh/v1alpha1, kind: DisruptionPolicy, metadata: {name: nights}, spec: {windows: [{start: "22:00", duration: 4h}]}}`,
			"! no node of NodePool/default may be disrupted now: no window of\n" +
				"  DisruptionPolicy nights is open, the next opens 2026-11-21T22:00:00Z\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "kept.yaml")
			if err := os.WriteFile(file, []byte(tt.manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := run(t, "plan", "--snapshot", situation, "-f", file)
			if err != nil || !strings.Contains(out, tt.want) {
				t.Errorf("error %v, got\n%s\nwant it to have\n%s", err, out, tt.want)
			}
		})
	}
}
