package planner

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/observetest"
)

type silent struct{}

func (silent) Publish(observe.Event) {}

// heard counts the plans that a listener for pods is told of.
type heard struct{ plans int }

func (h *heard) Decided(plan.Plan) { h.plans++ }

func TestEveryEndOfARemovalIsCounted(t *testing.T) {
	const decisions, byPool = "karpenter_voluntary_disruption_decisions_total", "karpenter_voluntary_disruption_decisions_by_nodepool_total"
	const dropped, failed = "karpenter_voluntary_disruption_failed_validations_total", "karpenter_voluntary_disruption_queue_failures_total"
	labels := " consolidation_type=empty decision=delete"
	tests := map[string]struct {
		err  error
		want []string
	}{
		"a node that was let go":        {nil, []string{byPool + labels + " nodepool=web reason=empty 1", decisions + labels + " reason=empty 1"}},
		"one that was needed after all": {fmt.Errorf("node n1: %w", apply.ErrChanged), []string{dropped + " consolidation_type=empty 1"}},
		"an API server that is away":    {errors.New("connection reset"), []string{failed + labels + " reason=empty 1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewPedanticRegistry()
			teller := &Teller{Log: slog.New(slog.DiscardHandler), Events: silent{}, Metrics: observe.NewMetrics(registry, "", "", "", "")}
			teller.Removed(plan.Removal{Node: "n1", Claim: "web-1", Pool: cluster.PoolID{Kind: "NodePool", Name: "web"}, Reason: plan.Empty}, tt.err)
			got, err := observetest.Lines(registry, decisions, byPool, dropped, failed)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestAPlanIsMeasured(t *testing.T) {
	registry, pods := prometheus.NewPedanticRegistry(), &heard{}
	teller := &Teller{Log: slog.New(slog.DiscardHandler), Events: silent{}, Metrics: observe.NewMetrics(registry, "", "", "", ""), Pods: pods}
	seen := &cluster.Snapshot{Waiting: make([]cluster.Pod, 3), Nodes: make([]cluster.Node, 2)}
	teller.Planned(seen, plan.Plan{Unplaced: []plan.Unplaced{{Pods: make([]cluster.Pod, 2)}}}, 2*time.Second)
	got, err := observetest.Lines(registry, "karpenter_scheduler_scheduling_duration_seconds", "karpenter_scheduler_queue_depth",
		"karpenter_scheduler_unschedulable_pods_count", "karpenter_cluster_state_node_count")
	want := []string{
		"karpenter_cluster_state_node_count 2", "karpenter_scheduler_queue_depth controller=provisioner 3",
		"karpenter_scheduler_scheduling_duration_seconds controller=provisioner 1 in 2s", "karpenter_scheduler_unschedulable_pods_count controller=provisioner 2",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if pods.plans != 1 {
		t.Errorf("those who follow pods heard of %d plans, want one", pods.plans)
	}
}
