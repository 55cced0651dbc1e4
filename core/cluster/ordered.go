package cluster

import "slices"

// Ordered is for which pods instances were launched: by claim, the UIDs of the pods.
type Ordered map[string][]string

// Name lists with each instance and node the pods it was launched for that still wait, are expected
// or sit on a node that is being deleted, in the order in which they stand here.
//
// kube-scheduler puts equal pods where it likes. Where one sits on a node that was launched for
// another of the same shape, which waits, they exchange what was launched for them: what is left is
// then the waiting one's, and where nothing was launched for the first, as when it came later or
// its own launch failed, nothing is left for the second. No pod has lost its place while the node
// has room for it, and one that is ending takes none. The exchange is kept here.
//
// Of several equal ones on the node that pod takes part whose own instance is still to come, else
// one whose own node is there; ties go by the order of the node's pods. What is being deleted does
// not count.
//
// Cost: linear in pods that wait and that instances were launched for, and in those on nodes whose
// pods wait, for each pod that waits for that node; the latter once more for each launch that is
// handed on to another node.
func (o Ordered) Name(s *Snapshot) {
	e := exchange{orders: o, nodes: map[string]*Node{}, waiting: make(map[string]*Shape, len(s.Waiting))}
	for i := range s.Waiting {
		e.waiting[s.Waiting[i].UID] = s.Waiting[i].Shape
	}
	var claims []string // whose nodes may be taken
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if _, another := e.nodes[n.Claim]; another || n.Deleting {
			continue
		}
		e.nodes[n.Claim] = n
		if slices.ContainsFunc(o[n.Claim], func(uid string) bool { return e.waiting[uid] != nil }) {
			claims = append(claims, n.Claim)
		}
	}
	if len(claims) > 0 {
		e.entries = o.entries(s)
	}
	for ; len(claims) > 0; claims = claims[1:] {
		claims = append(claims, e.on(claims[0])...) // what one has now may be taken as well
	}
	waiting := needy(s)
	still := func(claim string) (out []Pod) {
		for _, uid := range o[claim] {
			if p, waits := waiting[uid]; waits {
				out = append(out, p)
			}
		}
		return out
	}
	for i := range s.Instances {
		s.Instances[i].LaunchedFor = still(s.Instances[i].Claim)
	}
	for i := range s.Nodes {
		s.Nodes[i].LaunchedFor = still(s.Nodes[i].Claim)
	}
}

// needy lists by UID the pods that wait or are expected, and those that return from nodes that are being deleted.
func needy(s *Snapshot) map[string]Pod {
	out := make(map[string]Pod, len(s.Waiting)+len(s.Expected))
	for i := range s.Nodes {
		for _, p := range s.Nodes[i].Pods {
			if s.Nodes[i].Deleting && p.Returns && !p.Ending {
				out[p.UID] = p
			}
		}
	}
	for _, p := range slices.Concat(s.Expected, s.Waiting) {
		out[p.UID] = p
	}
	return out
}

// exchange is what equal pods give each other.
type exchange struct {
	orders  Ordered
	nodes   map[string]*Node  // by claim: the first that stays
	waiting map[string]*Shape // the shapes of pods that wait
	entries map[string]entry  // where a pod stood before any exchange, until it takes part in one
}

// entry is the place of a pod among those that an instance was launched for.
type entry struct {
	claim string
	at    int
	comes bool // the instance has not joined
}

// on has pods that wait exchange what was launched for them with equal ones that sit on the node of
// the claim, and returns the claims whose nodes have got a pod that waits. After each exchange one
// more pod sits on the node that was launched for it.
func (e *exchange) on(claim string) (handedOn []string) {
	n, list := e.nodes[claim], e.orders[claim]
	others, free := othersOn(n, list), n.Allocatable
	for i := range n.Pods {
		free = free.Sub(n.Pods[i].Takes())
	}
	for at, uid := range list {
		shape := e.waiting[uid]
		if shape == nil {
			continue
		}
		if shape.Requests.FitsIn(free) {
			free = free.Sub(shape.Requests)
			continue
		}
		other := e.best(others[shape])
		if other == "" {
			continue
		}
		others[shape] = slices.DeleteFunc(others[shape], func(uid string) bool { return uid == other })
		if its, has := e.entries[other]; has {
			e.orders[its.claim][its.at] = uid
			if !its.comes {
				handedOn = append(handedOn, its.claim)
			}
		}
		list[at] = other
	}
	return handedOn
}

// best is the pod whose launched instance is worth most to another; empty: there is none.
func (e *exchange) best(pods []string) string {
	worth := func(uid string) int {
		switch its, has := e.entries[uid]; {
		case !has:
			return 1
		case !its.comes:
			return 2
		}
		return 3
	}
	best, most := "", 0
	for _, uid := range pods {
		if w := worth(uid); w > most {
			best, most = uid, w
		}
	}
	return best
}

// entries finds the entry of a pod; of several it is one whose instance has not joined, where there
// is one. Nothing comes of what is being deleted.
func (o Ordered) entries(s *Snapshot) map[string]entry {
	out := map[string]entry{}
	note := func(claim string, comes bool) {
		for at, uid := range o[claim] {
			out[uid] = entry{claim, at, comes}
		}
	}
	for i := range s.Nodes {
		if !s.Nodes[i].Deleting {
			note(s.Nodes[i].Claim, false)
		}
	}
	for i := range s.Instances {
		if !s.Instances[i].Deleting {
			note(s.Instances[i].Claim, true)
		}
	}
	return out
}

// othersOn lists the pods on a node that it was not launched for and that stay there, by shape.
func othersOn(n *Node, list []string) map[*Shape][]string {
	its := map[string]bool{}
	for _, uid := range list {
		its[uid] = true
	}
	out := map[*Shape][]string{}
	for i := range n.Pods {
		if p := &n.Pods[i]; !p.Ending && !p.Daemon && !p.Mirror && !its[p.UID] {
			out[p.Shape] = append(out[p.Shape], p.UID)
		}
	}
	return out
}
