package snapshot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestArrivalsFollowPods: pods come, get a node, go and come back by chance, and those
// that wait are told of at every moment, as the snapshot shows them.
func TestArrivalsFollowPods(t *testing.T) {
	r, k, waits := rand.New(rand.NewPCG(1, 3)), newKeeper(), map[string]bool{}
	k.NodeSeen(node("n1"))
	for range 400 {
		name := fmt.Sprint("p-", r.IntN(20))
		delete(waits, "uid-"+name)
		switch r.IntN(3) {
		case 0:
			k.PodSeen(pod(name, "1", ""), false)
			waits["uid-"+name] = true
		case 1:
			k.PodSeen(pod(name, "1", "n1"), false)
		default:
			k.PodGone("default", name)
		}
		var got, shown []string
		list, _, _ := k.Arrivals()
		for _, a := range list {
			got = append(got, a.UID)
		}
		for _, p := range k.Snapshot().Waiting {
			shown = append(shown, p.UID)
		}
		slices.Sort(got)
		slices.Sort(shown)
		if !slices.Equal(got, shown) || len(got) != len(waits) || slices.ContainsFunc(got, func(uid string) bool { return !waits[uid] }) {
			t.Fatalf("%v wait, the snapshot shows %v, want %v", got, shown, waits)
		}
	}
}
