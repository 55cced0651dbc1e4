// Package wave measures in a lab how the plan for many simultaneous pods is carried out. It reports
// when the pods run, how many more instances are launched than the first plan said, and what they
// cost.
//
// It promises that all pods are pending before anything may be launched, so that one plan can be made
// for all of them, and that it leaves nothing of the lab behind. It sets no limits for what it
// measures.
package wave

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/bench/measured"
	"github.com/daemok/daemok/cloud/aws/bill"
	"github.com/daemok/daemok/core/cluster"
)

// Options say what to measure with.
type Options struct {
	Lab, Controller string            // paths of the programs daemok-lab and daemok-controller
	Work            *cluster.Snapshot // whose waiting pods are made, each shape by a Deployment
	Capacity        []string          // capacity types that the NodePool allows
	VCPUMost        int               // of an instance type
	TimeScale       float64           // how long instances take to boot; 1: as on EC2
	Seed            uint64            // of the emulated AWS
	Nominate        bool              // nodes are nominated for pods, with the right that this needs
	Progress        io.Writer         // what the lab says
}

// Result is what was measured. Seconds are counted from the moment at which the NodePool was made, for which
// all pods had waited.
type Result struct {
	Pods                 int     `json:"pods"`
	SecondsHalf          float64 `json:"secondsHalf"` // until half of the pods ran
	Seconds95            float64 `json:"seconds95"`
	SecondsAll           float64 `json:"secondsAll"`
	NodesPlanned         int     `json:"nodesPlanned"` // by the first plan that launched
	Nodes                int     `json:"nodes"`        // when all pods ran
	BoundPerHour         float64 `json:"boundPerHour"` // no instances for these pods cost less
	PlannedDollarsPerH   float64 `json:"plannedDollarsPerHour"`
	SaidDollarsPerH      float64 `json:"saidDollarsPerHour"` // what the first plan was expected to come to
	DollarsPerH          float64 `json:"dollarsPerHour"`
	OverSaid             float64 `json:"overSaid"`           // dollarsPerHour / saidDollarsPerHour - 1
	LandedAsPlanned      float64 `json:"landedAsPlanned"`    // share of the pods on the instance that was launched for them first
	LeftAfterFirstWave   int     `json:"leftAfterFirstWave"` // pods that run on no instance of the first plan
	Waves                int     `json:"waves"`              // plans that launched
	DisplacedMost        int     `json:"displacedMost"`      // how many more instances than one were launched for a pod
	ControllerCPUSeconds float64 `json:"controllerCPUSeconds"`
}

// within is how long all pods may take to run.
const within = 30 * time.Minute

// Measure runs one wave.
func Measure(ctx context.Context, o Options) (result Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	flags := []string{fmt.Sprintf("--time-scale=%g", o.TimeScale), fmt.Sprintf("--seed=%d", o.Seed)}
	err = measured.InLab(ctx, o.Lab, o.Progress, flags, func(l *measured.Lab) error {
		result, err = run(ctx, l, o)
		return err
	})
	return result, err
}

func run(ctx context.Context, l *measured.Lab, o Options) (r Result, err error) {
	kube, err := l.Client()
	if err != nil {
		return r, err
	}
	u := user{kube}
	if o.Nominate {
		l.Variables["NOMINATE_PODS"] = "true"
		if err := u.allowNominations(ctx); err != nil {
			return r, err
		}
	}
	c, err := measured.StartController(o.Controller, l, "controller")
	if err != nil {
		return r, err
	}
	defer c.Kill()
	if err := c.AwaitReady(ctx); err != nil {
		return r, err
	}
	if err := u.makeWork(ctx, l.Variables["CLUSTER_NAME"], o.Work); err != nil {
		return r, err
	}
	r.Pods = len(o.Work.Waiting)
	if err := u.awaitWaiting(ctx, r.Pods); err != nil {
		return r, err
	}
	fmt.Fprintf(o.Progress, "all %d pods wait\n", r.Pods)
	if err := u.makePool(ctx, o.Capacity, o.VCPUMost); err != nil {
		return r, err
	}
	ran, err := u.awaitRunning(ctx, r.Pods)
	if err != nil {
		return r, err
	}
	r.SecondsHalf, r.Seconds95, r.SecondsAll = at(ran, 0.5), at(ran, 0.95), at(ran, 1)
	if r.DollarsPerH, r.Nodes, err = bill.Of(ctx, l.Account().Config, "default"); err != nil {
		return r, err
	}
	landed, err := measured.Landings(ctx, u, metav1.NamespaceDefault)
	if err != nil {
		return r, err
	}
	c.Kill()
	r.ControllerCPUSeconds = c.CPUSeconds()
	log, err := os.ReadFile(l.Log("controller"))
	if err != nil {
		return r, fmt.Errorf("read the controller's log: %w", err)
	}
	return r, r.compare(log, landed)
}

// compare takes in what the plans said.
func (r *Result) compare(log []byte, landed []measured.Landing) error {
	all, err := plansOf(log)
	if err != nil {
		return err
	}
	first := all[0]
	r.Waves, r.NodesPlanned, r.BoundPerHour = len(all), len(first.claims), first.Bound
	r.PlannedDollarsPerH, r.SaidDollarsPerH = first.Cost, first.Likely
	r.OverSaid = r.DollarsPerH/r.SaidDollarsPerH - 1
	for _, p := range landed {
		if !first.claims[p.On] {
			r.LeftAfterFirstWave++
		}
		if p.AsPlanned() {
			r.LandedAsPlanned += 1 / float64(len(landed))
		}
		r.DisplacedMost = max(r.DisplacedMost, p.Displaced())
	}
	return nil
}

// at returns after how many seconds the share of sorted moments had come.
func at(sorted []time.Duration, share float64) float64 {
	n := int(share*float64(len(sorted)) + 0.5)
	return sorted[max(0, n-1)].Seconds()
}
