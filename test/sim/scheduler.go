package sim

import (
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/forecast"
)

// kube-scheduler binds about fifty pods a second.
const (
	bindEvery = 500 * time.Millisecond
	bindsMost = 25
)

// scheduler is kube-scheduler: it gives pods that wait the node that it likes
// best of those that are there, in an order of its own.
type scheduler struct {
	world *World
	due   bool
	turns uint64
}

// look has it look soon, unless it does so already.
func (s *scheduler) look() {
	if s.due {
		return
	}
	s.due = true
	s.world.after(bindEvery, func() {
		s.due = false
		s.bind()
	})
}

func (s *scheduler) bind() {
	w := s.world
	waits := map[string]*pod{}
	for _, p := range w.pods {
		if p.at == nil && !p.Ending {
			waits[p.UID] = p
		}
	}
	if len(waits) == 0 {
		return
	}
	s.turns++
	view := w.scene()
	turns := forecast.New(view, view.Waiting).Simulate(nil, nil, forecast.Opening{Together: true, Seed: w.Seed<<20 + s.turns}).Turns
	for _, t := range turns[:min(len(turns), bindsMost)] {
		w.bind(waits[t.Pod.UID], w.instanceOf(t.Node))
	}
}

// closed keeps every pod away.
var closed = constraint.Taint{Key: "sim/closed", Effect: constraint.NoSchedule}

// scene is the world as kube-scheduler sees it: pods count where they are, and
// none comes to a node that is not ready or is to go.
func (w *World) scene() *cluster.Snapshot {
	s := w.photo()
	s.Instances = nil
	var nodes []cluster.Node
	for i := range s.Nodes {
		n := s.Nodes[i]
		if m := w.instanceOf(n.Claim); !m.open() {
			n.Deleting, n.Taints = false, append(n.Taints, closed)
		}
		nodes = append(nodes, n)
	}
	s.Nodes = nodes
	return s
}
