package shapes

import (
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/snapshot/owner"
)

// Refresh finds the shapes of all stale entries. Cost: linear in these.
func (t *Table) Refresh() {
	t.spreadAgain()
	t.askAgain()
	f := finder{t: t, keys: map[string][]string{}, known: map[sameShape]*cluster.Shape{}}
	for _, e := range t.entries.takeOld() {
		next := f.find(e)
		t.shapes.release(e.shape)
		if next != e.shape {
			e.shape = next
			t.Nodes.Changed(e.Node)
		}
	}
}

// askAgain finds the pods of owners whose new pods ask for something else. Cost: linear
// in the pods of their namespaces.
func (t *Table) askAgain() {
	in := map[string]bool{}
	for of := range t.asking {
		in[of.Namespace] = true
	}
	for namespace := range in {
		for e := range t.entries.in[namespace] {
			if _, other := t.asking[e.Owner]; other {
				t.entries.stale[e] = struct{}{}
			}
		}
	}
	clear(t.asking)
}

// respread is which entries have the default spreads, and whose Services or owner changed.
type respread struct {
	owned map[owner.ID]map[*Entry]struct{} // that have them
	stale map[*Entry]struct{}
	in    map[string]struct{} // namespaces all of whose entries are stale
}

func newRespread() respread {
	return respread{owned: map[owner.ID]map[*Entry]struct{}{}, stale: map[*Entry]struct{}{}, in: map[string]struct{}{}}
}

// follow begins to look after an entry that takes the defaults.
func (r *respread) follow(e *Entry) {
	if e.own == nil || e.Owner == (owner.ID{}) {
		return
	}
	if r.owned[e.Owner] == nil {
		r.owned[e.Owner] = map[*Entry]struct{}{}
	}
	r.owned[e.Owner][e] = struct{}{}
}

func (r *respread) leave(e *Entry) {
	delete(r.stale, e)
	delete(r.owned[e.Owner], e)
	if len(r.owned[e.Owner]) == 0 {
		delete(r.owned, e.Owner)
	}
}

// spreadAgain finds the rules of the entries whose Services or owner changed.
func (t *Table) spreadAgain() {
	r := &t.respread
	for namespace := range r.in {
		for e := range t.entries.in[namespace] {
			r.stale[e] = struct{}{}
		}
	}
	for e := range r.stale {
		if e.own == nil {
			continue
		}
		shared := t.rules.intern(t.Workloads.Spread(e.own, e.Namespace, e.Labels, e.Owner), e.Namespace, &t.entries, t.Namespaces.Chosen)
		if shared != e.rules {
			t.entries.stale[e] = struct{}{}
		}
		e.rules, shared = shared, e.rules
		t.rules.release(shared, &t.entries)
	}
	clear(r.stale)
	clear(r.in)
}

// finder finds shapes; it remembers them for entries that differ in nothing.
type finder struct {
	t     *Table
	keys  map[string][]string // by namespace: labels that any rule reads there, sorted
	known map[sameShape]*cluster.Shape
}

type sameShape struct {
	rules  *sharedRules
	labels string
	owner  owner.ID // whose pods ask for more when they are made; the zero value: none
}

func (f *finder) find(e *Entry) *cluster.Shape {
	labels, requests := f.read(e), f.t.comesBack(e)
	same := sameShape{rules: e.rules}
	if !requests.Equal(e.rules.shape.Requests) {
		same.owner = e.Owner
	}
	alone := len(e.uses) == 0 && len(e.devices) == 0
	if alone {
		same.labels = inOne(labels)
		if shape := f.known[same]; shape != nil {
			return f.t.shapes.again(shape)
		}
	}
	shape := e.rules.shape
	shape.Labels, shape.Requests = labels, requests
	f.t.Volumes.AddVolumes(&shape, e.uses)
	if len(e.devices) > 0 {
		f.t.Devices.AddDevices(&shape, e.devices, e.Node != "")
	}
	if e.daemon {
		shape.Unable = "" // each node gets a pod, whatever it waits for then
	}
	found := f.t.shapes.intern(shape)
	if alone {
		f.known[same] = found
	}
	return found
}

// read are the labels of an entry that any rule reads.
func (f *finder) read(e *Entry) constraint.Labels {
	if len(e.recalled) > 0 {
		return e.recalled
	}
	keys, known := f.keys[e.Namespace]
	if !known {
		keys = f.t.rules.read(e.Namespace)
		f.keys[e.Namespace] = keys
	}
	var out constraint.Labels
	for _, key := range keys {
		if value, has := e.Labels[key]; has {
			out = append(out, constraint.Label{Key: key, Value: value})
		}
	}
	return out
}

func inOne(labels constraint.Labels) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteString(l.Key + "=" + l.Value + ",") // neither can hold these
	}
	return b.String()
}
