// Package takeover kills the leader in a lab, and measures how soon the other replica makes a plan.
//
// It promises that each round begins with a leader, a standby that reports ready and a pod that fits
// on no node, and that it leaves nothing of the lab behind. It sets no limits for what it measures.
package takeover

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/daemok/daemok/bench/measured"
	"github.com/daemok/daemok/kube/fence"
)

// Options say what to measure with.
type Options struct {
	Lab, Controller string    // paths of the programs daemok-lab and daemok-controller
	Rounds          int       // how often a leader is killed
	Progress        io.Writer // a line for each round, and what the lab says
}

// Round is what came after the death of one leader, in seconds.
type Round struct {
	LeadsSeconds float64 `json:"leadsSeconds"` // until the other one held the lease
	PlansSeconds float64 `json:"plansSeconds"` // until its first NodeClaim was seen, for a pod that came right after the death
}

// Result is what was measured.
type Result struct {
	Rounds             []Round `json:"rounds"`
	LeadsSecondsMedian float64 `json:"leadsSecondsMedian"`
	PlansSecondsMedian float64 `json:"plansSecondsMedian"`
	PlansSecondsWorst  float64 `json:"plansSecondsWorst"`
}

// roundWithin is how long one death may take to be answered.
const roundWithin = 2 * time.Minute

// Measure kills one leader after another.
func Measure(ctx context.Context, o Options) (result Result, err error) {
	err = measured.InLab(ctx, o.Lab, o.Progress, []string{"--time-scale=0"}, func(l *measured.Lab) error {
		p, err := newPair(ctx, l, o.Controller)
		if err != nil {
			return err
		}
		defer p.stop()
		for n := range o.Rounds {
			round, err := p.round(ctx, n)
			if err != nil {
				return fmt.Errorf("round %d: %w", n+1, err)
			}
			fmt.Fprintf(o.Progress, "round %d: the other leads after %.1f s and plans after %.1f s\n", n+1, round.LeadsSeconds, round.PlansSeconds)
			result.Rounds = append(result.Rounds, round)
		}
		result.summarise()
		return nil
	})
	return result, err
}

func (r *Result) summarise() {
	var leads, plans []float64
	for _, one := range r.Rounds {
		leads, plans = append(leads, one.LeadsSeconds), append(plans, one.PlansSeconds)
	}
	slices.Sort(leads)
	slices.Sort(plans)
	r.LeadsSecondsMedian, r.PlansSecondsMedian = median(leads), median(plans)
	r.PlansSecondsWorst = plans[len(plans)-1]
}

// median of sorted values, of which there is one at least.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// pair is two controllers, of which one leads.
type pair struct {
	lab             *measured.Lab
	cluster         *watcher
	program         string
	leader, standby *measured.Controller
	started         int // controllers so far
}

func newPair(ctx context.Context, l *measured.Lab, program string) (*pair, error) {
	w, err := newWatcher(ctx, l.Variables)
	if err != nil {
		return nil, err
	}
	p := &pair{lab: l, cluster: w, program: program}
	if p.leader, err = p.start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, roundWithin)
	defer cancel()
	if err = w.awaitLeader(ctx, p.leader.PID()); err == nil {
		err = w.awaitPool(ctx)
	}
	if err == nil {
		p.standby, err = p.start()
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *pair) start() (*measured.Controller, error) {
	p.started++
	return measured.StartController(p.program, p.lab, fmt.Sprintf("controller-%d", p.started))
}

// round kills the leader at a moment between two renewals, and has a new standby start in its place.
func (p *pair) round(ctx context.Context, n int) (r Round, err error) {
	ctx, cancel := context.WithTimeout(ctx, roundWithin)
	defer cancel()
	if err := p.standby.AwaitReady(ctx); err != nil {
		return r, err
	}
	select {
	case <-time.After(rand.N(fence.RenewEvery)):
	case <-ctx.Done():
		return r, ctx.Err()
	}
	died := time.Now()
	p.leader.Kill()
	if err := p.cluster.createPod(ctx, fmt.Sprintf("round-%d", n)); err != nil {
		return r, err
	}
	if err := p.cluster.awaitLeader(ctx, p.standby.PID()); err != nil {
		return r, err
	}
	r.LeadsSeconds = time.Since(died).Seconds()
	if err := p.cluster.awaitClaims(ctx, n+1); err != nil {
		return r, err
	}
	r.PlansSeconds = time.Since(died).Seconds()
	p.leader = p.standby
	p.standby, err = p.start()
	return r, err
}

func (p *pair) stop() {
	for _, c := range []*measured.Controller{p.leader, p.standby} {
		if c != nil {
			c.Kill()
		}
	}
}
