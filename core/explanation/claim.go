package explanation

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// used reports whether a volume for one pod at a time is in use already.
func (w *World) used(s *cluster.Shape) bool {
	return slices.ContainsFunc(s.Volumes, w.inUse)
}

func (w *World) inUse(v cluster.Volume) bool {
	return v.Claim != "" && v.Exclusive && w.Held[v.Claim]
}

// claimInUse names the volume claim for one pod at a time that pods of the shape
// wait for, and the pod that has it.
func (w *World) claimInUse(s *cluster.Shape) string {
	for _, v := range s.Volumes {
		if !w.inUse(v) {
			continue
		}
		text := "volume claim " + v.Claim + " is ReadWriteOncePod and "
		if user, ok := w.userOf(v.Claim); ok {
			return text + user + " uses it: it is free when that pod is gone"
		}
		return text + "in use by another pod"
	}
	return "a volume claim of it is ReadWriteOncePod, and another pod uses it"
}

func (w *World) userOf(claim string) (string, bool) {
	uses := func(s *cluster.Shape) bool {
		return slices.ContainsFunc(s.Volumes, func(v cluster.Volume) bool { return v.Claim == claim })
	}
	for i := range w.Snapshot.Nodes {
		for _, p := range w.Snapshot.Nodes[i].Pods {
			if uses(p.Shape) && !(w.Snapshot.Nodes[i].Deleting && p.Moves()) {
				return p.Namespace + "/" + p.Name, true
			}
		}
	}
	for x := range w.Placed {
		if uses(x.Shape) {
			return x.Namespace + "/" + x.Name, true
		}
	}
	return "", false
}
