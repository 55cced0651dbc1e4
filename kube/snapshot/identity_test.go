package snapshot

import "testing"

// SC-10: a node whose instance none named yet holds nothing up: it is a
// node, and counts as none's.
func TestANodeWithoutAInstancesIdentityIsANode(t *testing.T) {
	k := newClusterState()
	k.PoolSeen(pool("default"))
	stranger := node("n")
	stranger.Spec.ProviderID = ""
	k.Seen(stranger)
	k.Seen(pod("bound", "1", "n"))
	s := k.Snapshot()
	if len(s.Nodes) != 1 || s.Nodes[0].Claim != "" || len(s.Nodes[0].Pods) != 1 {
		t.Errorf("nodes = %+v, want one that is not ours, with its pod", s.Nodes)
	}
}
