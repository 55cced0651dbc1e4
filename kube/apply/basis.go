package apply

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// ErrPoolChanged says that what a launch depended on no longer holds.
var ErrPoolChanged = errors.New("the pool is no longer as the plan saw it")

// asPlanned returns the pool of a launch as it was last seen, if it may still be launched for and
// everything that the launch was decided by is as the snapshot has it. What a claim merely carries
// over, such as annotations or how long its node may live, may have changed: the claim gets the
// newest.
//
// What the pool owns is not added up again: the ledger has every launch, and no other controller
// launches.
func (a *Applier) asPlanned(s *cluster.Snapshot, id cluster.PoolID) (translate.PoolObject, error) {
	if q := a.changedQuota(s); q != "" {
		return translate.PoolObject{}, fmt.Errorf("%w: CapacityQuota %s has changed", ErrPoolChanged, q)
	}
	object, known := a.Pools.Pool(id)
	if !known {
		return object, fmt.Errorf("%w: %s is gone", ErrPoolChanged, id)
	}
	if object.NotReady != "" {
		return object, fmt.Errorf("%w: %s: %s", ErrPoolChanged, id, object.NotReady)
	}
	then, planned := s.Pool(id)
	if !planned {
		return object, fmt.Errorf("%w: the plan knew no %s", ErrPoolChanged, id)
	}
	now, err := translate.Pool(object, then.Used.Nodes, s.Now)
	if err != nil {
		return object, fmt.Errorf("%w: %w", ErrPoolChanged, err)
	}
	if what := changed(then, &now); what != "" {
		return object, fmt.Errorf("%w: %s has other %s", ErrPoolChanged, id, what)
	}
	return object, nil
}

// changedQuota names a CapacityQuota that is not as the snapshot has it; it is empty where all are. What counts against
// quotas is not added up again, as with pools.
func (a *Applier) changedQuota(s *cluster.Snapshot) string {
	if a.Quotas == nil {
		return ""
	}
	now := a.Quotas.Now()
	for i := range max(len(now), len(s.Quotas)) {
		switch {
		case i >= len(now):
			return s.Quotas[i].Name
		case i >= len(s.Quotas):
			return now[i].Name
		}
		then := s.Quotas[i]
		if then.Used = (cluster.Used{}); !reflect.DeepEqual(then, now[i]) {
			return then.Name
		}
	}
	return ""
}

// changed names something that decides which instances a pool launches, and that is not the same;
// it is empty where all is. A class of another name or kind is another label.
func changed(then, now *cluster.Pool) string {
	for _, field := range []struct {
		name      string
		then, now any
	}{
		{"requirements", then.Requirements, now.Requirements},
		{"minimum instance size", then.Floor.Size, now.Floor.Size},
		{"labels, or another class", then.Labels, now.Labels},
		{"taints", then.Taints, now.Taints},
		{"startup taints", then.StartupTaints, now.StartupTaints},
		{"limits", then.Limits, now.Limits},
		{cluster.LimitOnDemand, then.OnDemand, now.OnDemand},
	} {
		if !reflect.DeepEqual(field.then, field.now) {
			return field.name
		}
	}
	return ""
}
