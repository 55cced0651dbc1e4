package shadow

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe/comparison"
)

// Hold has nothing to keep back: no pod is evicted.
func (w *World) Hold(*cluster.Snapshot, plan.Plan) {}

// Gather has nothing to annotate: there are no NodeClaims.
func (w *World) Gather(context.Context, plan.Plan) error { return nil }

// Withdraw has nothing to withdraw: an instance that is launched is there.
func (w *World) Withdraw(context.Context, plan.Plan) []apply.Withdrawn { return nil }

// Launch has the instances of a plan, and puts the pods on them that they are for.
func (w *World) Launch(_ context.Context, s *cluster.Snapshot, p plan.Plan) []apply.Launched {
	w.mu.Lock()
	defer w.mu.Unlock()
	var each quantity.MicroUSDPerHour // that a spot instance is likely to cost beside its price
	if spot := spotOf(p.Launches); spot > 0 {
		each = p.SpotMore / quantity.MicroUSDPerHour(spot)
	}
	names := w.launch(s, p.Launches, each)
	w.place(p.Placements, names)
	for _, d := range launches(s.Now, p.Launches) {
		w.Book.Decided(d)
	}
	w.changes++
	return nil
}

func spotOf(list []plan.Launch) (n int) {
	for i := range list {
		if list[i].Choice.Option == cluster.Spot {
			n++
		}
	}
	return n
}

// place puts pods that wait where a plan expects them.
func (w *World) place(list []plan.Placement, names map[string]string) {
	for _, p := range list {
		switch p.On {
		case plan.OnNode:
			w.at[p.Pod.UID] = p.Target
		case plan.OnLaunch:
			if name, has := names[p.Target]; has {
				w.at[p.Pod.UID] = name
			}
		}
	}
}

// launch makes a node of each launch whose instance type is known, and returns their names by those of the launches.
func (w *World) launch(s *cluster.Snapshot, list []plan.Launch, spotMore quantity.MicroUSDPerHour) map[string]string {
	names := map[string]string{}
	for i := range list {
		l := &list[i]
		pool, ok := s.Pool(l.Pool)
		if !ok {
			continue
		}
		instanceType := pool.Catalogue.InstanceType(l.Choice.Kind)
		if instanceType == nil {
			continue
		}
		w.made++
		name := fmt.Sprintf("shadow-%s-%d", l.Pool.Name, w.made)
		n := &node{launched: true, readyAt: s.Now.Add(cmp.Or(pool.Boot, bootFor))}
		labels := pool.Labels.Merge(l.Labels).Merge(instanceType.Labels)
		if o := l.Offering(pool.Catalogue); o != nil {
			labels = labels.Merge(o.Labels)
		}
		allocatable, capacity := instanceType.Ordered(l.Requests)
		n.Node = cluster.Node{
			Name: name, Claim: name, Pool: l.Pool, InstanceID: name, Labels: labels.With(cluster.LabelHostname,
				name).With(translate.FieldName, name),
			Taints: pool.Taints, Allocatable: allocatable, Capacity: capacity, Attachable: instanceType.Attachable,
			Price:     l.Choice.ListPrice(),
			CreatedAt: s.Now, QuietSince: n.readyAt, ChangedAt: n.readyAt, Ready: true, Initialized: true,
		}
		if l.Choice.Option == cluster.Spot {
			n.beside = spotMore
		}
		if o, known := w.Pools.Pool(l.Pool); known {
			n.HasGrace = o.Template.Spec.TerminationGracePeriod != ""
			if after, ever := o.Template.Spec.ExpireAfter.Value(); ever && o.Template.Spec.ExpireAfter != "" {
				n.ExpiresAt = s.Now.Add(after)
			}
		}
		w.nodes[name], names[l.Name] = n, name
	}
	return names
}

// Move has nodes go, and their pods come where the plan expects them. Nothing is reported: nothing can fail.
func (w *World) Move(_ context.Context, s *cluster.Snapshot, p plan.Plan, _ apply.Listener) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range p.Moves {
		w.move(s, &p.Moves[i])
	}
	w.changes++
}

func (w *World) move(s *cluster.Snapshot, m *plan.Move) {
	names := w.launch(s, m.Launches, 0)
	for i := range m.Launches {
		if n := w.nodes[names[m.Launches[i].Name]]; n != nil {
			n.beside = spotMore(s, &m.Launches[i])
		}
	}
	paidFor := drainFor
	for _, name := range names {
		paidFor = max(paidFor, w.nodes[name].readyAt.Sub(s.Now)+drainFor)
	}
	gone, leaving := []plan.Removal(nil), map[string]cluster.Pod{}
	for _, r := range m.Removals {
		n := w.nodes[r.Node]
		if n == nil || !n.endsAt.IsZero() {
			continue
		}
		n.endsAt = s.Now.Add(paidFor)
		gone = append(gone, r)
		for _, pod := range r.Pods {
			leaving[pod.UID] = pod
		}
	}
	for uid, pod := range leaving {
		delete(w.at, uid)
		disruption.Follow(&pod, &cluster.Pod{Moved: w.moved[uid].times, MovedAt: w.moved[uid].at}, s.Now)
		w.moved[uid] = move{pod.Moved, pod.MovedAt}
	}
	w.place(m.Placements, names)
	if len(gone) > 0 {
		w.Book.Decided(moved(s.Now, m, gone, len(leaving)))
	}
}

// launches describes the launches of a plan, equal ones together.
func launches(now time.Time, list []plan.Launch) (out []comparison.Decision) {
	for i := range list {
		l := &list[i]
		what := fmt.Sprintf("%s of %s", choiceOf(l.Choice), l.Pool)
		at := slices.IndexFunc(out, func(d comparison.Decision) bool { return d.What == what })
		if at < 0 {
			at = len(out)
			out = append(out, comparison.Decision{At: now, Kind: comparison.Launch, What: what})
		}
		out[at].Launched++
		out[at].SavesPerHour -= l.Choice.ListCost().Dollars()
	}
	for i := range out {
		pods := 0
		for j := range list {
			if l := &list[j]; out[i].What == fmt.Sprintf("%s of %s", choiceOf(l.Choice), l.Pool) {
				pods += len(l.Pods)
			}
		}
		out[i].Why = plan.WaitText(pods)
		out[i].What = fmt.Sprintf("%d x %s", out[i].Launched, out[i].What)
	}
	return out
}

func choiceOf(c plan.Choice) string { return fmt.Sprintf("%s %s in %s", c.Kind, c.Option, c.Zone) }

// moved describes nodes that go.
func moved(now time.Time, m *plan.Move, gone []plan.Removal, pods int) comparison.Decision {
	d := comparison.Decision{At: now, Kind: comparison.Terminate, Launched: len(m.Launches), Terminated: len(gone),
		Evicted: pods, SavesPerHour: m.Saves.Dollars()}
	d.What, d.Why = nodesOf(gone), fmt.Sprintf("%s: %s", gone[0].Reason, gone[0].Note)
	if len(m.Launches) > 0 {
		d.Kind = comparison.Replace
		d.What += " by " + choiceOf(m.Launches[0].Choice)
		if more := len(m.Launches) - 1; more > 0 {
			d.What += fmt.Sprintf(" and %d more", more)
		}
	}
	return d
}

// namesMost is how many nodes are named of those that go together.
const namesMost = 3

func nodesOf(list []plan.Removal) string {
	out := ""
	for i, r := range list {
		switch {
		case i == namesMost:
			return fmt.Sprintf("%s and %d more", out, len(list)-i)
		case i > 0:
			out += ", "
		}
		out += r.Node
	}
	return out
}
