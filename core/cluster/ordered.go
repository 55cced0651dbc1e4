package cluster

import "slices"

// Ordered is for whom machines were ordered: by claim, the UIDs of the pods.
type Ordered map[string][]string

// Name lists with each machine and node the pods it was ordered for that still wait or are
// expected, in the order in which they stand here.
//
// kube-scheduler puts equal pods where it likes. Where one sits on a node that was
// ordered for another of the same shape, which waits, they exchange what was ordered for
// them: what is left is then the waiting one's, and where nothing was ordered for the
// first, as when it came later or its own order failed, nothing is left for the second. Nobody
// has lost a place while the node has room for him, and a pod that is ending takes none. The exchange is kept here.
//
// Cost: linear in pods that wait and that machines were ordered for, and in those on nodes whose
// pods wait; the latter once more for each time that an order which was handed on is taken
// as well on a node that was looked at before.
func (o Ordered) Name(s *Snapshot) {
	shapes := make(map[string]*Shape, len(s.Waiting))
	for i := range s.Waiting {
		shapes[s.Waiting[i].UID] = s.Waiting[i].Shape
	}
	entries := o.entries(s)
	for o.exchange(s, shapes, entries) {
		continue // what one has now may be taken as well
	}
	waiting := make(map[string]Pod, len(s.Waiting)+len(s.Expected))
	for _, p := range s.Expected {
		waiting[p.UID] = p
	}
	for _, p := range s.Waiting {
		waiting[p.UID] = p
	}
	still := func(claim string) (out []Pod) {
		for _, uid := range o[claim] {
			if p, waits := waiting[uid]; waits {
				out = append(out, p)
			}
		}
		return out
	}
	for i := range s.Machines {
		s.Machines[i].BoughtFor = still(s.Machines[i].Claim)
	}
	for i := range s.Nodes {
		s.Nodes[i].BoughtFor = still(s.Nodes[i].Claim)
	}
}

// exchange has equal pods exchange their orders, node after node, and reports whether any did:
// each time one more order is that of a pod that sits on its node.
// Given are the shapes of pods that wait, and the entries of pods.
func (o Ordered) exchange(s *Snapshot, waiting map[string]*Shape, entries map[string]*string) (did bool) {
	for i := range s.Nodes {
		list := o[s.Nodes[i].Claim]
		if !slices.ContainsFunc(list, func(uid string) bool { return waiting[uid] != nil }) {
			continue
		}
		others, free := othersOn(&s.Nodes[i], list), s.Nodes[i].Allocatable
		for j := range s.Nodes[i].Pods {
			free = free.Sub(s.Nodes[i].Pods[j].Shape.Requests)
		}
		for at, uid := range list {
			shape := waiting[uid]
			if shape == nil {
				continue
			}
			if shape.Requests.FitsIn(free) {
				free = free.Sub(shape.Requests)
				continue
			}
			if len(others[shape]) == 0 {
				continue
			}
			other := others[shape][0]
			others[shape] = others[shape][1:]
			if its := entries[other]; its != nil {
				*its, entries[uid] = uid, its
			}
			list[at], entries[other], did = other, &list[at], true
		}
	}
	return did
}

// entries finds the entry of a pod; of several it is one whose machine has not joined, where
// there is one.
func (o Ordered) entries(s *Snapshot) map[string]*string {
	out := map[string]*string{}
	note := func(claim string) {
		for at := range o[claim] {
			out[o[claim][at]] = &o[claim][at]
		}
	}
	for i := range s.Nodes {
		note(s.Nodes[i].Claim)
	}
	for i := range s.Machines {
		note(s.Machines[i].Claim)
	}
	return out
}

// othersOn lists the pods on a node that it was not ordered for and that stay there, by shape.
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
