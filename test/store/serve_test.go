package store_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// overHTTP serves pods, evictions and claims of a store, and connects to it as programs do.
func overHTTP(t *testing.T) (*store.Server, *rest.Config, client.Client) {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	server := store.New(s, time.Now)
	resources := append(server.Resources(true, &corev1.Pod{}), server.Resources(false, &corev1.Node{}, &karpv1.NodeClaim{})...)
	web := httptest.NewServer(server.Handler("36", resources...))
	t.Cleanup(web.Close)
	config := &rest.Config{Host: web.URL}
	c, err := client.New(config, client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}
	return server, config, c
}

func podOf(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "8d3b0a5e"}, Spec: corev1.PodSpec{NodeName: "n1"}}
}

func TestWhatClientsDoOverHTTP(t *testing.T) {
	for name, does := range map[string]func(ctx context.Context, s *store.Server, c client.Client) error{
		"objects are read as they were put": func(ctx context.Context, s *store.Server, c client.Client) error {
			if err := s.Put(podOf("p")); err != nil {
				return err
			}
			var pod corev1.Pod
			if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "p"}, &pod); err != nil || pod.UID != "8d3b0a5e" || pod.Spec.NodeName != "n1" {
				return fmt.Errorf("%+v, %w", pod, err)
			}
			return nil
		},
		"one that is not there is not found": func(ctx context.Context, _ *store.Server, c client.Client) error {
			if err := c.Get(ctx, client.ObjectKey{Name: "none"}, &corev1.Node{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		},
		"a list comes in pages, and of metadata alone": func(ctx context.Context, s *store.Server, c client.Client) error {
			for i := range 5 {
				if err := s.Put(podOf(fmt.Sprint("p", i))); err != nil {
					return err
				}
			}
			var names string
			page := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
			for pages := 1; ; pages++ {
				if err := c.List(ctx, page, client.Limit(2), client.Continue(page.Continue)); err != nil {
					return err
				}
				for _, p := range page.Items {
					names += p.Name
				}
				if page.Continue != "" {
					continue
				}
				if names != "p0p1p2p3p4" || pages != 3 {
					return fmt.Errorf("%s in %d pages", names, pages)
				}
				return nil
			}
		},
		"a patch of an older version is a conflict": func(ctx context.Context, _ *store.Server, c client.Client) error {
			claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "default-1"}, Spec: store.ClaimSpec()}
			if err := c.Create(ctx, claim); err != nil {
				return err
			}
			older := claim.DeepCopy()
			for i, want := range []bool{false, true} {
				after := older.DeepCopy()
				after.Labels = map[string]string{"written": fmt.Sprint(i)}
				err := c.Patch(ctx, after, client.MergeFromWithOptions(older, client.MergeFromWithOptimisticLock{}))
				if apierrors.IsConflict(err) != want {
					return fmt.Errorf("patch %d: %w", i, err)
				}
			}
			return nil
		},
		"an eviction that a budget forbids is refused": func(ctx context.Context, s *store.Server, c client.Client) error {
			s.BlockEvictions(func(*corev1.Pod) bool { return true })
			if err := s.Put(podOf("p")); err != nil {
				return err
			}
			if err := c.SubResource("eviction").Create(ctx, podOf("p"), &policyv1.Eviction{}); !apierrors.IsTooManyRequests(err) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		},
		"what is deleted is gone": func(ctx context.Context, s *store.Server, c client.Client) error {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
			if err := s.Put(node); err != nil {
				return err
			}
			if err := c.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}); err != nil {
				return err
			}
			if err := c.Get(ctx, client.ObjectKey{Name: "n1"}, node); !apierrors.IsNotFound(err) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, _, c := overHTTP(t)
			if err := does(t.Context(), server, c); err != nil {
				t.Error(err)
			}
		})
	}
}

// An informer is notified of what there was, of what comes and of what goes.
func TestAWatchOverHTTPShowsEveryChange(t *testing.T) {
	server, config, c := overHTTP(t)
	if err := server.Put(podOf("before")); err != nil {
		t.Fatal(err)
	}
	reported := make(chan string, 10)
	watched, err := cache.New(config, cache.Options{Scheme: c.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	informer, err := watched.GetInformer(t.Context(), &corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { reported <- "added " + o.(*corev1.Pod).Name },
		UpdateFunc: func(_, o any) { reported <- "updated " + o.(*corev1.Pod).Name },
		DeleteFunc: func(o any) { reported <- "deleted " + o.(*corev1.Pod).Name },
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- watched.Start(ctx) }()
	defer func() { stop(); <-ended }()
	now := int64(0)
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return nil }, "added before"},
		{func() error { return server.Put(podOf("later")) }, "added later"},
		{func() error { return server.Put(podOf("before")) }, "updated before"},
		{func() error { return c.Delete(ctx, podOf("later"), &client.DeleteOptions{GracePeriodSeconds: &now}) }, "deleted later"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-reported:
			if got != step.want {
				t.Fatalf("told %q, want %q", got, step.want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("not told %q", step.want)
		}
	}
}
