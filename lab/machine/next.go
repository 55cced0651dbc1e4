package machine

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/daemok/daemok/internal/pause"
)

// next are commands for instances that boot from now on, of the types that match.
type next struct {
	kind string            // as of path.Match
	tags map[string]string // as if their instances had them
}

// Order has every instance of the types that match behave, at its next boot, as if its
// instance had these tags (TagBootAfter and the others); empty tags take back the command
// for the same pattern. The instance's own tags count before, later commands before earlier
// ones.
func (f *Fleet) Order(kind string, tags map[string]string) error {
	if _, err := path.Match(kind, ""); err != nil {
		return fmt.Errorf("pattern %q: %w", kind, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = slices.DeleteFunc(f.next, func(n next) bool { return n.kind == kind })
	if len(tags) > 0 {
		f.next = append(f.next, next{kind, maps.Clone(tags)})
	}
	return nil
}

// ordersFor are those of the instance's tags and those for its type.
func (f *Fleet) ordersFor(i Instance) orders {
	tags := map[string]string{}
	f.mu.Lock()
	for _, n := range f.next {
		if ok, _ := path.Match(n.kind, i.Type); ok { // checked by Order
			maps.Copy(tags, n.tags)
		}
	}
	f.mu.Unlock()
	maps.Copy(tags, i.Tags)
	i.Tags = tags
	return ordersOf(i)
}

// MapRole lets nodes of a role in, or keeps them out from their next
// registration on; nodes that have joined stay.
func (f *Fleet) MapRole(role string, mapped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unmapped[role] = !mapped
}

// Cut takes an instance off the network, as when its zone is lost, or puts it back: its node says
// nothing, and one that boots does not join meanwhile. It need not have power yet, and the command is
// safe to repeat.
func (f *Fleet) Cut(id string, cut bool) {
	f.mu.Lock()
	was := f.cut[id]
	if cut {
		f.cut[id] = true
	} else {
		delete(f.cut, id)
	}
	var a *agent
	if m := f.machines[id]; m != nil {
		a = m.node
	}
	f.mu.Unlock()
	if a != nil && was != cut {
		a.silence(cut)
	}
}

func (f *Fleet) isCut(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cut[id]
}

// connected waits until an instance has a network; it reports whether that was before ctx
// ended.
func (f *Fleet) connected(ctx context.Context, console *console, id string) bool {
	for wait := retryMin; f.isCut(id); wait = min(2*wait, retryMax) {
		console.printf("kubelet: unable to register node with API server: dial tcp: i/o timeout")
		if pause.For(ctx, wait) != nil {
			return false
		}
	}
	return ctx.Err() == nil
}

// letIn waits until the role of an instance is mapped, as a kubelet does that gets no
// answer but a refusal; it reports whether that was before ctx ended.
func (f *Fleet) letIn(ctx context.Context, console *console, role string) bool {
	for wait := retryMin; f.keepsOut(role); wait = min(2*wait, retryMax) {
		console.printf("kubelet: unable to register node with API server: Unauthorized (role %s is not mapped)", role)
		if pause.For(ctx, wait) != nil {
			return false
		}
	}
	return ctx.Err() == nil
}

func (f *Fleet) keepsOut(role string) bool {
	if f.options.MayJoin != nil && !f.options.MayJoin(role) {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unmapped[role]
}

// Machine is what can be said of an instance.
type Machine struct {
	Instance Instance
	State    string // booting, not ready, ready or silent
	Console  []string
}

// Machines returns those with power whose instance ID or node name match a
// pattern as of path.Match, sorted by ID.
func (f *Fleet) Machines(pattern string) ([]Machine, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []Machine
	for _, id := range slices.Sorted(maps.Keys(f.machines)) {
		m := f.machines[id]
		byID, _ := path.Match(pattern, id) // checked above
		byName, _ := path.Match(pattern, m.instance.PrivateDNS)
		if m.powerOff != nil && (byID || byName) {
			found = append(found, Machine{Instance: m.instance, State: m.node.state(), Console: m.console.lines()})
		}
	}
	return found, nil
}

// state is in one word or two how far the kubelet is; nil is one that has not
// started.
func (a *agent) state() string {
	if a == nil {
		return "booting"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.silent:
		return "silent"
	case a.ready:
		return "ready"
	}
	return "not ready"
}
