// Package footprint measures the controller's own process: memory, CPU time when idle, time to the
// first plan; and how long commands take that show its cluster.
//
// It promises that the measured process is the program that ships, started as in a cluster, and that
// nothing it connects to runs in that process: this one serves an API server in memory and an emulated
// AWS account. The measured process finds a cluster that the same program has built before. It
// launched nodes for up to a hundred pending pods; the other nodes are copies of these, and each node
// is full. It measures neither the network nor the memory and CPU of an API server.
package footprint

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Options say what to measure.
type Options struct {
	Controller  string        // the program
	Nodes, Pods int           // of the cluster; pods are a multiple of nodes, those of DaemonSets among them
	Shadow      bool          // measure shadow mode, beside no other controller
	Changes     float64       // pods per second that end, and come again on the same node, from the first plan on
	Stabilize   time.Duration // from the first plan until the measurement begins
	Over        time.Duration // how long processor time is measured
	CLI         string        // the program daemok, for Commands
	Commands    []string      // arguments of daemok with spaces between, such as "view --once"; each is run once
	Say         func(format string, args ...any)
}

// Result is what was measured.
type Result struct {
	Nodes            int     `json:"nodes"`
	Pods             int     `json:"pods"`
	RSSMiB           float64 `json:"rssMiB"`           // at the end of the measurement
	RSSAnonMiB       float64 `json:"rssAnonMiB"`       // of that, what the program has allocated
	RSSFileMiB       float64 `json:"rssFileMiB"`       // of that, pages of the program's own file, which the kernel may drop
	RSSPeakMiB       float64 `json:"rssPeakMiB"`       // the most since the start
	IdleCPUPercent   float64 `json:"idleCPUPercent"`   // with Options.Changes
	FirstPlanSeconds float64 `json:"firstPlanSeconds"` // from the start of the process
	FirstPlanCPU     float64 `json:"firstPlanCPUSeconds"`

	Commands []Command `json:"commands,omitempty"`
}

// daemonsPerNode is how many pods of each node are of DaemonSets.
const daemonsPerNode = 3

func (o Options) check() error {
	switch {
	case o.Nodes < 0 || o.Pods < 0:
		return fmt.Errorf("%d nodes with %d pods: want 0 or more", o.Nodes, o.Pods)
	case o.Nodes == 0 && o.Pods > 0:
		return fmt.Errorf("%d pods and no node: want nodes for them", o.Pods)
	case o.Nodes > 0 && (o.Pods%o.Nodes != 0 || o.Pods/o.Nodes <= daemonsPerNode):
		return fmt.Errorf("%d pods on %d nodes: want a multiple of the nodes, so that each is full, and more than the %d pods of DaemonSets on each", o.Pods, o.Nodes, daemonsPerNode)
	case o.Changes < 0 || o.Changes > 0 && o.Nodes == 0:
		return fmt.Errorf("%g pods per second on %d nodes: want 0 or more, and nodes for them", o.Changes, o.Nodes)
	case o.Stabilize < 0 || o.Over < time.Second:
		return fmt.Errorf("measure over %v after %v: want a second or more, after 0 or more", o.Over, o.Stabilize)
	}
	return nil
}

// Measure builds the cluster, starts the controller again and measures it. It takes Settle and Over, and
// before that a minute or two.
func Measure(ctx context.Context, o Options) (r Result, err error) {
	if err := o.check(); err != nil {
		return Result{}, err
	}
	w, err := open(o)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := w.build(ctx); err != nil {
		return Result{}, fmt.Errorf("build the cluster: %w", err)
	}
	w.serving.Go(func() { w.beat(ctx) })
	c, err := w.start(ctx, w.mode())
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	first, err := c.firstPlan(ctx)
	if err != nil {
		return Result{}, err
	}
	toPlan, err := c.cpu()
	if err != nil {
		return Result{}, err
	}
	o.Say("first plan after %.2f s; metrics at %s", first.Seconds(), c.metrics)
	w.serving.Go(func() { c.scrape(ctx) })
	w.serving.Go(func() { w.churn(ctx) })
	if err := c.wait(ctx, o.Stabilize); err != nil {
		return Result{}, err
	}
	before, err := c.cpu()
	if err != nil {
		return Result{}, err
	}
	if err := c.wait(ctx, o.Over); err != nil {
		return Result{}, err
	}
	after, err := c.cpu()
	if err != nil {
		return Result{}, err
	}
	r = Result{Nodes: o.Nodes, Pods: o.Pods, FirstPlanSeconds: rounded(first.Seconds(), 100),
		FirstPlanCPU:   toPlan.Seconds(),
		IdleCPUPercent: rounded(100*(after-before).Seconds()/o.Over.Seconds(), 100)}
	if err := c.memory(&r); err != nil {
		return Result{}, err
	}
	for _, arguments := range o.Commands {
		ran, err := w.command(ctx, arguments)
		if err != nil {
			return Result{}, err
		}
		r.Commands = append(r.Commands, ran)
	}
	return r, nil
}

// rounded keeps so many parts of one.
func rounded(v, parts float64) float64 { return math.Round(v*parts) / parts }
