package cluster

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/daemok/daemok/core/commitment"
)

// Snapshot is what was known at one moment. It is never modified: With and
// Without return a new one and share what did not change. Lists are sorted by
// name.
type Snapshot struct {
	Revision  uint64    // grows with every change seen; not a time
	Now       time.Time // UTC; the only time the core knows
	Waiting   []Pod     // pods that need a place, sorted by namespace, name
	Expected  []Pod     // pods that have just come, and those of nodes that were to go and are gone, as they were, whose owners are yet to make others; room is kept for them, and nothing launched
	Nodes     []Node
	Instances []Instance
	Pools     []Pool
	Quotas    []Quota
	Overlays  []Overlay // in the order in which they count; the catalogues of Pools are what they make of them
	Daemons   []Daemon
	Buffers   []Buffer
	Requested []ProvisioningRequest
	PDBs      []PodDisruptionBudget
	Breakers  []Breaker
	Freeze    string // why no node may be disturbed for the time being, by its user's word or since the clock is in doubt; empty: it may

	FreezeUntil time.Time // when that ends by itself; zero: never, or there is none
	FreezeAll   bool      // it holds nodes past their age too: the clock is in doubt, and so is their age

	// Unread is what is not known yet though nodes may be needed for it: until it is, none goes; empty: all is known.
	Unread string

	Repair Repair // of nodes that are of no pool

	Commitments commitment.Commitments // of the account, in its Region
}

// Sort puts every list in its order. Builders call it once, before the
// snapshot is shared.
func (s *Snapshot) Sort() {
	for i := range s.Nodes {
		slices.SortFunc(s.Nodes[i].Pods, byPod)
	}
	s.SortLists()
}

func byPod(a, b Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// Add puts the pod on the node, in its order. The list of pods is the node's own then.
func (n *Node) Add(p Pod) {
	at, _ := slices.BinarySearchFunc(n.Pods, p, byPod)
	own := make([]Pod, 0, len(n.Pods)+1)
	n.Pods = append(append(append(own, n.Pods[:at]...), p), n.Pods[at:]...)
}

// SortLists puts every list in its order but the pods of nodes, which are in theirs.
func (s *Snapshot) SortLists() {
	slices.SortFunc(s.Waiting, byPod)
	slices.SortFunc(s.Expected, byPod)
	if !sort.SliceIsSorted(s.Nodes, func(i, j int) bool { return s.Nodes[i].Name < s.Nodes[j].Name }) { // nodes are large to compare as values
		slices.SortFunc(s.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	}
	slices.SortFunc(s.Instances, func(a, b Instance) int { return cmp.Compare(a.Claim, b.Claim) })
	slices.SortFunc(s.Pools, func(a, b Pool) int {
		return cmp.Or(cmp.Compare(a.ID.Name, b.ID.Name), cmp.Compare(a.ID.Kind, b.ID.Kind))
	})
	slices.SortFunc(s.Quotas, func(a, b Quota) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Overlays, Overlay.Compare)
	slices.SortFunc(s.PDBs, func(a, b PodDisruptionBudget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(s.Breakers, func(a, b Breaker) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Daemons, func(a, b Daemon) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(s.Buffers, func(a, b Buffer) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(s.Requested, func(a, b ProvisioningRequest) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// Without returns a snapshot in which the named nodes are gone and their
// pods that need a place again are waiting.
func (s *Snapshot) Without(nodes ...string) *Snapshot {
	out := *s
	out.Nodes = nil
	out.Waiting = slices.Clone(s.Waiting)
	for _, n := range s.Nodes {
		if !slices.Contains(nodes, n.Name) {
			out.Nodes = append(out.Nodes, n)
			continue
		}
		for _, p := range n.Pods {
			if p.Returns {
				out.Waiting = append(out.Waiting, p.MovedTo(""))
			}
		}
	}
	out.Sort()
	return &out
}

// Shapes lists the shapes of all pods, daemons, buffers and requests, each once, by first use. Cost:
// linear in pods.
func (s *Snapshot) Shapes() []*Shape {
	var out []*Shape
	known := map[*Shape]bool{nil: true}
	use := func(x *Shape) {
		if !known[x] {
			known[x] = true
			out = append(out, x)
		}
	}
	usePods := func(pods []Pod) {
		for i := range pods {
			use(pods[i].Shape)
		}
	}
	usePods(s.Waiting)
	usePods(s.Expected)
	for i := range s.Nodes {
		usePods(s.Nodes[i].Pods)
		usePods(s.Nodes[i].LaunchedFor)
	}
	for i := range s.Instances {
		usePods(s.Instances[i].LaunchedFor)
	}
	for i := range s.Daemons {
		use(s.Daemons[i].Shape)
	}
	for i := range s.Buffers {
		use(s.Buffers[i].Shape)
	}
	for i := range s.Requested {
		for j := range s.Requested[i].Sets {
			use(s.Requested[i].Sets[j].Shape)
		}
	}
	return out
}

// Pool returns the pool with the given identity.
func (s *Snapshot) Pool(id PoolID) (*Pool, bool) {
	for i := range s.Pools {
		if s.Pools[i].ID == id {
			return &s.Pools[i], true
		}
	}
	return nil, false
}
