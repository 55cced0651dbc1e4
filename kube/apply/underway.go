package apply

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
)

// underWay is a move as the ledger knows it, until it is carried out or given
// up.
type underWay struct {
	nodes   []string
	claims  []string           // of the instances in their place, whether they are launched by now or not
	orders  []cluster.Instance // those of them that are still to be launched
	targets map[string]target  // by UID of a pod: where it is to go
	pools   []cluster.PoolID   // of its nodes
	unread  string             // why it waits for live state; empty: it does not
}

// target is a node, or a claim whose instance may have become one.
type target struct {
	on     plan.Destination // OnNode or OnInstance
	target string
}

// sit notes where a pod is to go.
func (m *underWay) sit(uid string, to target) {
	if m.targets == nil {
		m.targets = map[string]target{}
	}
	m.targets[uid] = to
}

// begins records a move and reports whether it may begin: a node goes with one
// move at a time.
func (l *Ledger) begins(m *underWay) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, node := range m.nodes {
		if _, already := l.leaving[node]; already {
			return false
		}
	}
	if l.leaving == nil {
		l.leaving = map[string]struct{}{}
	}
	for _, node := range m.nodes {
		l.leaving[node] = struct{}{}
	}
	l.moves = append(l.moves, m)
	return true
}

// ends takes in that a move is over. Nodes that stay take pods again at once.
func (l *Ledger) ends(m *underWay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moves = slices.DeleteFunc(l.moves, func(x *underWay) bool { return x == m })
}

// waitsToRead takes in why a move waits for live state; empty: it goes on.
func (l *Ledger) waitsToRead(m *underWay, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.unread = why
}

// Unread reports pools with moves that wait for live state why they do, one reason for each.
func (l *Ledger) Unread() map[cluster.PoolID]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[cluster.PoolID]string{}
	for _, m := range l.moves {
		for _, pool := range m.pools {
			if m.unread != "" && out[pool] == "" {
				out[pool] = m.unread
			}
		}
	}
	return out
}

// movesUnderWay counts them.
func (l *Ledger) movesUnderWay() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.moves)
}

// mayCome reports whether a launch was issued that no watch has shown so far.
func (l *Ledger) mayCome(claim string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ordered := l.ordered[claim]
	return ordered
}

// isOrdered records that an instance which a move was to launch is launched. The caller holds the
// lock.
func (l *Ledger) isOrdered(claim string) {
	for _, m := range l.moves {
		m.orders = slices.DeleteFunc(m.orders, func(o cluster.Instance) bool { return o.Claim == claim })
	}
}

// beside shows a snapshot with all moves but one: as they are to come out, and that one as it is
// now. It changes no entry of the ledger.
func (l *Ledger) beside(m *underWay, s *cluster.Snapshot) *cluster.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := *s
	out.Instances, out.Nodes = slices.Clone(s.Instances), slices.Clone(s.Nodes)
	out.Pools, out.Quotas = slices.Clone(s.Pools), slices.Clone(s.Quotas)
	l.projectMoves(&out, m)
	return &out
}

// projectMoves shows the nodes of moves as closed, whether a watch has shown that by now or not.
// Where a move of ours is to bring their pods, they are shown already: on a node as pods of its
// own, on an instance being launched as room taken, and on both as pods that are expected. So no
// other plan uses their room, or lets the place go. What a move is yet to launch counts for the
// limits of pools. The pods of one move, if not nil, are shown where they are.
func (l *Ledger) projectMoves(s *cluster.Snapshot, but *underWay) {
	nodes := map[string]*cluster.Node{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if _, leaving := l.leaving[n.Name]; leaving {
			nodes[n.Name] = n
			if !n.Deleting {
				n.Close()
				countGone(s.Breakers, n.Pool)
			}
		}
	}
	if len(l.moves) == 0 {
		return
	}
	there := placesIn(s)
	for _, m := range l.moves {
		if m == but {
			continue
		}
		for i := range m.orders {
			s.Charge(&m.orders[i])
		}
		for _, name := range m.nodes {
			if n := nodes[name]; n != nil {
				there.bring(n, m)
			}
		}
	}
}

func countGone(breakers []cluster.Breaker, pool cluster.PoolID) {
	for i := range breakers {
		if breakers[i].Counts(pool) {
			breakers[i].Gone++
		}
	}
}

// bring shows pods of a closed node where the move puts them.
func (x places) bring(n *cluster.Node, m *underWay) {
	var stay []cluster.Pod
	for _, p := range n.Pods {
		if stays := p.Returns || p.OneOff != "" || p.Ending || p.Daemon || p.Mirror || p.DoNotDisrupt; stays || !x.sit(p, m) {
			stay = append(stay, p)
		}
	}
	n.Pods = stay
}

// places finds nodes and instances being launched of a snapshot that is being made.
type places struct {
	nodes     map[string]*cluster.Node // by name
	joined    map[string]*cluster.Node // by claim
	instances map[string]*cluster.Instance
	daemons   []cluster.Daemon
}

func placesIn(s *cluster.Snapshot) places {
	out := places{nodes: map[string]*cluster.Node{}, joined: map[string]*cluster.Node{}, instances: map[string]*cluster.Instance{},
		daemons: s.Daemons}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Deleting {
			out.nodes[n.Name] = n
			if n.Claim != "" {
				out.joined[n.Claim] = n
			}
		}
	}
	for i := range s.Instances {
		if m := &s.Instances[i]; !m.Deleting {
			out.instances[m.Claim] = m
		}
	}
	return out
}

// sit shows the pod where the move puts it. Where that is not known, as for a move that another
// process began, it is the first instance of the move with enough room. It reports false where it
// is nowhere.
func (x places) sit(p cluster.Pod, m *underWay) bool {
	if to, known := m.targets[p.UID]; known {
		return x.target(p, to, false)
	}
	return slices.ContainsFunc(m.claims, func(claim string) bool { return x.target(p, target{plan.OnInstance, claim}, true) })
}

// target puts the pod on a node or instance that is there, with enough room where that matters.
func (x places) target(p cluster.Pod, to target, roomy bool) bool {
	n := x.nodes[to.target]
	if to.on == plan.OnInstance {
		n = x.joined[to.target]
	}
	m := x.instances[to.target]
	switch {
	case n != nil && (!roomy || p.Shape.Requests.FitsIn(feasibility.Free(n, x.daemons))):
		p = p.MovedTo(n.Name)
		p.Returns = true
		n.Add(p)
		n.LaunchedFor = append(n.LaunchedFor, p)
	case n == nil && to.on == plan.OnInstance && m != nil && (!roomy || p.Shape.Requests.FitsIn(m.Allocatable)):
		m.Allocatable = m.Allocatable.Sub(p.Shape.Requests)
		m.LaunchedFor = append(m.LaunchedFor, p)
	default:
		return false
	}
	return true
}
