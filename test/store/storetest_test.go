package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/test/store"
)

func newServer(t *testing.T) (*store.Server, *store.Connection) {
	t.Helper()
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	server := store.New(s, time.Now)
	return server, server.Connect(nil)
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// Each rule of the API server that controllers lean on, shown on one pod.
func TestTheServerKeepsTheRules(t *testing.T) {
	ctx := context.Background()
	ok := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]func(t *testing.T, s *store.Server, c *store.Connection, p *corev1.Pod){
		"a patch with a stale lock is a conflict": func(t *testing.T, _ *store.Server, c *store.Connection, p *corev1.Pod) {
			stale := p.DeepCopy()
			p.Labels = map[string]string{"a": "1"}
			ok(t, c.Patch(ctx, p, client.MergeFrom(stale)))
			mine := stale.DeepCopy()
			mine.Labels = map[string]string{"b": "2"}
			if err := c.Patch(ctx, mine, client.MergeFromWithOptions(stale, client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
				t.Errorf("patch with a stale lock: %v, want a conflict", err)
			}
		},
		"a patch that changes nothing makes no revision": func(t *testing.T, s *store.Server, c *store.Connection, p *corev1.Pod) {
			before := s.Revision()
			ok(t, c.Patch(ctx, p.DeepCopy(), client.MergeFrom(p)))
			if s.Revision() != before {
				t.Error("an empty patch was a write")
			}
		},
		"status and the rest are written apart": func(t *testing.T, _ *store.Server, c *store.Connection, p *corev1.Pod) {
			before := p.DeepCopy()
			p.Status.Phase, p.Labels = corev1.PodRunning, map[string]string{"a": "1"}
			both := p.DeepCopy()
			ok(t, c.Patch(ctx, p, client.MergeFrom(before)))
			if p.Status.Phase != "" || p.Labels["a"] != "1" {
				t.Errorf("after a patch of the rest: phase %q, labels %v", p.Status.Phase, p.Labels)
			}
			both.Labels = map[string]string{"a": "2"}
			ok(t, c.Status().Patch(ctx, both, client.MergeFrom(before)))
			if both.Status.Phase != corev1.PodRunning || both.Labels["a"] != "1" {
				t.Errorf("after a patch of the status: phase %q, labels %v", both.Status.Phase, both.Labels)
			}
		},
		"a finalizer holds an object until it is taken off": func(t *testing.T, _ *store.Server, c *store.Connection, p *corev1.Pod) {
			before := p.DeepCopy()
			p.Finalizers = []string{"x/y"}
			ok(t, c.Patch(ctx, p, client.MergeFrom(before)))
			ok(t, c.Delete(ctx, p))
			ok(t, c.Get(ctx, client.ObjectKeyFromObject(p), p))
			if p.DeletionTimestamp == nil {
				t.Fatal("no deletion timestamp")
			}
			before = p.DeepCopy()
			p.Finalizers = nil
			ok(t, c.Patch(ctx, p, client.MergeFrom(before)))
			if err := c.Get(ctx, client.ObjectKeyFromObject(p), p); !apierrors.IsNotFound(err) {
				t.Errorf("read after the last finalizer: %v", err)
			}
		},
		"a deletion for another object of that name is a conflict": func(t *testing.T, _ *store.Server, c *store.Connection, p *corev1.Pod) {
			other := types.UID("other")
			if err := c.Delete(ctx, p, client.Preconditions{UID: &other}); !apierrors.IsConflict(err) {
				t.Errorf("delete with another UID: %v", err)
			}
		},
		"a PodDisruptionBudget lets as many pods go as it allows": func(t *testing.T, s *store.Server, c *store.Connection, p *corev1.Pod) {
			p.Labels = map[string]string{"app": "web"}
			ok(t, c.Update(ctx, p))
			p.Status.Phase = corev1.PodRunning
			ok(t, c.Status().Update(ctx, p))
			budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "web"}}
			budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: p.Labels}
			ok(t, c.Create(ctx, budget))
			if err := c.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{}); !apierrors.IsTooManyRequests(err) {
				t.Errorf("eviction against a budget: %v", err)
			}
			budget.Status.DisruptionsAllowed = 1
			ok(t, c.Status().Update(ctx, budget))
			ok(t, c.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{}))
			ok(t, c.Get(ctx, client.ObjectKeyFromObject(budget), budget))
			if budget.Status.DisruptionsAllowed != 0 {
				t.Errorf("the budget allows %d more after the eviction, want none", budget.Status.DisruptionsAllowed)
			}
		},
		"a budget refuses evictions": func(t *testing.T, s *store.Server, c *store.Connection, p *corev1.Pod) {
			s.BlockEvictions(func(*corev1.Pod) bool { return true })
			if err := c.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{}); !apierrors.IsTooManyRequests(err) {
				t.Errorf("eviction against a budget: %v", err)
			}
			s.BlockEvictions(nil)
			ok(t, c.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{}))
		},
		"a bound pod ends when its kubelet says so": func(t *testing.T, _ *store.Server, c *store.Connection, p *corev1.Pod) {
			before := p.DeepCopy()
			p.Spec.NodeName = "n"
			ok(t, c.Patch(ctx, p, client.MergeFrom(before)))
			ok(t, c.Delete(ctx, p))
			ok(t, c.Get(ctx, client.ObjectKeyFromObject(p), p))
			if left := time.Until(p.DeletionTimestamp.Time); left < 29*time.Second {
				t.Errorf("%v of 30 s grace", left)
			}
			ok(t, c.Delete(ctx, p, client.GracePeriodSeconds(0)))
			if err := c.Get(ctx, client.ObjectKeyFromObject(p), p); !apierrors.IsNotFound(err) {
				t.Errorf("read after the end: %v", err)
			}
		},
	}
	for name, report := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := newServer(t)
				p := pod("p")
				ok(t, c.Create(ctx, p))
				report(t, s, c, p)
			})
		})
	}
}

// A watch may report an object twice: the second time as of a change that changed nothing, as
// informers have it, and of a deletion never.
func TestACacheReportsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		s, c := newServer(t)
		cache := s.NewCache(nil, nil)
		cache.Again = func(o client.Object) bool { return o.GetName() == "p" }
		informer, err := cache.GetInformer(ctx, &corev1.Pod{})
		if err != nil {
			t.Fatal(err)
		}
		var reported []string
		report := func(words string, o any) { reported = append(reported, words+" "+o.(client.Object).GetName()) }
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(o any) { report("new", o) }, DeleteFunc: func(o any) { report("gone", o) },
			UpdateFunc: func(before, o any) {
				if same := before.(client.Object).GetResourceVersion() == o.(client.Object).GetResourceVersion(); same {
					report("the same", o)
					return
				}
				report("changed", o)
			},
		}); err != nil {
			t.Fatal(err)
		}
		if err := cache.Follow(ctx); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"p", "q"} {
			p := pod(name)
			if err := c.Create(ctx, p); err != nil {
				t.Fatal(err)
			}
			p.Labels = map[string]string{"app": "web"}
			if err := c.Update(ctx, p); err != nil {
				t.Fatal(err)
			}
			if err := c.Delete(ctx, p); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		cancel()
		cache.Wait()
		want := "new p, the same p, changed p, the same p, gone p, new q, changed q, gone q"
		if got := strings.Join(reported, ", "); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// A cache shows a change as much later as its watches lag, and what a broken
// watch lost it learns by listing again.
func TestACacheLagsAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		s, c := newServer(t)
		cache := s.NewCache(func(client.Object) time.Duration { return time.Second }, nil)
		if err := cache.Follow(ctx, &corev1.Pod{}); err != nil {
			t.Fatal(err)
		}
		seen := func() string {
			var list corev1.PodList
			if err := cache.Client(c).List(ctx, &list); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range list.Items {
				names = append(names, p.Name)
			}
			return strings.Join(names, " ")
		}
		at := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := seen(); got != want {
				t.Errorf("the cache has %q, want %q", got, want)
			}
		}
		for _, name := range []string{"a", "b"} {
			if err := c.Create(ctx, pod(name)); err != nil {
				t.Fatal(err)
			}
		}
		at(900*time.Millisecond, "")
		at(200*time.Millisecond, "a b")
		if err := c.Delete(ctx, pod("a")); err != nil {
			t.Fatal(err)
		}
		s.CutWatches()
		at(500*time.Millisecond, "a b")
		at(3*time.Second, "b")
		cancel()
		cache.Wait()
	})
}

// A lost reply is a write that took effect and an error all the same.
func TestFaultsStrikeBeforeOrAfterTheEffect(t *testing.T) {
	s, plain := newServer(t)
	lost, refused := errors.New("lost"), errors.New("refused")
	c := s.Connect(func(call store.Call) (error, error) {
		switch call.Name {
		case "lost":
			return nil, lost
		case "refused":
			return refused, nil
		}
		return nil, nil
	})
	ctx := context.Background()
	if err := c.Create(ctx, pod("lost")); !errors.Is(err, lost) {
		t.Errorf("create with a lost reply: %v", err)
	}
	if err := c.Create(ctx, pod("refused")); !errors.Is(err, refused) {
		t.Errorf("create refused: %v", err)
	}
	var list corev1.PodList
	if err := plain.List(ctx, &list); err != nil || len(list.Items) != 1 || list.Items[0].Name != "lost" {
		t.Errorf("the server has %v, %v; want the pod whose reply was lost", list.Items, err)
	}
}

// A driver checks again after the time a step asks for, and after an error.
func TestADriverLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		s, c := newServer(t)
		began, looks := time.Now(), []time.Duration{}
		d := &store.Driver{Step: func(context.Context, string) (time.Duration, error) {
			looks = append(looks, time.Since(began))
			if len(looks) == 1 {
				return 0, errors.New("not now")
			}
			return time.Minute, nil
		}}
		cache := s.NewCache(nil, nil)
		if err := d.Watch(ctx, cache, store.Trigger{Kind: &corev1.Pod{}, Names: store.Itself}); err != nil {
			t.Fatal(err)
		}
		if err := cache.Follow(ctx); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { d.Run(ctx); close(done) }()
		if err := c.Create(ctx, pod("p")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		cancel()
		<-done
		cache.Wait()
		want := []time.Duration{0, 100 * time.Millisecond, time.Minute + 100*time.Millisecond}
		if len(looks) != len(want) {
			t.Fatalf("looked at %v, want %v", looks, want)
		}
		for i := range want {
			if looks[i] != want[i] {
				t.Errorf("looked at %v, want %v", looks, want)
			}
		}
	})
}
