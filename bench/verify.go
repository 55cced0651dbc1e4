package bench

import (
	"fmt"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Verify checks a plan by counting, without the code that made it: that every waiting pod
// is placed once or reported unplaced, that each place has what its pods want and room for
// them, whichever of the types left open it becomes, and that pods are as near, as far
// apart and as evenly spread as they require, each judged when its turn comes in the plan's
// own order. An instance whose zone is left open counts in the zone it is launched in
// first, but takes no pod that has a rule by zone itself.
//
// Labels, taints and amounts are judged by core/fit's meaning of them. Host ports, volumes
// and limits of pools are not checked; no workload of this package has any.
func Verify(s *cluster.Snapshot, p *plan.Plan) error {
	v := newVerifier(s)
	for i := range p.Launches {
		if err := v.addLaunch(&p.Launches[i]); err != nil {
			return fmt.Errorf("%s: %w", p.Launches[i].Name, err)
		}
	}
	v.rules = newLedger(s, v.hosts)
	if err := v.placeAll(p.Placements); err != nil {
		return err
	}
	return v.noneForgotten(s, p)
}

// host is a place of the plan as kube-scheduler would see it.
type host struct {
	name          string
	number        int
	labels        constraint.Labels
	taints        []constraint.Taint
	free          quantity.Resources
	launch        *plan.Launch // nil for what exists
	pods          []cluster.Pod
	instanceTypes []*cluster.InstanceType // that a launch may become
}

type place struct {
	on     plan.Destination
	target string
}

type verifier struct {
	pools map[cluster.PoolID]*feasibility.Pool
	hosts []*host
	at    map[place]*host
	where map[[2]string]*host // by pod
	rules *ledger
}

func newVerifier(s *cluster.Snapshot) *verifier {
	v := &verifier{pools: map[cluster.PoolID]*feasibility.Pool{}, at: map[place]*host{}, where: map[[2]string]*host{}}
	for i, p := range feasibility.ForPools(s.Pools, s.Daemons) {
		v.pools[s.Pools[i].ID] = p
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		v.add(plan.OnNode, n.Name, &host{labels: n.Labels, taints: feasibility.LastingTaints(n), free: feasibility.Free(n, s.Daemons), pods: n.Pods})
	}
	for i := range s.Instances {
		m := feasibility.ForInstance(&s.Instances[i], v.pools[s.Instances[i].Pool], s.Daemons)
		v.add(plan.OnInstance, m.Claim, &host{labels: m.Known(), taints: m.Taints, free: m.Free})
	}
	return v
}

func (v *verifier) add(on plan.Destination, name string, h *host) {
	h.name, h.number = name, len(v.hosts)
	if _, known := h.labels.Get(cluster.LabelHostname); !known {
		h.labels = h.labels.With(cluster.LabelHostname, name)
	}
	v.hosts = append(v.hosts, h)
	v.at[place{on, name}] = h
}

// addLaunch notes a new instance. Its labels are those that it will have whatever it
// becomes; what is free is the least of the types left open.
func (v *verifier) addLaunch(l *plan.Launch) error {
	pool := v.pools[l.Pool]
	if pool == nil {
		return fmt.Errorf("pool %s is not known", l.Pool)
	}
	h := &host{labels: pool.Labels.Merge(l.Labels), taints: pool.Taints, launch: l}
	for _, r := range l.Requirements {
		if values, finite := r.Set.Finite(); finite && len(values) == 1 && !r.Set.AllowsAbsent() {
			h.labels = h.labels.With(r.Key, values[0])
		}
	}
	launched, types := false, l.Requirements.Get(cluster.LabelInstanceType)
	for k := range pool.Catalogue.InstanceTypes {
		instanceType := &pool.Catalogue.InstanceTypes[k]
		if !types.Allows(instanceType.Name) {
			continue
		}
		if h.free = h.free.Min(pool.Kinds[k].Free); len(h.instanceTypes) == 0 {
			h.free = pool.Kinds[k].Free
		}
		h.instanceTypes = append(h.instanceTypes, instanceType)
		launched = launched || instanceType.Name == l.Choice.Kind
	}
	if !launched {
		return fmt.Errorf("its choice %s is not among the types left open", l.Choice.Kind)
	}
	if !l.Requirements.Get(cluster.LabelZone).Allows(l.Choice.Zone) {
		return fmt.Errorf("its choice %s is not among the zones left open", l.Choice.Zone)
	}
	v.add(plan.OnLaunch, l.Name, h)
	return nil
}

func (v *verifier) placeAll(placements []plan.Placement) error {
	for i := range placements {
		pod, target := &placements[i].Pod, placements[i].Target
		h := v.at[place{placements[i].On, target}]
		if h == nil {
			return fmt.Errorf("pod %s/%s is placed on %s %s, which is not there", pod.Namespace, pod.Name, placements[i].On, target)
		}
		if err := v.place(pod, h); err != nil {
			return fmt.Errorf("pod %s/%s on %s: %w", pod.Namespace, pod.Name, target, err)
		}
	}
	return nil
}

func (v *verifier) place(pod *cluster.Pod, h *host) error {
	key := [2]string{pod.Namespace, pod.Name}
	if other := v.where[key]; other != nil {
		return fmt.Errorf("it is placed on %s too", other.name)
	}
	v.where[key] = h
	if err := h.admits(pod.Shape); err != nil {
		return err
	}
	if why := feasibility.Room(pod.Shape.Requests, h.free); !why.OK() {
		return fmt.Errorf("no room: %s", why)
	}
	h.free = h.free.Sub(pod.Shape.Requests)
	if err := v.rules.judge(pod.Shape, h); err != nil {
		return err
	}
	v.rules.put(pod.Shape, h, false)
	return nil
}

// admits checks what the host is, not who is there.
func (h *host) admits(s *cluster.Shape) error {
	if taint, found := constraint.Untolerated(h.taints, s.Tolerations); found {
		return fmt.Errorf("taint %s is not tolerated", taint)
	}
	alternatives := feasibility.Alternatives(s)
	for _, term := range alternatives {
		if h.meets(term) {
			return nil
		}
	}
	if len(alternatives) > 0 {
		return fmt.Errorf("it may become what the pod does not want: %s", alternatives[0])
	}
	return nil
}

// meets reports whether the host is what the term wants, whatever it becomes.
func (h *host) meets(term constraint.Requirements) bool {
	for _, r := range term {
		value, known := h.labels.Get(r.Key)
		switch {
		case known && !r.Set.Allows(value):
			return false
		case !known && h.launch == nil && !r.Set.AllowsAbsent():
			return false
		case !known && h.launch != nil && !h.always(r):
			return false
		}
	}
	return true
}

func (h *host) always(r constraint.Requirement) bool {
	if h.launch.Requirements.Has(r.Key) && r.Set.Covers(h.launch.Requirements.Get(r.Key)) {
		return true
	}
	for _, k := range h.instanceTypes {
		value, present := k.Labels.Get(r.Key)
		if present && !r.Set.Allows(value) || !present && !r.Set.AllowsAbsent() {
			return false
		}
	}
	return true
}

// noneForgotten checks that all waiting pods are answered for, and that instances are
// listed with the pods that are placed on them.
func (v *verifier) noneForgotten(s *cluster.Snapshot, p *plan.Plan) error {
	for i := range p.Launches {
		for _, pod := range p.Launches[i].Pods {
			if h := v.where[[2]string{pod.Namespace, pod.Name}]; h == nil || h.launch != &p.Launches[i] {
				return fmt.Errorf("%s lists pod %s/%s, which is not placed there", p.Launches[i].Name, pod.Namespace, pod.Name)
			}
		}
	}
	unplaced := map[[2]string]bool{}
	for _, u := range p.Unplaced {
		for _, pod := range u.Pods {
			unplaced[[2]string{pod.Namespace, pod.Name}] = true
		}
	}
	for i := range s.Waiting {
		key := [2]string{s.Waiting[i].Namespace, s.Waiting[i].Name}
		if placed := v.where[key] != nil; placed == unplaced[key] {
			return fmt.Errorf("pod %s/%s: placed %v, reported as unplaced %v", key[0], key[1], placed, unplaced[key])
		}
	}
	return nil
}
