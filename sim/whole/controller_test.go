package whole_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/controller/claim"
	"github.com/daemok/daemok/controller/collect"
	"github.com/daemok/daemok/controller/drain"
	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/controller/pool"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/storetest"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// controller is one run of the product: what the program wires, less AWS, the
// lease and the sockets.
type controller struct {
	ordeal *ordeal
	done   sync.WaitGroup
}

// setup is how a controller is started.
type setup struct {
	dieAt  int
	after  bool
	chance float64
	seed   uint64
	lag    func() time.Duration
	hang   func(cloud.LaunchRequest) bool
	fence  func(cloud.Machines) cloud.Machines // nil: none
	fault  storetest.Fault                     // asked before the ordeal; nil: none
}

// start runs a controller that remembers nothing of earlier ones.
func (w *world) start(s setup) *controller {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &controller{ordeal: &ordeal{kill: cancel, dieAt: s.dieAt, after: s.after, chance: s.chance, seed: s.seed}}
	fault := c.ordeal.api
	if s.fault != nil {
		fault = func(call storetest.Call) (error, error) {
			if before, after := s.fault(call); before != nil || after != nil {
				return before, after
			}
			return c.ordeal.api(call)
		}
	}
	live, cache := w.server.Connect(fault), w.server.NewCache(s.lag, snapshot.Strip)
	var bought cloud.Machines = machines{Machines: w.cloud, ordeal: c.ordeal, hang: s.hang}
	if s.fence != nil {
		bought = s.fence(bought)
	}
	p := parts{
		world: w, store: cache.Client(live), live: live, cache: cache, machines: bought,
		metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", ""),
		events:  &observe.Events{Recorder: w.events, Now: time.Now},
	}
	if err := p.run(ctx, &c.done); err != nil {
		w.t.Fatal(err)
	}
	w.running = append(w.running, c)
	return c
}

// stop kills the controller and waits until nothing of it is left.
func (c *controller) stop() {
	c.ordeal.stop()
	c.done.Wait()
}

type parts struct {
	world    *world
	store    client.Client
	live     *storetest.Connection
	cache    *storetest.Cache
	machines cloud.Machines
	metrics  *observe.Metrics
	events   *observe.Events
}

func (p parts) run(ctx context.Context, done *sync.WaitGroup) error {
	w, classes := p.world, p.world.classes
	ledger, keeper := &apply.Ledger{}, snapshot.NewKeeper(classes.Kinds, time.Now)
	if err := keeper.Follow(ctx, p.cache, func(c *karpv1.NodeClaim, gone bool) { ledger.Seen(c, gone, time.Now()) }); err != nil {
		return err
	}
	applier := &apply.Applier{Store: p.store, Live: p.live, Ledger: ledger, Pools: keeper, Now: time.Now, NewID: w.newID, Again: keeper.Touch}
	plans := &planner.Planner{
		Source: keeper, Ledger: ledger, Applier: applier, Now: time.Now, Effort: decide.Usual,
		Listener: &planner.Teller{Log: w.log, Events: p.events, Metrics: p.metrics},
		Preparer: &claim.Preparer{
			Pools: keeper, Machines: p.machines, Log: w.log, Requests: &claim.Requests{Classes: classes, Catalog: w.cloud},
		},
		Window:   planner.Window{Idle: time.Second, Max: 10 * time.Second},
	}
	health := &pool.Health{}
	launcher := (&claim.Launcher{
		Store: p.store, Live: p.live, Machines: p.machines, Now: time.Now, CallFor: 20 * time.Second,
		Requests: &claim.Requests{Classes: classes, Catalog: w.cloud},
		Outcome:  &claim.Outcomes{Store: p.store, Classes: classes, Catalog: w.cloud, Events: p.events, Metrics: p.metrics, Now: time.Now},
	}).Open()
	claims := &claim.Reconciler{
		Store: p.store, Launcher: launcher, Machines: p.machines, Events: p.events, Metrics: p.metrics, Now: time.Now,
		Health: func(c *karpv1.NodeClaim, registered bool) { health.Note(c.Labels[api.LabelNodePool], registered) },
	}
	nodes := &drain.Reconciler{Store: p.store, Live: p.live, Machines: p.machines, Events: p.events, Metrics: p.metrics, Now: time.Now}
	pools := &pool.Reconciler{
		Generation: generation(), Store: p.store, ClassState: classes.State, Health: health,
		Offered: func(karpv1.NodeClassReference) map[string]bool { return nil },
		Events:  p.events, Metrics: p.metrics, Now: time.Now,
	}
	collector := &collect.Collector{Store: p.store, Live: p.live, Machines: p.machines, Log: w.log, Metrics: p.metrics, Now: time.Now}
	loops := []*storetest.Driver{
		{Step: claims.Reconcile, Failed: w.failed("claim")}, {Step: nodes.Reconcile, Failed: w.failed("node")},
		{Step: pools.Reconcile, Failed: w.failed("pool")},
	}
	if err := p.watch(ctx, loops[0], loops[1], loops[2]); err != nil {
		return err
	}
	if err := p.cache.Follow(ctx, &storagev1.VolumeAttachment{}, &appsv1.DaemonSet{}); err != nil {
		return err
	}
	done.Go(p.cache.Wait)
	for _, loop := range loops {
		done.Go(func() { loop.Run(ctx) })
	}
	done.Go(func() { _ = launcher.Run(ctx) })
	done.Go(func() {
		defer applier.Wait()
		for applier.Undo(ctx) != nil && ctx.Err() == nil {
			time.Sleep(2 * time.Second)
		}
		_ = plans.Run(ctx)
	})
	done.Go(func() {
		w.every(ctx, "find lost orders", func(ctx context.Context) (time.Duration, error) { return 20 * time.Second, applier.FindLost(ctx) })
	})
	done.Go(func() { w.every(ctx, "collect", collector.Round) })
	done.Go(func() {
		w.every(ctx, "note", func(ctx context.Context) (time.Duration, error) {
			return claims.NotePodEvents(ctx, keeper.LastPodEvent)
		})
	})
	return nil
}

// watch tells which change leads to which look, as the program does.
func (p parts) watch(ctx context.Context, claims, nodes, pools *storetest.Driver) error {
	claimOfNode := func(o client.Object) []string {
		var list karpv1.NodeClaimList
		_ = p.store.List(ctx, &list, client.MatchingFields{"status.providerID": o.(*corev1.Node).Spec.ProviderID})
		var names []string
		for _, c := range list.Items {
			names = append(names, c.Name)
		}
		return names
	}
	nodeOfPod := func(o client.Object) []string {
		node := &corev1.Node{}
		if name := o.(*corev1.Pod).Spec.NodeName; name != "" && p.store.Get(ctx, client.ObjectKey{Name: name}, node) == nil && node.DeletionTimestamp != nil {
			return []string{name}
		}
		return nil
	}
	poolOf := func(o client.Object) []string {
		if name := o.GetLabels()[api.LabelNodePool]; name != "" {
			return []string{name}
		}
		return nil
	}
	for _, w := range []struct {
		driver   *storetest.Driver
		triggers []storetest.Trigger
	}{
		{claims, []storetest.Trigger{{Kind: &karpv1.NodeClaim{}, Names: storetest.Itself}, {Kind: &corev1.Node{}, Names: claimOfNode}}},
		{nodes, []storetest.Trigger{{Kind: &corev1.Node{}, Names: storetest.Itself}, {Kind: &corev1.Pod{}, Names: nodeOfPod}}},
		{pools, []storetest.Trigger{{Kind: &karpv1.NodePool{}, Names: storetest.Itself}, {Kind: &karpv1.NodeClaim{}, Names: poolOf}, {Kind: &corev1.Node{}, Names: poolOf}}},
	} {
		if err := w.driver.Watch(ctx, p.cache, w.triggers...); err != nil {
			return err
		}
	}
	return nil
}

func generation() pool.Generation {
	return pool.Generation{
		Kind:     translate.KindNodePool,
		New:      func() pool.Object { return &karpv1.NodePool{} },
		View:     func(o pool.Object) translate.PoolObject { return translate.FromNodePool(o.(*karpv1.NodePool)) },
		Validate: func(o pool.Object) []validate.Finding { return validate.NodePool(o.(*karpv1.NodePool)) },
		Hash: func(o pool.Object) (string, string) {
			return fingerprint.NodePool(o.(*karpv1.NodePool)), fingerprint.Version
		},
		SetStatus: func(o pool.Object, resources corev1.ResourceList, nodes, classGeneration int64) {
			p := o.(*karpv1.NodePool)
			p.Status.Resources, p.Status.Nodes, p.Status.NodeClassObservedGeneration = resources, nodes, classGeneration
		},
	}
}

// every repeats a round until ctx ends.
func (w *world) every(ctx context.Context, what string, round func(context.Context) (time.Duration, error)) {
	for ctx.Err() == nil {
		after, err := round(ctx)
		if err != nil {
			w.log.Debug(what, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(after):
		}
	}
}

func (w *world) failed(loop string) func(string, error) {
	return func(name string, err error) { w.log.Debug("look failed", "loop", loop, "name", name, "error", err) }
}

// newID numbers claims, so that a run is easy to read.
func (w *world) newID() string { return fmt.Sprintf("%05d", w.ids.Add(1)) }

// story keeps what the product logged, for the report of a failure.
type story struct {
	mu    sync.Mutex
	began time.Time
	lines []string
}

func (s *story) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelDebug }
func (s *story) WithAttrs([]slog.Attr) slog.Handler           { return s }
func (s *story) WithGroup(string) slog.Handler                { return s }
func (s *story) Handle(_ context.Context, r slog.Record) error {
	text := fmt.Sprintf("%8s %s", time.Since(s.began).Round(time.Millisecond), r.Message)
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	s.add(text)
	return nil
}

func (s *story) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}
