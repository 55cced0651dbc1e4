package launch

import (
	"testing"

	"github.com/daemok/daemok/cloud"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// An instance that shuts down already is nobody's, and one that a claim has is that one's.
func TestInstancesThatAreHandedToClaims(t *testing.T) {
	has := karpv1.NodeClaim{}
	has.Status.ProviderID = "aws:///a/i-taken"
	machine := func(id string, state cloud.State) cloud.Machine {
		return cloud.Machine{ID: id, ProviderID: "aws:///a/" + id, State: state}
	}
	got := unassigned([]cloud.Machine{
		machine("i-runs", cloud.Running), machine("i-ends", cloud.ShuttingDown), machine("i-taken", cloud.Running), machine("i-boots", cloud.Pending),
	}, []karpv1.NodeClaim{has})
	if len(got) != 2 || got[0].ID != "i-boots" || got[1].ID != "i-runs" {
		t.Errorf("handed to claims are %+v, want those that boot or run and that no claim has", got)
	}
}
