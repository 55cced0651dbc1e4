package network

import (
	"cmp"
	"slices"
	"sync"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Addresses counts the free addresses of subnets: what AWS said last, less what instances
// launched or being launched since then will take. It is safe for concurrent use. The zero
// value knows nothing.
type Addresses struct {
	mu     sync.Mutex
	free   map[string]int64 // as AWS said
	taken  map[string]int64 // by instances launched since
	flying map[string]int64 // by requests not answered yet
}

// Saw takes over what AWS says now.
func (a *Addresses) Saw(subnets []nodeclass.Subnet) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prepare()
	for _, s := range subnets {
		a.free[s.ID] = s.Free
		delete(a.taken, s.ID)
	}
}

// Free returns how many free addresses a subnet has; false where AWS was not asked yet.
func (a *Addresses) Free(id string) (int64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	free, known := a.free[id]
	return max(0, free-a.taken[id]-a.flying[id]), known
}

// Choose returns one subnet a zone, sorted by zone: the one with most free
// addresses, by ID between equals. Subnets for which usable is false are left
// out as long as the zone has another.
func (a *Addresses) Choose(subnets []nodeclass.Subnet, usable func(id string) bool) []nodeclass.Subnet {
	a.mu.Lock()
	defer a.mu.Unlock()
	sorted := slices.Clone(subnets)
	slices.SortFunc(sorted, func(x, y nodeclass.Subnet) int {
		return cmp.Or(cmp.Compare(x.Zone, y.Zone), compareUsable(usable(x.ID), usable(y.ID)),
			cmp.Compare(a.left(y), a.left(x)), cmp.Compare(x.ID, y.ID))
	})
	return slices.CompactFunc(sorted, func(x, y nodeclass.Subnet) bool { return x.Zone == y.Zone })
}

// Reserve counts n addresses as taken in each of the subnets until done is
// called with what was really taken, by subnet.
func (a *Addresses) Reserve(subnets []nodeclass.Subnet, n int64) (done func(took map[string]int64)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prepare()
	for _, s := range subnets {
		a.flying[s.ID] += n
	}
	return func(took map[string]int64) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, s := range subnets {
			a.flying[s.ID] -= n
			a.taken[s.ID] += took[s.ID]
		}
	}
}

// left is how many addresses a subnet has. The caller holds mu.
func (a *Addresses) left(s nodeclass.Subnet) int64 {
	free, known := a.free[s.ID]
	if !known {
		free = s.Free
	}
	return free - a.taken[s.ID] - a.flying[s.ID]
}

// prepare makes the maps. The caller holds mu.
func (a *Addresses) prepare() {
	if a.free == nil {
		a.free, a.taken, a.flying = map[string]int64{}, map[string]int64{}, map[string]int64{}
	}
}

func compareUsable(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}
