package shapes

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// Entry is something with a shape: a pod, or what a DaemonSet would make. It
// holds what the object says; its shape is found when a snapshot needs it. Its exported fields are not written.
type Entry struct {
	Namespace string
	Node      string            // where the pod is; empty while it waits
	Owner     owner.ID          // of a pod: the scheduler reads its selector, and it creates the pod again
	Labels    map[string]string // all of them; belongs to the object seen

	rules        *sharedRules
	own          *podspec.Rules    // without the default spreads; nil where none can be added
	recalled     constraint.Labels // of a pod recalled: all that is known
	uses         []podspec.VolumeUse
	devices      []podspec.DeviceUse
	daemon       bool           // what a DaemonSet would make
	shape        *cluster.Shape // nil until it is first found
	recalledPDBs string         // of a pod recalled: those that it was under
	pdbs         string         // the PodDisruptionBudgets it is under, unless those of its namespace are stale
}

// Shape is what was found last; nil until Refresh was called once.
func (e *Entry) Shape() *cluster.Shape { return e.shape }

// DeviceUses lists the ResourceClaims of the pod, in its order. It must not be written.
func (e *Entry) DeviceUses() []podspec.DeviceUse { return e.devices }

// PDBs names the PodDisruptionBudgets that it is under, sorted and with commas between.
func (e *Entry) PDBs() string { return e.pdbs }

// Requests is what the pod itself asks for now.
func (e *Entry) Requests() quantity.Resources { return e.rules.shape.Requests }

// Holds is what the pod itself asks for where that is not what its shape says; otherwise nil. Of devices it has what
// its shape says.
func (e *Entry) Holds() *quantity.Resources {
	own, devices := &e.rules.shape.Requests, device.Only(e.shape.Requests)
	if len(devices) > 0 {
		with := device.With(*own, devices)
		own = &with
	}
	if own.Equal(e.shape.Requests) {
		return nil
	}
	return own
}

// entries are all that have a shape, and which of them must be looked at
// again because something that their shapes depend on has changed.
type entries struct {
	in         map[string]map[*Entry]struct{} // by namespace
	stale      map[*Entry]struct{}
	staleIn    map[string]struct{} // namespaces all of whose entries are stale
	allAreOld  bool
	claimUsers map[types.NamespacedName]map[*Entry]struct{}

	deviceUsers map[*Entry]struct{} // those with ResourceClaims
}

func newEntries() entries {
	return entries{
		in: map[string]map[*Entry]struct{}{}, stale: map[*Entry]struct{}{}, staleIn: map[string]struct{}{},
		claimUsers: map[types.NamespacedName]map[*Entry]struct{}{}, deviceUsers: map[*Entry]struct{}{},
	}
}

// add counts an entry and its claims.
func (es *entries) add(e *Entry) {
	if es.in[e.Namespace] == nil {
		es.in[e.Namespace] = map[*Entry]struct{}{}
	}
	es.in[e.Namespace][e] = struct{}{}
	es.stale[e] = struct{}{}
	if len(e.devices) > 0 {
		es.deviceUsers[e] = struct{}{}
	}
	for _, use := range e.uses {
		if use.Claim.Name == "" {
			continue
		}
		if es.claimUsers[use.Claim] == nil {
			es.claimUsers[use.Claim] = map[*Entry]struct{}{}
		}
		es.claimUsers[use.Claim][e] = struct{}{}
		if len(es.claimUsers[use.Claim]) == 2 { // shared from now on
			es.claimChanged(use.Claim)
		}
	}
}

func (es *entries) remove(e *Entry) {
	delete(es.stale, e)
	delete(es.deviceUsers, e)
	delete(es.in[e.Namespace], e)
	if len(es.in[e.Namespace]) == 0 {
		delete(es.in, e.Namespace)
	}
	for _, use := range e.uses {
		users := es.claimUsers[use.Claim]
		delete(users, e)
		switch len(users) {
		case 0:
			delete(es.claimUsers, use.Claim)
		case 1: // no longer shared
			es.claimChanged(use.Claim)
		}
	}
}

// claimChanged reports whether any pod uses the claim.
func (es *entries) claimChanged(claim types.NamespacedName) bool {
	for e := range es.claimUsers[claim] {
		es.stale[e] = struct{}{}
	}
	return len(es.claimUsers[claim]) > 0
}

// takeOld lists the stale entries, each once, and forgets that they are.
func (es *entries) takeOld() []*Entry {
	var out []*Entry
	for namespace, list := range es.in {
		if _, all := es.staleIn[namespace]; all || es.allAreOld {
			for e := range list {
				out = append(out, e)
				delete(es.stale, e)
			}
		}
	}
	for e := range es.stale {
		out = append(out, e)
	}
	clear(es.stale)
	clear(es.staleIn)
	es.allAreOld = false
	return out
}

// both are the PodDisruptionBudgets of two lists, each once.
func both(a, b string) string {
	if a == "" || b == "" || a == b {
		return cmp.Or(a, b)
	}
	names := append(strings.Split(a, ","), strings.Split(b, ",")...)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}
