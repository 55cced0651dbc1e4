package quota

import (
	"fmt"
	"maps"
	"sync"

	"github.com/daemok/daemok/core/cluster"
)

// Book is what is known of limits and of what counts against them. It is safe for
// concurrent use; the zero value knows nothing.
type Book struct {
	mu      sync.Mutex
	limits  map[Limit]int64
	running map[string]Share // by instance or reservation
	used    map[Limit]int64  // by those
	seq     uint64
}

// Saw takes in what was read: limits, and the instances and reservations that count against
// them, by ID.
func (b *Book) Saw(limits map[Limit]int64, running map[string]Share) {
	b.change(func() {
		b.limits, b.running, b.used = maps.Clone(limits), maps.Clone(running), map[Limit]int64{}
		for _, s := range running {
			b.used[s.Limit] += s.VCPUs
		}
	})
}

// Launched counts an instance that was just launched.
func (b *Book) Launched(id string, s Share) {
	b.change(func() {
		if _, counted := b.running[id]; counted || b.running == nil {
			return // nothing was read yet, and this one will be
		}
		b.running[id] = s
		b.used[s.Limit] += s.VCPUs
	})
}

// GaveBack counts instances no more that were just terminated.
func (b *Book) GaveBack(ids ...string) {
	b.change(func() {
		for _, id := range ids {
			b.used[b.running[id].Limit] -= b.running[id].VCPUs
			delete(b.running, id)
		}
	})
}

// change does something and notes whether another View comes of it.
func (b *Book) change(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used == nil {
		b.used = map[Limit]int64{}
	}
	before := b.rooms()
	do()
	if !maps.Equal(before, b.rooms()) {
		b.seq++
	}
}

// room is how large an instance may be under a limit.
type room struct{ limit, left int64 }

// largest is as many vCPUs as any instance has, which is u7inh-32tb.480xlarge: where so
// many are left, it does not matter how many more there are.
const largest = 1920

// rooms has those limits that forbid some instance. The caller holds mu.
func (b *Book) rooms() map[Limit]room {
	out := map[Limit]room{}
	for k, limit := range b.limits {
		if left := limit - b.used[k]; left < largest {
			out[k] = room{limit, max(left, 0)}
		}
	}
	return out
}

// View is what is left of limits at one moment. Its Seq changes when anything in it does.
type View struct {
	Seq   uint64
	rooms map[Limit]room
}

// View is what is left now.
func (b *Book) View() View {
	b.mu.Lock()
	defer b.mu.Unlock()
	return View{b.seq, b.rooms()}
}

// Beyond says why an instance of so many vCPUs is more than the account may run, and what
// helps; it is empty where it is not, as far as that is known.
func (v View) Beyond(group string, vCPUs int64, option cluster.Option) string {
	r, limited := v.rooms[Limit{group, option}]
	if !limited || vCPUs <= r.left {
		return ""
	}
	instances := "on-demand instances"
	if option == cluster.Spot {
		instances = "spot instances"
	}
	if vCPUs > r.limit {
		return fmt.Sprintf("AWS limits the account to %d vCPUs of %s of the group %s, and it has more: request more in Service Quotas", r.limit, instances, group)
	}
	return fmt.Sprintf("AWS limits the account to %d vCPUs of %s of the group %s, and too few are left: request more in Service Quotas", r.limit, instances, group)
}
