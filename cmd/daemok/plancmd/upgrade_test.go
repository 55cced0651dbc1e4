package plancmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// before is a cluster with three classes: default is rendered by the build before as by this one, gpu otherwise, and
// quiet was examined by none. Each has a node.
func before(t *testing.T) client.Client {
	t.Helper()
	s, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	conn := store.New(s, time.Now).Connect(nil)
	kind := inspect.KindsOfClasses(false, true, class.Usual{})[0]
	for name, changes := range map[string]map[string]string{"default": {}, "gpu": {"MetadataOptions.HttpTokens": "optional", "Gone": "yes"}, "quiet": nil} {
		o := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		o.Spec.Role = "nodes"
		o.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
		o.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-0123456789abcdef0"}}
		o.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{ID: "sg-0123456789abcdef0"}}
		claim := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: name + "-1", Annotations: map[string]string{}}}
		claim.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: name}
		if err := conn.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if changes != nil {
			claim.Annotations[api.AnnotationLaunchForm] = recordForm(t, conn, kind.Of(o), changes)
		}
		if err := conn.Create(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// recordForm has the build v1 note its form of a class, which is this build's with changes, and returns its digest.
func recordForm(t *testing.T, conn client.Client, c *class.Subject, changes map[string]string) string {
	t.Helper()
	form, err := controller.LaunchForm(c.Spec)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(form.Base, changes)
	forms, err := class.Forms{}.With(c, "v1", *form, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(forms)
	if err != nil {
		t.Fatal(err)
	}
	c.SetAnnotations(map[string]string{api.AnnotationLaunchForms: string(text)})
	if err := conn.Update(t.Context(), c.Object); err != nil {
		t.Fatal(err)
	}
	return forms.Digest("v1")
}

func upgradePlan(t *testing.T, args ...string) string {
	t.Helper()
	conn := before(t)
	cmd := New(Cluster{Open: func(*inspect.Target) (client.Client, error) { return conn, nil }})
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs(append([]string{"--upgrade"}, args...))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The command of a new release says of each class what an upgrade changes of new nodes, with values, and how many
// nodes stay as they are.
func TestWhatAnUpgradeChangesOfNewNodes(t *testing.T) {
	got := upgradePlan(t)
	want := `This command is of build ` + ownBuild() + `. An upgrade of the controller to it replaces no node.
EC2NodeClass/default: new nodes stay the same: build v1, which runs now, makes the same launch template and user data (1 node launched with them)
EC2NodeClass/gpu: new nodes change: build v1, which runs now, makes another launch template or user data (1 node launched with them, to stay as they are)
  - Gone: yes
  - MetadataOptions.HttpTokens: optional
  + MetadataOptions.HttpTokens: required
EC2NodeClass/quiet: unknown: no controller has stored its launch template yet, so there is nothing to compare with
`
	if got != want {
		t.Errorf("it prints\n%s\nwant\n%s", got, want)
	}
	var all []upgradeJSON
	if err := json.Unmarshal([]byte(upgradePlan(t, "-o", "json")), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || !all[0].Forms[0].Same || all[1].Forms[0].Nodes != 1 || len(all[1].Forms[0].Changes) != 2 || len(all[2].Forms) != 0 {
		t.Errorf("as JSON it prints %+v", all)
	}
	if names := upgradePlan(t, "-o", "name"); !strings.Contains(names, "ec2nodeclass.karpenter.k8s.aws/gpu") {
		t.Errorf("with -o name it prints %q", names)
	}
}

// AWSNodeTemplates are compared with what the installed controller is set up to make of them, for the version of the API
// server: without a family they are of AL2023 where there is no AL2.
func TestWhatAnUpgradeChangesOfTemplates(t *testing.T) {
	s, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	conn := store.New(s, time.Now).Connect(nil)
	o := &awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
	tags := awsv1alpha1.Selector{"team": {Value: "web"}}
	o.Spec.SubnetSelector, o.Spec.SecurityGroupSelector = tags, tags
	if err := conn.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	running := inspect.KindsOfClasses(true, true, class.Usual{})[1]
	running.Learn("1.36")
	recordForm(t, conn, running.Of(o), map[string]string{"MetadataOptions.HttpTokens": "optional"})
	for name, tt := range map[string]struct {
		version error
		want    string
	}{
		"as the API server is": {nil, `AWSNodeTemplate/old: new nodes change: build v1, which runs now, makes another launch template or user data (0 nodes launched with them, to stay as they are)
  - MetadataOptions.HttpTokens: optional
  + MetadataOptions.HttpTokens: required
`},
		"an API server that does not answer": {errors.New("no answer"), "AWSNodeTemplate/old: this build makes no launch template of it: no answer\n"},
	} {
		t.Run(name, func(t *testing.T) {
			at := inspect.NewTarget()
			at.Notes = io.Discard
			a, err := upgrade{conn, at, func() (string, error) { return "1.36", tt.version }}.plan(t.Context(), "v2")
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := a.Text(&out); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); !strings.HasSuffix(got, "\n"+tt.want) {
				t.Errorf("it prints\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// Which build runs, and which ran before, is said where several have examined a class.
func TestSeveralBuildsOfAClassAreDistinguished(t *testing.T) {
	for want, tt := range map[string]struct {
		form formJSON
		now  bool
	}{
		"new nodes stay the same: build v1, build v2, which runs now, makes the same launch template and user data (3 nodes launched with them)": {formJSON{Builds: []string{"v1", "v2"}, Nodes: 3, Same: true}, true},
		"this build runs already (3 nodes launched with this launch template and user data)":                                                     {formJSON{Builds: []string{"v1", "v3"}, Nodes: 3, Same: true}, true},
		"2 nodes of the earlier build v1 differ from new nodes of this build, and stay as they are":                                              {formJSON{Builds: []string{"v1"}, Nodes: 2}, false},
		"2 nodes of the earlier build v1, build v2 are as new nodes of this build":                                                               {formJSON{Builds: []string{"v1", "v2"}, Nodes: 2, Same: true}, false},
	} {
		if got := tt.form.text("v3", tt.now); got != want {
			t.Errorf("of builds %v it says\n%s\nwant\n%s", tt.form.Builds, got, want)
		}
	}
}

// Of a script with many lines those are printed that differ.
func TestAChangedScriptIsShownByLines(t *testing.T) {
	got := changeJSON{"", "UserData script 1", "#!/bin/sh\na\nb\n", "#!/bin/sh\nb\nc\n"}.text()
	if want := "  - UserData script 1: a\n  + UserData script 1: c\n"; got != want {
		t.Errorf("it prints %q, want %q", got, want)
	}
	script := formJSON{Changes: []changeJSON{
		{"", "UserData script 1", "#!/bin/sh\na\n--max-pods=58\n", "#!/bin/sh\nb\n--max-pods=58\n"},
		{"few pods", "UserData script 1", "#!/bin/sh\na\n--max-pods=11\n", "#!/bin/sh\nb\n--max-pods=11\n"},
		{"many pods", "UserData script 1", "#!/bin/sh\na\n--max-pods=737\n", "#!/bin/sh\nb\n--max-pods=250\n"},
	}}
	said := ""
	for _, c := range script.said() {
		said += c.text()
	}
	if want := `  - UserData script 1: a
  + UserData script 1: b
  - UserData script 1 (many pods): a
  - UserData script 1 (many pods): --max-pods=737
  + UserData script 1 (many pods): b
  + UserData script 1 (many pods): --max-pods=250
`; said != want {
		t.Errorf("of a script with variants it prints\n%s\nwant\n%s", said, want)
	}
	if got := (changeJSON{"", "x", "a\nb", "b\na"}).text(); !strings.Contains(got, "another order") {
		t.Errorf("of the same lines in another order it prints %q", got)
	}
}
