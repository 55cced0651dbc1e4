package machine

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/lab/kubelet"
)

const (
	leaseEvery   = 10 * time.Second
	leaseSeconds = 40
	afterGap     = 3 // renewals with which the status is reported too, once the lease had run out
	statusEvery  = 5 * time.Minute
	retryMin     = 200 * time.Millisecond
	retryMax     = 7 * time.Second
)

// agent is the node's side of one kubelet: registration, lease and status.
type agent struct {
	blueprint
	client   Client
	options  Options
	reported orders
	console  *console
	log      *slog.Logger
	changed  chan struct{}         // holds one when there is something new to report
	lease    *coordinationv1.Lease // as last written; only the agent's own goroutine touches it and the two below
	renewed  time.Time             // when the lease was renewed last, by the clock on the wall, which goes on while the host sleeps
	overdue  int                   // renewals with which the status is still to be reported

	mu      sync.Mutex // guards all below
	ready   bool
	since   time.Time // of the present readiness
	silent  bool
	plugged bool // the device plugin has registered
	extra   map[corev1.NodeConditionType]corev1.NodeCondition
	gone    []corev1.NodeConditionType // to be taken off the node's status
	volumes []corev1.UniqueVolumeName
}

func newAgent(b blueprint, c Client, o Options, reported orders, console *console, log *slog.Logger) *agent {
	return &agent{
		blueprint: b, client: c, options: o, reported: reported, console: console, log: log,
		changed: make(chan struct{}, 1), since: time.Now(),
		extra: map[corev1.NodeConditionType]corev1.NodeCondition{},
	}
}

// run is the life of a kubelet. A node whose object is deleted goes on without one: a
// kubelet registers at its start alone.
func (a *agent) run(ctx context.Context) {
	node, ok := a.register(ctx)
	if !ok {
		return
	}
	a.console.printf("kubelet: successfully registered node %s", node.Name)
	a.log.Debug("node registered")
	a.reportStart()
	// While the node has its first taint: a scheduler that sees it without, and not yet what it takes, knows no limit.
	if !a.reported.neverReady && !a.retry(ctx, "register volume driver", func() error { return a.registerDriver(ctx, node) }) {
		return
	}
	if !a.retry(ctx, "initialise node", func() error { return initialize(ctx, a.options.Admin, a.instance) }) {
		return
	}
	if a.reported.neverReady {
		a.console.printf("kubelet: cni plugin not initialized: the lab keeps this node NotReady")
	} else if !a.becomeReady(ctx, node) {
		return
	}
	defer a.options.Pods.PowerOff(node.Name)
	a.follow(ctx)
}

// becomeReady brings up what a node needs before its pods start.
func (a *agent) becomeReady(ctx context.Context, node *corev1.Node) bool {
	if pause.For(ctx, a.options.ReadyAfter) != nil {
		return false
	}
	a.mu.Lock()
	a.ready, a.since = true, time.Now()
	a.mu.Unlock()
	if !a.retry(ctx, "report node ready", func() error { return a.patchStatus(ctx) }) {
		return false
	}
	a.console.printf("kubelet: node is ready")
	a.reportNode("NodeReady", statusIsNow(node.Name, "NodeReady"))
	a.join()
	return true
}

func (a *agent) join() {
	_, allocatable := a.resources()
	a.options.Pods.Join(kubelet.Node{
		Name: a.instance.PrivateDNS, IP: a.instance.PrivateIP, Client: a.client.CoreV1(),
		Allocatable: allocatable, Mounted: a.mounted,
	})
}

// follow keeps lease and status until the power goes.
func (a *agent) follow(ctx context.Context) {
	lease, status := time.NewTicker(leaseEvery), time.NewTicker(statusEvery)
	defer lease.Stop()
	defer status.Stop()
	silentAt := after(a.reported.silentAfter)
	devicesAt := after(a.devicesAfter())
	driversAt := after(a.driversAfter())
	conditionAt := after(a.reported.conditionAfter)
	if a.reported.condition == nil {
		conditionAt = nil
	}
	a.beat(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-lease.C:
			a.beat(ctx)
		case <-status.C:
			a.reportOne(ctx)
		case <-a.changed:
			a.reportOne(ctx)
		case <-silentAt:
			a.silence(true)
		case <-devicesAt:
			a.offeringDevices()
		case <-driversAt:
			driversAt = after(a.publishDevices(ctx))
		case <-conditionAt:
			a.report(*a.reported.condition)
		}
	}
}

// after is a channel that fires once, never when d is negative.
func after(d time.Duration) <-chan time.Time {
	if d < 0 {
		return nil
	}
	return time.After(d)
}

func (a *agent) silence(silent bool) {
	a.mu.Lock()
	was := a.silent
	a.silent = silent
	ready := a.ready
	a.mu.Unlock()
	switch {
	case silent && !was:
		a.console.printf("kubelet: silent from now on")
		a.options.Pods.Leave(a.instance.PrivateDNS)
	case !silent && was && ready:
		a.join()
		a.wake()
	}
}

func (a *agent) report(c corev1.NodeCondition) {
	c.LastTransitionTime = metav1.Now()
	a.mu.Lock()
	a.extra[c.Type] = c
	a.mu.Unlock()
	if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
		a.reportNode("NodeNotReady", statusIsNow(a.instance.PrivateDNS, "NodeNotReady"))
	}
	a.wake()
}

func (a *agent) unreport(kind corev1.NodeConditionType) {
	a.mu.Lock()
	delete(a.extra, kind)
	if !slices.Contains(a.gone, kind) {
		a.gone = append(a.gone, kind)
	}
	a.mu.Unlock()
	a.wake()
}

func (a *agent) mounted(volumes []corev1.UniqueVolumeName) {
	a.mu.Lock()
	a.volumes = volumes
	a.mu.Unlock()
	a.wake()
}

func (a *agent) wake() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

func (a *agent) isSilent() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.silent
}

// retry repeats a call until it succeeds, less and less often, and reports whether it did
// before ctx ended.
func (a *agent) retry(ctx context.Context, what string, call func() error) bool {
	for wait := retryMin; ; wait = min(2*wait, retryMax) {
		err := call()
		if err == nil {
			return ctx.Err() == nil
		}
		if ctx.Err() != nil {
			return false
		}
		a.console.printf("kubelet: %s: %v", what, err)
		a.log.Warn("kubelet tries again", "doing", what, "error", err)
		if pause.For(ctx, wait) != nil {
			return false
		}
	}
}
