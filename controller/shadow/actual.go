package shadow

import (
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// actual is what was seen of the other autoscaler's nodes and of pods that wait.
type actual struct {
	nodes   map[string]*seenNode
	waiting map[string]time.Time // pods by UID: since when each waits
}

// seenNode is a node of the actual cluster.
type seenNode struct {
	instance string
	pods     int  // that would come again elsewhere, before it was drained
	gone     bool // it went when the process began: it does not count
}

// watch counts nodes that came and went, the pods that left with the latter, and how long pods waited. A node counts
// as gone once it has vanished, with the pods that it had before it was drained: the other may keep it yet.
func (w *World) watch(s *cluster.Snapshot) {
	a, first := &w.actual, w.actual.nodes == nil
	if first {
		a.nodes, a.waiting = map[string]*seenNode{}, map[string]time.Time{}
	}
	launched, terminated, evicted := 0, 0, 0
	lost := func(is *seenNode) {
		if !is.gone {
			terminated, evicted = terminated+1, evicted+is.pods
		}
	}
	there := map[string]bool{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !isOurs(s, n) {
			continue
		}
		there[n.Name] = true
		is := a.nodes[n.Name]
		if is != nil && is.instance != n.InstanceID { // the name of one that has gone has come again
			lost(is)
			is = nil
		}
		if is == nil {
			is = &seenNode{instance: n.InstanceID, gone: first && n.Deleting}
			a.nodes[n.Name] = is
			if !first {
				launched++
			}
		}
		if !n.Deleting {
			is.pods, is.gone = returning(n), false
		}
	}
	for name, is := range a.nodes {
		if there[name] {
			continue
		}
		lost(is)
		delete(a.nodes, name)
	}
	w.Book.Happened(launched, terminated, evicted)
	w.Book.Waited(a.waited(s), nil)
}

func returning(n *cluster.Node) (pods int) {
	for i := range n.Pods {
		if p := &n.Pods[i]; p.Returns && !p.Ending {
			pods++
		}
	}
	return pods
}

// waited lists how long pods waited that have a node now.
func (a *actual) waited(s *cluster.Snapshot) (out []time.Duration) {
	still := map[string]time.Time{}
	for i := range s.Waiting {
		still[s.Waiting[i].UID] = s.Waiting[i].CreatedAt
	}
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			if since, did := a.waiting[s.Nodes[i].Pods[j].UID]; did {
				out = append(out, s.Now.Sub(since))
			}
		}
	}
	a.waiting = still
	return out
}
