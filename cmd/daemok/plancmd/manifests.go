package plancmd

import (
	"context"
	"slices"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/ui/changes"
)

// given is what manifests say.
type given struct {
	objects []manifest.Object
	notes   []string // of what was left out of them
	deletes bool     // they are deleted, not applied
}

// add is the situation with the manifests; without any it is as it was.
func (g given) add(ctx context.Context, found inspect.Situation, policy decide.Policy) (*cluster.Snapshot, *changes.Manifests, error) {
	if len(g.objects)+len(g.notes) == 0 {
		return found.Snapshot, nil, nil
	}
	without := changes.Situation{Snapshot: found.Snapshot, Plan: planOf(found.Snapshot, policy)}
	if g.deletes {
		s, outcome, err := manifest.Delete(g.objects, found.Snapshot, found.World.ClusterState)
		return s, &changes.Manifests{Changes: outcome.Changes, Notes: append(g.notes, outcome.Notes...), Without: without}, err
	}
	if found.World.ClusterState == nil {
		var err error
		if found, err = inspect.Recall(found.Snapshot); err != nil {
			return nil, nil, err
		}
	}
	outcome, err := manifest.Apply(g.objects, found.World)
	if err != nil {
		return nil, nil, err
	}
	drifts, err := found.Drifts(ctx, g.pools())
	if err != nil {
		return nil, nil, err
	}
	return drifted(found.World.Snapshot(), drifts), &changes.Manifests{
		Drifts:  byReason(drifts),
		Changes: outcome.Changes, Notes: append(g.notes, outcome.Notes...),
		Without: without,
	}, nil
}

// pools are those among the manifests.
func (g given) pools() map[cluster.PoolID]bool {
	out := map[cluster.PoolID]bool{}
	for _, o := range g.objects {
		switch kind := o.GetObjectKind().GroupVersionKind().Kind; kind {
		case translate.KindNodePool, translate.KindProvisioner:
			out[cluster.PoolID{Kind: kind, Name: o.GetName()}] = true
		}
	}
	return out
}

// drifted is the snapshot in which these nodes have drifted.
func drifted(s *cluster.Snapshot, drifts []inspect.Drift) *cluster.Snapshot {
	if len(drifts) == 0 {
		return s
	}
	out := *s
	out.Nodes = slices.Clone(s.Nodes)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		if at := slices.IndexFunc(drifts, func(d inspect.Drift) bool { return d.Node == n.Name }); at >= 0 {
			n.Drifted, n.DriftedAt = drifts[at].Reason, s.Now
		}
	}
	return &out
}

// byReason groups nodes that drift by pool and reason, in the order of the first of each.
func byReason(drifts []inspect.Drift) (out []changes.Drift) {
	for _, d := range drifts {
		is := func(x changes.Drift) bool { return x.Pool == d.Pool.String() && x.Reason == d.Reason }
		at := slices.IndexFunc(out, is)
		if at < 0 {
			at = len(out)
			out = append(out, changes.Drift{Pool: d.Pool.String(), Reason: d.Reason, Text: d.Text})
		}
		out[at].Nodes = append(out[at].Nodes, d.Node)
	}
	return out
}

// additionJSON is what manifests changed, and the plan without them.
type additionJSON struct {
	Changes    []string    `json:"changes"`
	Notes      []string    `json:"notes"`
	Drift      []driftJSON `json:"drift"` // that the manifests cause
	Without    outcomeJSON `json:"without"`
	Difference float64     `json:"difference"` // of costAfter; positive: more expensive with the manifests
	Lost       []string    `json:"lost"`       // pods with a place without the manifests, and none with them
}

type driftJSON struct {
	Pool   string   `json:"pool"`
	Reason string   `json:"reason"`
	Text   string   `json:"text"` // of the first node
	Nodes  []string `json:"nodes"`
}

func additionView(in *changes.Input) *additionJSON {
	m := in.Manifests
	if m == nil {
		return nil
	}
	same := func(text string) string { return text }
	return &additionJSON{
		output.Each(m.Changes, same), output.Each(m.Notes, same),
		output.Each(m.Drifts, func(d changes.Drift) driftJSON { return driftJSON(d) }),
		outcomeView(&m.Without.Plan), dollars(in.Plan.CostAfter - m.Without.Plan.CostAfter), output.Each(in.Lost(), same),
	}
}
