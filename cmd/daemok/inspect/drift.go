package inspect

import (
	"context"
	"fmt"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/drift"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// Drift is a node that would drift.
type Drift struct {
	Node         string
	Pool         cluster.PoolID
	Reason, Text string // in the words of the API, and what differs
}

// Drifts are the nodes that have not drifted, and would be found to once the manifests are applied that the situation has
// taken in: nodes of the pools that are among them, and of pools whose class is. Of a saved snapshot none is known. Where
// a class is among them, AWS is asked for instances.
func (s Situation) Drifts(ctx context.Context, pools map[cluster.PoolID]bool) ([]Drift, error) {
	if s.classes == nil {
		return nil, nil
	}
	var out []Drift
	var instances []cloud.Instance
	for i := range s.Snapshot.Nodes {
		n := &s.Snapshot.Nodes[i]
		pool, has := s.World.Pool(n.Pool)
		claim := s.World.Claim(n.Claim)
		if !has || claim == nil || n.Drifted != "" || n.Deleting {
			continue
		}
		form, given := s.classes.form(pool)
		if !given && !pools[n.Pool] {
			continue
		}
		if given && instances == nil {
			var err error
			if instances, err = s.classes.provider.List(ctx, cloud.Filter{}); err != nil {
				return nil, fmt.Errorf("list instances, to see which would drift: %w", err)
			}
		}
		offerings, _ := s.classes.Offered(ctx, pool.Class) // what is not known is not compared
		reason, text := drift.Predict(drift.Prospect{Claim: claim, Pool: pool, Class: form, Offerings: offerings, Instances: instances}, time.Now())
		if reason != "" {
			out = append(out, Drift{n.Name, n.Pool, reason, text})
		}
	}
	return out, nil
}

// form is what instances of the pool's class would be made from, where the class is among the manifests.
func (cs *Classes) form(pool translate.PoolObject) (form drift.Class, given bool) {
	for i := range cs.Kinds {
		kind := &cs.Kinds[i]
		if kind.Group != pool.Class.Group || kind.Name != pool.Class.Kind {
			continue
		}
		key := KeyOf(kind.New(), pool.Class.Name)
		o, given := cs.given[key]
		if !given {
			return form, false
		}
		form.Selected = controller.Selected(cs.Found[key])
		form.Hash, form.HashVersion = kind.Hash(o)
		return form, true
	}
	return form, false
}
