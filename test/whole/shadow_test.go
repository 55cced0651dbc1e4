package whole_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/labels"

	product "github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/controller/planner"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot/strip"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/comparison"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/store"
)

// shadow runs the product in shadow mode, without anything to write with: neither a store nor a cloud.
func (w *world) shadow(groups labels.Selector) *comparison.Book {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &controller{ordeal: &ordeal{kill: cancel}, measured: prometheus.NewRegistry()}
	live, shown := w.server.Connect(nil), w.server.NewCache(nil, strip.Sharing())
	live.User = theController
	book := &comparison.Book{}
	book.Begin("test", time.Now().UTC())
	program, err := product.NewShadow(ctx, product.Parts{
		Live: live, Watches: shown, Classes: w.classes, Pools: []nodepool.Generation{product.NodePools()},
		Metrics: observe.NewMetrics(c.measured, "", "", "", ""), Log: w.log, Now: time.Now,
		Planning: product.Planning{Window: planner.Window{Idle: time.Second, Max: 10 * time.Second},
			Filled: setup{}.begins, Began: func() {}},
	}, product.Shadowing{Book: book, Groups: groups})
	if err == nil {
		err = w.drive(ctx, program, shown, &c.done)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.running = append(w.running, c)
	return book
}

// While pods wait, and no other autoscaler does anything, shadow mode says what it would have launched, and does
// nothing: no write reaches the API server, and no instance is launched or terminated.
func TestAShadowSaysWhatItWouldLaunchAndDoesNothing(t *testing.T) {
	report(t, fakecloud.Options{Seed: 81}, func(t *testing.T, w *world) {
		h := w.leftAlone(func() { w.scale("batch", 20) })
		if h.Shadow.Launched != 18 || h.Shadow.Waited != 18 || h.Shadow.WaitLongest > 90 || h.Actual.Waited != 0 {
			t.Errorf("two pods fit on two idle nodes, 18 wait: it would have launched %d nodes, for which %d pods wait %.0f s at most", h.Shadow.Launched, h.Shadow.Waited, h.Shadow.WaitLongest)
		}
		if d := h.Latest[0]; d.Kind != comparison.Launch || !strings.HasPrefix(d.What,
			"18 x m5.large") || d.Why != "18 pods wait" || d.SavesPerHour >= 0 {
			t.Errorf("the decision is %+v", d)
		}
	})
}

// While nodes are idle, shadow mode says that it would have terminated them, once each, and what that would have
// saved.
func TestAShadowSaysWhatItWouldSaveAndDoesNothing(t *testing.T) {
	report(t, fakecloud.Options{Seed: 82}, func(t *testing.T, w *world) {
		h := w.leftAlone(func() {})
		if h.Shadow.Terminated != 2 || h.Shadow.Launched != 0 || h.Shadow.Evicted != 0 || h.Actual.Terminated != 0 {
			t.Errorf("with two idle nodes of three: %+v", h.Shadow)
		}
		if share := h.Shadow.Dollars / h.Actual.Dollars; share < 1./3 || share > .4 {
			t.Errorf("an hour cost $%.3f, and would have cost $%.3f, want a third and what passes until both nodes are gone", h.Actual.Dollars, h.Shadow.Dollars)
		}
	})
}

// leftAlone has two nodes of three idle and the controller of the cluster stop; then something happens, and shadow
// mode watches for an hour.
func (w *world) leftAlone(happens func()) comparison.History {
	w.t.Helper()
	var wrote []string
	watching := false
	w.server.AuditTo(func(a store.Audit) {
		if watching && a.User == theController {
			wrote = append(wrote, a.Call.Kind)
		}
	})
	w.pool("default", func(p *karpv1.NodePool) { p.Spec.Disruption.ConsolidateAfter = "30s" })
	other := w.start(setup{})
	w.scale("web", 3)
	w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
	other.stop()
	w.scale("web", 1)
	w.until(5*time.Minute, "two pods gone", func() bool { _, all := w.podsRunning(); return all == 1 })
	happens()
	nodes, launched, alive := len(w.nodes()), w.launched(), len(w.liveInstances())
	watching = true
	book := w.shadow(nil)
	time.Sleep(time.Hour)
	if len(wrote) > 0 || len(w.nodes()) != nodes || w.launched() != launched || len(w.liveInstances()) != alive {
		w.t.Errorf("shadow mode wrote %v; %s", wrote, w.state())
	}
	h, _ := book.History()
	if h.Seconds < 3500 || h.Starts != 1 {
		w.t.Errorf("an hour is %.0f s", h.Seconds)
	}
	return h
}
