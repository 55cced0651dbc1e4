package plancmd

import (
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/ui/changes"
)

// given is what manifests say.
type given struct {
	objects []manifest.Object
	notes   []string // of what was left out of them
	deletes bool     // they are deleted, not applied
}

// add is the situation with the manifests; without any it is as it was.
func (g given) add(found inspect.Situation, policy decide.Policy) (*cluster.Snapshot, *changes.Manifests, error) {
	if len(g.objects)+len(g.notes) == 0 {
		return found.Snapshot, nil, nil
	}
	without := changes.Situation{Snapshot: found.Snapshot, Plan: planOf(found.Snapshot, policy)}
	if g.deletes {
		s, outcome, err := manifest.Delete(g.objects, found.Snapshot)
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
	return found.World.Snapshot(), &changes.Manifests{
		Changes: outcome.Changes, Notes: append(g.notes, outcome.Notes...),
		Without: without,
	}, nil
}

// additionJSON is what manifests changed, and the plan without them.
type additionJSON struct {
	Changes    []string    `json:"changes"`
	Notes      []string    `json:"notes"`
	Drift      []driftJSON `json:"drift"` // that the manifests cause
	Without    outcomeJSON `json:"without"`
	Difference float64     `json:"difference"` // of costAfter; positive: more expensive with the manifests
}

type driftJSON struct {
	Pool   string   `json:"pool"`
	Reason string   `json:"reason"`
	Text   string   `json:"text"` // of the first node
	Nodes  []string `json:"nodes"`
}

func additionView(with *plan.Plan, m *changes.Manifests) *additionJSON {
	if m == nil {
		return nil
	}
	same := func(text string) string { return text }
	return &additionJSON{
		each(m.Changes, same), each(m.Notes, same),
		each(m.Drifts, func(d changes.Drift) driftJSON { return driftJSON(d) }),
		outcomeView(&m.Without.Plan), dollars(with.CostAfter - m.Without.Plan.CostAfter),
	}
}
