package launch

import (
	"testing"

	"github.com/daemok/daemok/cloud"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// An instance that shuts down already is none's, and one that a claim has is that one's.
func TestInstancesThatAreHandedToClaims(t *testing.T) {
	has := karpv1.NodeClaim{}
	has.Status.ProviderID = "aws:///a/i-taken"
	instance := func(id string, state cloud.State) cloud.Instance {
		return cloud.Instance{ID: id, ProviderID: "aws:///a/" + id, State: state}
	}
	got := unassigned([]cloud.Instance{
		instance("i-runs", cloud.Running), instance("i-ends", cloud.ShuttingDown), instance("i-taken", cloud.Running), instance("i-boots", cloud.Pending),
	}, []karpv1.NodeClaim{has})
	if len(got) != 2 || got[0].ID != "i-boots" || got[1].ID != "i-runs" {
		t.Errorf("handed to claims are %+v, want those that boot or run and that no claim has", got)
	}
}
