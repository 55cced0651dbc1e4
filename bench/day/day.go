// Package day runs a short workload of services in a lab and in the simulator, and compares the
// results.
//
// It promises that both get the same input: pods, NodePool, instance types with their prices, and how
// long pods take to start and to stop. It bills both from an instance's launch until it shuts down. It
// leaves nothing of the lab behind, and sets no limits for what it measures.
package day

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/daemok/daemok/bench/measured"
	"github.com/daemok/daemok/cloud/aws/bill"
	"github.com/daemok/daemok/simulate"
)

// Options say what to run.
type Options struct {
	Lab, Controller  string // paths of the programs daemok-lab and daemok-controller
	Compression      Compression
	Folder           string // where the files of the workload are written and stay
	ConsolidateAfter time.Duration
	Steering         bool // nodes are emptied by a taint and deletion costs; the simulator always does so
	TimeScale        float64
	Simulate         func(prefix, catalogue, manifests string) (simulate.Outcome, error)
	Progress         io.Writer
}

// Result is what both come to.
type Result struct {
	Minutes   float64 `json:"minutes"`
	Pods      int     `json:"pods"` // that the workload creates, were none evicted
	Lab       Side    `json:"lab"`
	Simulated Side    `json:"simulated"`
	Ratio     float64 `json:"ratio"` // of the lab's bill to the simulated one
	// LandedAsPlanned is the share of the pods for which an instance was launched that ran on it first, in the lab.
	LandedAsPlanned float64 `json:"landedAsPlanned"`
	BootP50Seconds  float64 `json:"bootP50Seconds"` // of nodes in the lab, from their NodeClaims until they are initialized
	BootP95Seconds  float64 `json:"bootP95Seconds"`
	Folder          string  `json:"folder"`
}

// Side is what one of them comes to.
type Side struct {
	Dollars           float64 `json:"dollars"`
	NodesMean         float64 `json:"nodesMean"`
	Launched          int     `json:"launched"`
	Evictions         int     `json:"evictions"`
	PendingP50Seconds float64 `json:"pendingP50Seconds"`
	PendingP95Seconds float64 `json:"pendingP95Seconds"`
	PendingP99Seconds float64 `json:"pendingP99Seconds"`
}

// Measure runs both.
func Measure(ctx context.Context, o Options) (r Result, err error) {
	prefix := filepath.Join(o.Folder, "day")
	if err := o.Compression.Compress(prefix); err != nil {
		return r, err
	}
	w, err := simulate.Read(simulate.Source{Services: prefix, To: int64(o.Compression.For / time.Second)})
	if err != nil {
		return r, err
	}
	r.Minutes, r.Pods, r.Folder = w.For.Minutes(), w.Pods, o.Folder
	flags := []string{fmt.Sprintf("--time-scale=%g", o.TimeScale), fmt.Sprintf("--seed=%d", o.Compression.Seed)}
	err = measured.InLab(ctx, o.Lab, o.Progress, flags, func(l *measured.Lab) error { return r.inLab(ctx, l, o, &w) })
	if err != nil {
		return r, err
	}
	outcome, err := o.Simulate(prefix, filepath.Join(o.Folder, "types.json"), filepath.Join(o.Folder, "pool.yaml"))
	if err != nil {
		return r, fmt.Errorf("simulate %s: %w", prefix, err)
	}
	r.Simulated = Side{Dollars: outcome.CostDollars, NodesMean: outcome.NodesMean, Launched: outcome.Launched, Evictions: outcome.Evictions,
		PendingP50Seconds: outcome.PendingP50Seconds, PendingP95Seconds: outcome.PendingP95Seconds, PendingP99Seconds: outcome.PendingP99Seconds}
	r.Ratio = r.Lab.Dollars / r.Simulated.Dollars
	return r, nil
}

// inLab runs the workload through the product.
func (r *Result) inLab(ctx context.Context, l *measured.Lab, o Options, w *simulate.Workload) error {
	kube, err := l.Client()
	if err != nil {
		return err
	}
	u, owner := user{kube}, l.Account()
	if err := u.begin(ctx, l, owner, o, w); err != nil {
		return err
	}
	c, err := measured.StartController(o.Controller, l, "controller")
	if err != nil {
		return err
	}
	defer c.Kill()
	if err := c.AwaitReady(ctx); err != nil {
		return err
	}
	seen, began := newRecord(), time.Now()
	watching, end := context.WithDeadline(ctx, began.Add(w.For))
	done := make(chan struct{})
	go func() { defer close(done); seen.follow(watching, u, owner) }()
	err = u.play(watching, w, began)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = nil // the workload is over
	}
	<-watching.Done()
	end()
	<-done
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	seen.sum(r, began, w.For)
	return errors.Join(seen.problems...)
}

// begin makes what there is before the first pod, and writes it for the simulator.
func (u user) begin(ctx context.Context, l *measured.Lab, account bill.Account, o Options, w *simulate.Workload) error {
	if !o.Steering {
		l.Variables["STEERING"] = "false"
	}
	offers, err := catalogue(ctx, account)
	if err != nil {
		return err
	}
	class, pool, err := objects(l.Variables["CLUSTER_NAME"], o.ConsolidateAfter)
	if err != nil {
		return err
	}
	if err := errors.Join(save(filepath.Join(o.Folder, "types.json"), offers), save(filepath.Join(o.Folder, "pool.yaml"), class, pool)); err != nil {
		return err
	}
	if err := errors.Join(u.make(ctx, class), u.make(ctx, pool)); err != nil {
		return err
	}
	for i := range w.Services {
		if err := u.serve(ctx, &w.Services[i]); err != nil {
			return err
		}
	}
	return nil
}

// turn is what a user does at a moment.
type turn struct {
	at time.Duration
	do func(context.Context) error
}

// play does what the workload says, each at its time.
func (u user) play(ctx context.Context, w *simulate.Workload, began time.Time) error {
	var turns []turn
	for i := range w.Services {
		for _, x := range w.Services[i].Replicas {
			turns = append(turns, turn{x.At, func(ctx context.Context) error { return u.scale(ctx, w.Services[i].Name, x.Count) }})
		}
	}
	for i := range w.Jobs {
		turns = append(turns, turn{w.Jobs[i].From, func(ctx context.Context) error { return u.run(ctx, &w.Jobs[i]) }})
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	for _, t := range turns {
		select {
		case <-time.After(time.Until(began.Add(t.at))):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := t.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sum adds what was seen of the lab.
func (r *record) sum(out *Result, began time.Time, length time.Duration) {
	end, side := began.Add(length), &out.Lab
	for _, l := range r.lives {
		hours := max(0, min(l.seen.Sub(began), length).Hours()-max(0, l.from.Sub(began)).Hours())
		side.Dollars += hours * l.price
		side.NodesMean += hours / length.Hours()
	}
	side.Launched, side.Evictions = len(r.lives), len(r.evicted)
	var waits, boots []float64
	planned, landed := 0, 0
	for uid, t := range r.pods {
		bound := t.bound
		if bound.IsZero() {
			bound = end
		}
		waits = append(waits, bound.Sub(t.from).Seconds())
		if claim := r.meant[string(uid)]; claim != "" && t.node != "" {
			if planned++; r.nodes[claim] == t.node {
				landed++
			}
		}
	}
	for _, b := range r.boots {
		boots = append(boots, b)
	}
	slices.Sort(waits)
	slices.Sort(boots)
	side.PendingP50Seconds, side.PendingP95Seconds, side.PendingP99Seconds = percentile(waits, 50), percentile(waits, 95), percentile(waits, 99)
	out.BootP50Seconds, out.BootP95Seconds = percentile(boots, 50), percentile(boots, 95)
	if planned > 0 {
		out.LandedAsPlanned = float64(landed) / float64(planned)
	}
}

// percentile is one of sorted figures; 0 where there are none.
func percentile(sorted []float64, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*percent/100]
}

// WriteTable writes both sides for people.
func (r *Result) WriteTable(out io.Writer) error {
	_, err := fmt.Fprintf(out, "%-11s %9s %7s %9s %10s %22s\n", "", "dollars", "nodes", "launched", "evictions", "pending p50, p95, p99")
	for _, row := range []struct {
		name string
		side Side
	}{{"lab", r.Lab}, {"simulated", r.Simulated}} {
		s := row.side
		_, one := fmt.Fprintf(out, "%-11s %9.4f %7.1f %9d %10d %10.1f, %.1f, %.1f s\n", row.name, s.Dollars, s.NodesMean, s.Launched, s.Evictions, s.PendingP50Seconds, s.PendingP95Seconds, s.PendingP99Seconds)
		err = errors.Join(err, one)
	}
	_, last := fmt.Fprintf(out, "The lab's bill is %+.1f %% of the simulated one. %.0f %% of the pods for which an instance was launched ran on it. Nodes took %.0f s to boot, 95 %% at most %.0f s.\n",
		100*(r.Ratio-1), 100*r.LandedAsPlanned, r.BootP50Seconds, r.BootP95Seconds)
	return errors.Join(err, last)
}
