package oracle

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// option is one instance that may come up: what it is and its labels.
type option struct {
	instanceType *cluster.InstanceType
	offering     *cluster.Offering
	labels       constraint.Labels
}

// optionsOf lists the instances of a pool that meet the requirements, with these labels
// beside the pool's. A label that the requirements leave open, by a list of values, gets
// each of these in turn.
func optionsOf(c *cluster.Catalogue, p *cluster.Pool, requirements constraint.Requirements, labels constraint.Labels) []option {
	var out []option
	for k := range c.InstanceTypes {
		instanceType := &c.InstanceTypes[k]
		for o := range instanceType.Offerings {
			offering := &instanceType.Offerings[o]
			own, given := instanceType.Labels.Merge(offering.Labels), p.Labels.Merge(labels)
			if contradict(own, given) {
				continue
			}
			for _, decided := range complete(own.Merge(given), requirements) {
				if _, ok := requirements.Allow(decided); ok {
					out = append(out, option{instanceType, offering, decided})
				}
			}
		}
	}
	return out
}

// optionsOfMachine lists what an instance being launched may turn out to be. One that is
// launched is what it is.
func optionsOfMachine(c *cluster.Catalogue, p *cluster.Pool, m *cluster.Instance) []option {
	if !m.Launched {
		return optionsOf(c, p, m.Requirements, m.Labels)
	}
	instanceType := &cluster.InstanceType{Capacity: m.Capacity, Allocatable: m.Allocatable, Attachable: m.Attachable}
	return []option{{instanceType: instanceType, labels: m.Labels}}
}

func contradict(a, b constraint.Labels) bool {
	for _, l := range a {
		if value, both := b.Get(l.Key); both && value != l.Value {
			return true
		}
	}
	return false
}

// complete returns the labels with every choice of values for the keys that
// requirements list and labels lack.
func complete(labels constraint.Labels, requirements constraint.Requirements) []constraint.Labels {
	out := []constraint.Labels{labels}
	for _, r := range requirements {
		values, finite := r.Set.Finite()
		if _, known := labels.Get(r.Key); known || !finite || len(values) == 0 {
			continue
		}
		var next []constraint.Labels
		for _, l := range out {
			for _, v := range values {
				next = append(next, l.With(r.Key, v))
			}
		}
		out = next
	}
	return out
}
