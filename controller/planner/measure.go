package planner

import (
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/translate"
)

// planned is the controller whose pods are counted, in the words of Karpenter's labels.
const planned = "provisioner"

// measurePods sets the gauges of pods that wait, of which so many have no place.
func (t *Recorder) measurePods(s *cluster.Snapshot, list []plan.Unplaced, unplaced int) {
	ignored := 0
	for i := range list {
		if u := &list[i]; u.Declined() || u.Shape != nil && u.Shape.Unable != "" {
			ignored += len(u.Pods)
		}
	}
	t.Metrics.QueueDepth.Set(float64(len(s.Waiting)))
	t.Metrics.Ignored.Set(float64(ignored))
	t.Metrics.Unschedulable.Set(float64(unplaced - ignored))
	pods, zones := map[string]int{}, map[*cluster.Shape]string{}
	for i := range s.Waiting {
		shape := s.Waiting[i].Shape
		zone, known := zones[shape]
		if !known {
			zone = zoneOf(shape)
			zones[shape] = zone
		}
		pods[zone]++
	}
	t.Metrics.PendingByZone.Reset()
	for zone, n := range pods {
		t.Metrics.PendingByZone.WithLabelValues(planned, zone).Set(float64(n))
	}
}

// zoneOf is the one zone that pods of a shape may be in, for their own sake or for that of
// their volumes; empty: there are several, or none.
func zoneOf(s *cluster.Shape) string {
	if s == nil {
		return ""
	}
	for _, terms := range [][]constraint.Requirements{s.NodeTerms, s.VolumeTerms} {
		if zone := commonZone(terms); zone != "" {
			return zone
		}
	}
	return ""
}

// commonZone is the one zone that all of the alternatives ask for.
func commonZone(terms []constraint.Requirements) string {
	zone := ""
	for i, term := range terms {
		values, ok := term.Get(cluster.LabelZone).Finite()
		if !ok || len(values) != 1 || i > 0 && values[0] != zone {
			return ""
		}
		zone = values[0]
	}
	return zone
}

// measureKept sets the gauge of nodes that have a reason to go and stay, once all nodes
// were checked. Those that wait for their time, and those that are merely not cheaper to do
// without, are not held up.
func (t *Recorder) measureKept(s *cluster.Snapshot, p *plan.Plan) {
	if !p.Asked {
		return
	}
	pools := make(map[string]cluster.PoolID, len(s.Nodes))
	for i := range s.Nodes {
		pools[s.Nodes[i].Name] = s.Nodes[i].Pool
	}
	t.Metrics.BlockedNodes.Reset()
	for i := range p.Kept {
		k := &p.Kept[i]
		pool, there := pools[k.Node]
		if !there || k.By == plan.KeptByTime || k.Reason == plan.Underutilized && k.By != plan.KeptByRule && k.By != plan.KeptByBudget {
			continue
		}
		by := string(k.By)
		if k.By == plan.KeptByFinding {
			by = "finding"
		}
		t.Metrics.BlockedNodes.WithLabelValues(translate.Called(pool), strings.ToLower(string(k.Reason)), by).Inc()
	}
}
