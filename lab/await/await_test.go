package await_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	kubetesting "k8s.io/client-go/testing"

	"github.com/daemok/daemok/lab/await"
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func client() (*fake.FakeDynamicClient, dynamic.ResourceInterface) {
	c := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{pods: "PodList"})
	return c, c.Resource(pods).Namespace("default")
}

func pod(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": "default"},
	}}
}

func names(want string) await.Condition {
	return func(objects []*unstructured.Unstructured) (bool, error) {
		got := make([]string, len(objects))
		for i, o := range objects {
			got[i] = o.GetName()
		}
		return strings.Join(got, " ") == want, nil
	}
}

// Objects come one by one, one goes again; the wait ends with the set wanted.
func TestSeesWhatComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, resource := client()
		go func() {
			for _, name := range []string{"b", "c", "a"} {
				time.Sleep(time.Second)
				if _, err := resource.Create(t.Context(), pod(name), metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Second)
			if err := resource.Delete(t.Context(), "c", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}()
		begin := time.Now()
		if err := await.Until(t.Context(), resource, metav1.ListOptions{}, names("a b")); err != nil {
			t.Error(err)
		}
		if waited := time.Since(begin); waited != 4*time.Second {
			t.Errorf("waited %v, want to return with the last event after 4s", waited)
		}
	})
}

func TestEndOfContextSaysWhatWasThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, resource := client()
		if _, err := resource.Create(t.Context(), pod("a"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := await.Until(ctx, ending{resource}, metav1.ListOptions{}, names("never"))
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 objects") {
			t.Errorf("Until = %v, want the deadline and 1 objects seen", err)
		}
	})
}

// ending ends its watches with their context, as a real server does.
type ending struct{ dynamic.ResourceInterface }

func (e ending) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := e.ResourceInterface.Watch(ctx, o)
	if err == nil {
		context.AfterFunc(ctx, w.Stop)
	}
	return w, err
}

// An API server that is away for a while is asked again.
func TestOutlastsAnAbsentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, resource := client()
		refusals := 3
		c.PrependReactor("list", "pods", func(kubetesting.Action) (bool, runtime.Object, error) {
			refusals--
			return refusals >= 0, nil, errors.New("connection refused")
		})
		if err := await.Until(t.Context(), resource, metav1.ListOptions{}, names("")); err != nil {
			t.Error(err)
		}
	})
}

func TestConditionCanGiveUp(t *testing.T) {
	_, resource := client()
	lost := errors.New("it will never be")
	err := await.Until(t.Context(), resource, metav1.ListOptions{}, func([]*unstructured.Unstructured) (bool, error) { return false, lost })
	if !errors.Is(err, lost) {
		t.Errorf("Until = %v, want the condition's own error", err)
	}
}
