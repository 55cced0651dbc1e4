package whole_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	product "github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/core/decide"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/kube/snapshot/strip"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/provisioner"
	"github.com/daemok/daemok/observe"
	follower "github.com/daemok/daemok/observe/follow"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/observe/trace"
	"github.com/daemok/daemok/test/scraped"
	"github.com/daemok/daemok/test/store"
)

// controller is one run of the product: its program, less AWS, the lease and
// the sockets.
type controller struct {
	ordeal   *ordeal
	carrier  *carrier // of its calls to AWS; nil: none
	done     sync.WaitGroup
	measured *prometheus.Registry
}

// setup is how a controller is started.
type setup struct {
	dieAt   int
	after   bool
	chance  float64
	seed    uint64
	lag     func(client.Object) time.Duration
	again   func(client.Object) bool
	hang    func(cloud.LaunchRequest) bool
	through func(cloud.Instances) cloud.Instances // what the controller launches through; nil: the cloud itself
	lease   *fence.Fence                          // that calls to the cloud pass; nil: none
	aimed   *aim                                  // the trouble of one call to AWS; nil: none
	fault   store.Fault                           // asked before the ordeal; nil: none
	heard   func(call string)                     // told of every call to the API server and to AWS; nil: none is
	usual   bool                                  // pages of AWS are as large as in life, not of five
	build   build                                 // of the controller; one without a name compares no launch templates

	clock *apiclock.Clock // compared with the API server's, whose is that of the bubble; nil: they are one

	pod string // in kube-system that the controller runs in; empty: none

	spreads    []corev1.TopologySpreadConstraint // that the scheduler has by default
	watched    func(kind client.Object)          // told of every kind that is watched; nil for none
	leads      <-chan struct{}                   // closed when it begins to make plans; nil: at once
	policy     decide.Policy                     // of plans
	others     mark.ClusterAutoscaler            // whether what was written for Cluster Autoscaler counts
	noOverlays bool                              // NodeOverlays have no effect
	devices    bool                              // pods with ResourceClaims are planned for
	noQuotas   bool                              // CapacityQuotas have no effect
	instance   string                            // the processorInstance of ProvisioningRequests that are served

	noCommitments bool          // commitments have no effect
	account       bool          // commitments are read from the account at AWS
	thinks        bool          // plans take their time, and are of few pods each
	traces        *trace.Tracer // nil: none wants traces
}

// informers tell which kinds are asked for.
type informers struct {
	*store.Cache
	watched func(kind client.Object)
}

func (i informers) GetInformer(ctx context.Context, o client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	if i.watched != nil {
		i.watched(o)
	}
	return i.Cache.GetInformer(ctx, o, options...)
}

// start runs a controller that remembers nothing of earlier ones.
func (w *world) start(s setup) *controller {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &controller{ordeal: &ordeal{kill: cancel, dieAt: s.dieAt, after: s.after, chance: s.chance, seed: s.seed, heard: s.heard}, measured: prometheus.NewRegistry()}
	fault := c.ordeal.api
	if s.fault != nil {
		fault = func(call store.Call) (error, error) {
			if before, after := s.fault(call); before != nil || after != nil {
				return before, after
			}
			return c.ordeal.api(call)
		}
	}
	now, clock := time.Now, product.Clock(nil)
	if s.clock != nil {
		now, clock, fault = s.clock.Now, s.clock, heardBy(s.clock, fault)
	}
	live, shown := w.server.Connect(fault), w.server.NewCache(s.lag, strip.Sharing())
	live.User = theController
	shown.Again = s.again
	var launched cloud.Instances = instances{Instances: w.cloud, ordeal: c.ordeal, hang: s.hang}
	var heard cloud.InterruptionMessages = interruptionMessages{w.cloud, c.ordeal}
	var catalog cloud.Catalog = w.cloud
	var short cloud.Shortages = w.cloud
	var checks cloud.Checks
	var sizes product.Sizes
	var adopter cloud.Adopter
	var known product.Classes = w.classes
	events, metrics := &observe.Events{Recorder: w.events, Now: time.Now}, observe.NewMetrics(c.measured, "", "", "", "")
	var committed cloud.Commitments
	var ofClasses []product.Loop
	var ofAWS []product.Round
	if w.aws != nil {
		c.carrier = &carrier{account: w.aws, story: w.story, usual: s.usual}
		p := w.provider(c.carrier, func(o *aws.Options) { o.Commitments = s.account })
		c.carrier.ordeal, c.carrier.aimed = c.ordeal, s.aimed
		launched, heard, catalog, short, checks, sizes, adopter, known = p, p.InterruptionMessages("test"), p, p, p, p, p, s.build.classes(shown.Client(live), p, w.kinds)
		ofClasses, ofAWS = w.nodeClasses(p, s.build, known.(product.NodeClasses), live, events, metrics)
		if s.account {
			if committed = p; p.RefreshCommitments(ctx) != nil {
				w.t.Fatal("the account's commitments cannot be read")
			}
			ofAWS = append(ofAWS, product.Round{What: "refresh commitments", Do: refreshed(p)})
		}
	}
	if s.through != nil {
		launched = s.through(launched)
	}
	if s.lease != nil {
		launched, heard = fence.Instances{Inner: launched, Fence: s.lease}, fence.InterruptionMessages{Inner: heard, Fence: s.lease}
	}
	effort := planner.Effort{}
	if s.thinks {
		effort = (&thinker{kept: w.kept, planned: map[string]bool{}}).effort()
	}
	parts := product.Parts{
		Store: shown.Client(live), Live: live, Watches: informers{shown, s.watched}, Classes: known,
		Cloud: product.Cloud{
			Catalog: catalog, Instances: func(string) cloud.Instances { return launched }, InterruptionMessages: heard, Short: short, Checks: checks, Sizes: sizes, Adopter: adopter,
			CallFor: 20 * time.Second, Commitments: committed,
		},
		Pools: []nodepool.Generation{product.NodePools(), product.Provisioners(provisioner.Generation())}, ClassKinds: []client.Object{&awsv1.EC2NodeClass{}},
		Metrics: metrics, Events: events, Log: w.log, Now: now, Clock: clock,
		Planning: product.Planning{
			Policy: s.policy, Effort: effort, Window: planner.Window{Idle: time.Second, Max: 10 * time.Second}, Spreads: s.spreads, NewID: w.newID,
			Filled: s.begins, Began: func() {}, NoOverlays: s.noOverlays, NoQuotas: s.noQuotas, Devices: s.devices,
			NoCommitments: s.noCommitments, Instance: s.instance,
		},
		Self: product.Self{Cluster: "test", Namespace: "kube-system", Pod: s.pod}, Steering: true, Record: &record.Record{}, Traces: s.traces,
		PoolDefaults: translate.PoolDefaults{ClusterAutoscaler: s.others},
	}
	program, err := product.New(ctx, parts)
	for range 200 {
		if err != nil && s.chance > 0 { // as the kubelet starts it again
			program, err = product.New(ctx, parts)
		}
	}
	if err == nil && s.traces != nil {
		err = (&follower.Follower{Metrics: metrics, Leading: func() bool { return true }, Traces: s.traces, Now: now}).Follow(ctx, shown)
	}
	if err == nil {
		program.Loops, program.Rounds = append(program.Loops, ofClasses...), append(program.Rounds, ofAWS...)
		err = w.drive(ctx, program, shown, &c.done)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.running = append(w.running, c)
	return c
}

// refreshed reads the account's commitments every hour, as the program does.
func refreshed(p *aws.Provider) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		return aws.CommitmentsEvery, p.RefreshCommitments(ctx)
	}
}

// heardBy has the clock hear the date of every reply.
func heardBy(clock *apiclock.Clock, fault store.Fault) store.Fault {
	return func(call store.Call) (before, after error) {
		clock.Heard(time.Now().Truncate(time.Second), 0)
		return fault(call)
	}
}

// begins waits until the controller is to make plans; caches are filled before anything runs.
func (s setup) begins(ctx context.Context) bool {
	if s.leads != nil {
		select {
		case <-ctx.Done():
		case <-s.leads:
		}
	}
	return ctx.Err() == nil
}

// reports is what a scrape says of a metric.
func (c *controller) reports(metric string) []string {
	lines, err := scraped.Lines(c.measured, metric)
	if err != nil {
		return []string{err.Error()}
	}
	return lines
}

// stop kills the controller and waits until nothing of it is left.
func (c *controller) stop() {
	c.ordeal.stop()
	c.done.Wait()
}

// drive runs a program as a manager does.
func (w *world) drive(ctx context.Context, p *product.Program, shown *store.Cache, done *sync.WaitGroup) error {
	var drivers []*store.Driver
	for _, l := range p.Loops {
		d := &store.Driver{Step: l.Step, Failed: func(name string, err error) {
			w.log.Debug("look failed", "loop", l.Name, "name", name, "error", err)
		}}
		if err := d.Watch(ctx, shown, triggers(ctx, l)...); err != nil {
			return err
		}
		drivers = append(drivers, d)
	}
	if err := shown.Follow(ctx, &storagev1.VolumeAttachment{}, &appsv1.DaemonSet{}); err != nil {
		return err
	}
	done.Go(shown.Wait)
	for _, d := range drivers {
		done.Go(func() { d.Run(ctx) })
	}
	for _, r := range p.Rounds {
		done.Go(func() { _ = r.Run(ctx, w.log) })
	}
	for _, run := range p.Tasks {
		done.Go(func() { _ = run(ctx) })
	}
	return nil
}

func triggers(ctx context.Context, l product.Loop) []store.Trigger {
	out := []store.Trigger{{Kind: l.Kind, Names: store.Itself}}
	for _, t := range l.Others {
		out = append(out, store.Trigger{Kind: t.Kind, Names: func(o client.Object) []string { return t.Names(ctx, o) }})
	}
	return out
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

// count is how many lines have the words.
func (s *story) count(words string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		if strings.Contains(line, words) {
			n++
		}
	}
	return n
}

// reports reports whether a line has the words.
func (s *story) reports(words string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.lines, func(line string) bool { return strings.Contains(line, words) })
}
