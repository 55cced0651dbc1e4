package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/kube/installation"
)

// othersEvery is how soon other controllers are searched for again.
const othersEvery = 10 * time.Minute

// others searches for other controllers of the same kinds, and says so where one comes.
type others struct {
	from  client.Reader
	lease installation.Lease // of this one
	pod   client.ObjectKey   // that this one runs in
	log   *slog.Logger
	count prometheus.Gauge
	said  map[installation.Release]bool
}

// Round checks once.
func (o *others) Round(ctx context.Context) (time.Duration, error) {
	found, err := installation.Others(ctx, o.from, o.lease, o.pod)
	if err != nil {
		return othersEvery, err
	}
	o.count.Set(float64(len(found)))
	now := map[installation.Release]bool{}
	for _, r := range found {
		if now[r.Release] = true; !o.said[r.Release] {
			o.log.Warn("another controller leads beside this one: both launch nodes for the same pods and remove nodes of the same NodePools",
				"release", r.Namespace+"/"+r.Name, "image", r.Image, "lease", r.Lease.String(), "ownLease", o.lease.String(),
				"do", "uninstall one of them; `daemok doctor` names both")
		}
	}
	o.said = now
	return othersEvery, nil
}

// lookForOthers is the round that searches for other controllers.
func (p *parts) lookForOthers() controller.Round {
	o := &others{from: p.manager.GetAPIReader(), pod: client.ObjectKey{Namespace: ownNamespace(), Name: ownPod()}, log: p.log, count: p.metrics.OtherControllers}
	if p.options.leaderElection {
		o.lease = installation.Lease(ownLease(p.options))
	}
	return controller.Round{What: "look for other controllers", Do: o.Round}
}
