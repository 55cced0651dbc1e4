package follow

import (
	"slices"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/observe/trace"
)

// What pods and NodeClaims of a batch took is counted with its trace as an example, on until
// the pods have started; of other pods without one.
func TestHistogramsNameTraces(t *testing.T) {
	s := begin(t)
	s.Traces = &trace.Tracer{Spans: sdktrace.NewTracerProvider().Tracer(""), Now: s.Now}
	waits := func(c *karpv1.NodeClaim) { condition.SetUnknown(c, karpv1.ClaimLaunched, "Waiting", "", start) }
	done := func(c *karpv1.NodeClaim) {
		condition.SetTrue(c, karpv1.ClaimLaunched, start.Add(time.Second))
		condition.SetTrue(c, karpv1.ClaimRegistered, start.Add(time.Second))
		condition.SetTrue(c, karpv1.ClaimInitialized, start.Add(time.Second))
	}
	s.pods.OnAdd(pod(), false)
	made := plan.Plan{Launches: make([]plan.Launch, 1), Placements: []plan.Placement{{Pod: cluster.Pod{UID: "u"}, On: plan.OnLaunch}}}
	s.Traces.Planned(&cluster.Snapshot{}, made, 0)
	s.Decided(made)
	id := s.Traces.OfPlan()
	s.claims.OnAdd(claim(waits), false)
	s.Traces.Launched([]apply.Launched{{Claim: claim()}})
	s.Traces.Explain(nil, made)
	s.Ordered("web-1", []cluster.Pod{{UID: "u"}})
	s.claims.OnUpdate(claim(waits), claim(done))
	s.pods.OnUpdate(pod(), pod(onNode))
	s.pods.OnUpdate(pod(onNode), pod(onNode, running))
	if s.Traces.OfClaim("web-1") != "" {
		t.Error("the trace has not ended")
	}
	for name, want := range map[string][]string{
		"karpenter_pods_bound_duration_seconds":                  {id},
		"karpenter_pods_provisioning_bound_duration_seconds":     {id},
		"karpenter_pods_provisioning_startup_duration_seconds":   {id},
		"operator_nodeclaim_status_condition_transition_seconds": {id},
		"karpenter_pods_scheduling_decision_duration_seconds":    nil,
		"operator_nodeclaim_termination_duration_seconds":        nil,
		"operator_nodepool_status_condition_transition_seconds":  nil,
	} {
		if got := s.examples(name); !slices.Equal(got, want) {
			t.Errorf("%s names traces %q, want %q", name, got, want)
		}
	}
}

// A pod that waits for a node that is there, or for an instance that was launched for others, is part of the batch that had this place for it.
func TestHistogramsNameTheTraceOfPodsOnExistingNodes(t *testing.T) {
	for name, on := range map[string]plan.Destination{"a node": plan.OnNode, "an instance being launched": plan.OnInstance} {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			s.Traces = &trace.Tracer{Spans: sdktrace.NewTracerProvider().Tracer(""), Now: s.Now}
			batch := func() string {
				s.Traces.Round(trace.Round{OpenedAt: s.Now(), BeganAt: s.Now(), PlanAt: s.Now()})
				made := plan.Plan{Placements: []plan.Placement{{Pod: cluster.Pod{UID: "u"}, On: on, Target: "node-1"}}}
				s.Traces.Planned(&cluster.Snapshot{}, made, 0)
				s.Decided(made)
				return s.Traces.OfPlan()
			}
			s.pods.OnAdd(pod(), false)
			first := batch()
			if second := batch(); first == "" || second == first {
				t.Fatalf("two batches have the traces %q and %q", first, second)
			}
			s.pods.OnUpdate(pod(), pod(onNode))
			for _, name := range []string{"karpenter_pods_bound_duration_seconds", "karpenter_pods_provisioning_bound_duration_seconds"} {
				if got := s.examples(name); !slices.Equal(got, []string{first}) {
					t.Errorf("%s names traces %q, want %q: that since which the pod has a place", name, got, first)
				}
			}
		})
	}
}

// examples are the traces that a histogram names.
func (s *story) examples(name string) (out []string) {
	s.t.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, b := range m.GetHistogram().GetBucket() {
				if e := b.GetExemplar(); e != nil {
					out = append(out, e.GetLabel()[0].GetValue())
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
