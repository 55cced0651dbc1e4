package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/observe/comparison"
)

// account answers what a class selects, or refuses to.
type account struct{ refuses error }

func (a account) Subnets(context.Context, nodeclass.Class) ([]nodeclass.Subnet, error) {
	return []nodeclass.Subnet{{ID: "subnet-1", Zone: "us-east-1a"}}, a.refuses
}

func (account) Groups(context.Context, nodeclass.Class) ([]nodeclass.Group, error) { return nil, nil }

func (account) Images(context.Context, nodeclass.Class) ([]nodeclass.Image, error) { return nil, nil }

func (account) Reservations(context.Context, nodeclass.Class) ([]nodeclass.Reservation, error) {
	return nil, nil
}

func (account) Placement(context.Context, nodeclass.Class) (*nodeclass.PlacementGroup, error) {
	return nil, nil //nolint:nilnil // the class has none
}

const (
	givenClass = `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: web}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {team: web}}]
  securityGroupSelectorTerms: [{tags: {team: web}}]
`
	givenPool = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: web}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
`
)

// NodePools and their classes may be in one file or in several of a folder; what is no manifest is left out. What is
// wrong names the option, the file and the object.
func TestShadowModePlansWithPoolsOfFiles(t *testing.T) {
	refused := errors.New("ec2:DescribeSubnets: UnauthorizedOperation")
	tests := map[string]struct {
		files  map[string]string
		path   string // below the folder; empty: the folder
		aws    error
		says   string // the error; empty: one pool is read
		beside string // that the error names too
	}{
		"a file": {files: map[string]string{"pools.yaml": givenClass + "---" + givenPool},
			path: "pools.yaml"},
		"a folder": {files: map[string]string{"a.yaml": givenPool, "b.yml": givenClass,
			"README.md": "# pools", "notes": "{"}},
		"a file of any name": {files: map[string]string{"pools": givenPool}, path: "pools"},
		"no NodePool": {files: map[string]string{"a.yaml": givenClass},
			says: "there is no NodePool in it"},
		"an empty folder": {says: "there is no NodePool in it"},
		"nothing there":   {path: "none.yaml", says: "no such file", beside: "none.yaml"},
		"a NodePool that is wrong": {files: map[string]string{"a.yaml": strings.Replace(givenPool, "In,", "Near,",
			1)}, says: "spec.template.spec.requirements[0]", beside: "a.yaml"},
		"a class that AWS refuses": {files: map[string]string{"a.yaml": givenPool + "---" + givenClass}, aws: refused,
			says: refused.Error(), beside: "a.yaml"},
		"no YAML": {files: map[string]string{"a.yaml": "kind: ["}, says: "a.yaml"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, text := range tt.files {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := shadowing{on: true, manifests: filepath.Join(folder, tt.path)}
			pools, err := s.given(t.Context(),
				&controller.GivenClasses{Kind: class.NodeClasses("", validate.ClassOptions{}), Cloud: account{tt.aws}})
			switch {
			case tt.says == "" && (err != nil || len(pools) != 1 || pools[0].ID.Name != "web"):
				t.Errorf("%d pools, %v; want NodePool web", len(pools), err)
			case tt.says != "" && (err == nil || !strings.HasPrefix(err.Error(), "--shadow-manifests (SHADOW_MANIFESTS)") ||
				!strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), tt.beside)):
				t.Errorf("%v; want one that says %q and names %q", err, tt.says, tt.beside)
			}
		})
	}
}

// The folder of a ConfigMap has each file as a link into a folder of its own, which it shows too: the pools are in it
// once.
func TestShadowModePlansWithPoolsOfAConfigMap(t *testing.T) {
	folder := t.TempDir()
	const version = "..2026_11_21_04_00_00.123456789"
	if err := os.Mkdir(filepath.Join(folder, version), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, version, "nodepools.yaml")
	if err := os.WriteFile(file, []byte(givenClass+"---"+givenPool), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"..data": version, "nodepools.yaml": "..data/nodepools.yaml"} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := shadowing{on: true, manifests: folder}
	pools, err := s.given(t.Context(),
		&controller.GivenClasses{Kind: class.NodeClasses("", validate.ClassOptions{}), Cloud: account{}})
	if err != nil || len(pools) != 1 || pools[0].ID.Name != "web" {
		t.Errorf("%d pools, %v; want NodePool web", len(pools), err)
	}
}

// Behind a proxy the URL of the API server has a path: the history of shadow mode is kept there too.
func TestTheHistoryIsKeptBehindAProxy(t *testing.T) {
	var kept atomic.Bool
	server := httptest.NewServer(http.StripPrefix("/k8s/clusters/c-1",
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			answer := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
			switch {
			case r.Method == http.MethodPost:
				kept.Store(true)
				answer = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"daemok-shadow"}}`
			case r.URL.Path == "/api":
				answer = `{"kind":"APIVersions","versions":["v1"]}`
			case r.URL.Path == "/apis":
				answer = `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`
			case r.URL.Path == "/api/v1":
				answer = `{"kind":"APIResourceList","groupVersion":"v1","resources":[
					{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["get"]}]}`
			default:
				w.WriteHeader(http.StatusNotFound)
			}
			if _, err := io.WriteString(w, answer); err != nil {
				t.Error(err)
			}
		})))
	t.Cleanup(server.Close)
	var log bytes.Buffer
	saver, err := options{}.saver(&comparison.Book{}, &rest.Config{Host: server.URL + "/k8s/clusters/c-1"},
		slog.New(slog.NewTextHandler(&log, nil)), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := saver.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := saver.Run(ended); err != nil || !kept.Load() {
		t.Errorf("the history is kept: %t, %v\n%s", kept.Load(), err, &log)
	}
}
