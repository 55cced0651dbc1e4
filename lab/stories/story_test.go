package stories_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/bench/measured"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/lab/await"
)

// limit bounds what a story waits for; nothing in a lab at time scale 0 takes nearly as
// long, even on an instance with other work.
const limit = 3 * time.Minute

// story is a test that acts as a user of one lab, in a namespace of its own.
type story struct {
	*testing.T
	dir       string // of the lab
	namespace string
	client    client.Client
	watcher   dynamic.Interface
	seen      *landings
}

// begin starts a story in a lab. Its namespace goes with it.
func begin(t *testing.T, l *lazyLab) *story {
	t.Helper()
	s := &story{T: t, dir: l.use(t), namespace: namespaceFor(t.Name()), seen: &landings{}}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(s.dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	known := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(known), karpv1.AddToScheme(known)); err != nil {
		t.Fatal(err)
	}
	if s.client, err = client.New(config, client.Options{Scheme: known}); err != nil {
		t.Fatal(err)
	}
	if s.watcher, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	s.createNamespace()
	s.Cleanup(s.sayLandings)
	return s
}

// landings is what is said of a story beside what it judges itself: of the moment at which most pods of its namespace had
// an instance of their own.
type landings struct {
	sync.Mutex
	meant, landed, displaced int
}

// recordLandings counts how many pods run on the first instance that was launched for them, and how often others took
// their place.
func (s *story) recordLandings() {
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Second)
	defer cancel()
	all, err := measured.Landings(ctx, s.client, s.namespace)
	if err != nil {
		return // stories stop API servers, and begin without definitions
	}
	meant, landed, displaced := 0, 0, 0
	for _, l := range all {
		if len(l.Meant) > 0 {
			meant++
		}
		if l.AsPlanned() {
			landed++
		}
		displaced = max(displaced, l.Displaced())
	}
	s.seen.Lock()
	defer s.seen.Unlock()
	if meant >= s.seen.meant {
		s.seen.meant, s.seen.landed, s.seen.displaced = meant, landed, displaced
	}
}

func (s *story) sayLandings() {
	if l := s.seen; l.meant > 0 {
		s.Logf("%d of %d pods for which an instance was launched run on the first one; at most %d more were launched for a pod", l.landed, l.meant, l.displaced)
	}
}

func (s *story) createNamespace() {
	s.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := s.client.Create(s.Context(), ns); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := s.client.Delete(context.Background(), ns); err != nil {
			s.Errorf("delete namespace of story: %v", err)
		}
	})
	s.await("the namespace's service account", "v1/ServiceAccount", func(seen []*unstructured.Unstructured) bool {
		return len(seen) > 0
	})
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// namespaceFor makes a test's name a namespace's.
func namespaceFor(test string) string {
	name := notInNames.ReplaceAllString(strings.ToLower(strings.TrimPrefix(test, "Test")), "-")
	return strings.Trim(name[:min(len(name), 60)], "-")
}

// apply makes the objects of a manifest as they are written, namespaced ones
// in the story's namespace unless they name another.
func (s *story) apply(manifest string) {
	s.Helper()
	for _, object := range s.decode(manifest) {
		s.applyObject(object)
	}
}

func (s *story) applyObject(object *unstructured.Unstructured) {
	s.Helper()
	err := s.client.Apply(s.Context(), client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner("story"), client.ForceOwnership)
	if err != nil {
		s.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
	}
}

// decode reads the objects of a manifest.
func (s *story) decode(manifest string) []*unstructured.Unstructured {
	s.Helper()
	var all []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			s.Fatalf("read manifest: %v\n%s", err, manifest)
		}
		if namespaced, err := s.client.IsObjectNamespaced(object); err != nil {
			s.Fatal(err)
		} else if namespaced && object.GetNamespace() == "" {
			object.SetNamespace(s.namespace)
		}
		all = append(all, object)
	}
}

// await waits until the objects of a Kind, written "group/version/Kind" or "v1/Kind", are
// as wanted: those of the story's namespace, or all of a Kind that has no namespaces. What
// it waits for is said in the failure.
func (s *story) await(what, kind string, holds func([]*unstructured.Unstructured) bool) {
	s.Helper()
	s.awaitFor(limit, what, kind, holds)
}

// awaitFor waits as await does, for as long as said.
func (s *story) awaitFor(length time.Duration, what, kind string, holds func([]*unstructured.Unstructured) bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), length)
	defer cancel()
	var last []*unstructured.Unstructured
	err := await.Until(ctx, s.resource(kind), metav1.ListOptions{}, func(seen []*unstructured.Unstructured) (bool, error) {
		last = seen
		return holds(seen), nil
	})
	if err != nil {
		s.Fatalf("waited for %s: %v\n%s\nlogs are in %s", what, err, describe(last), filepath.Join(s.dir, "logs"))
	}
	if kind == "v1/Pod" {
		s.recordLandings()
	}
}

// resource is where objects of a Kind are, in the story's namespace.
func (s *story) resource(kind string) dynamic.ResourceInterface {
	s.Helper()
	return s.resourceIn(kind, s.namespace)
}

func (s *story) resourceIn(kind, namespace string) dynamic.ResourceInterface {
	s.Helper()
	i := strings.LastIndex(kind, "/")
	gv, err := schema.ParseGroupVersion(kind[:i])
	if err != nil {
		s.Fatal(err)
	}
	mapping, err := s.client.RESTMapper().RESTMapping(schema.GroupKind{Group: gv.Group, Kind: kind[i+1:]}, gv.Version)
	if err != nil {
		s.Fatal(err)
	}
	all := s.watcher.Resource(mapping.Resource)
	if mapping.Scope.Name() == "namespace" {
		return all.Namespace(namespace)
	}
	return all
}

// describe prints objects for a failure, status last.
func describe(objects []*unstructured.Unstructured) string {
	var b strings.Builder
	for _, o := range objects {
		status, _ := o.Object["status"].(map[string]any)
		b.WriteString(o.GetKind() + " " + o.GetName() + ": ")
		for _, field := range []string{"phase", "conditions"} {
			if v, ok := status[field]; ok {
				b.WriteString(field + " " + compact(v) + " ")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
