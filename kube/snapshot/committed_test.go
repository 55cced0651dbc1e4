package snapshot

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/commitment"
)

// SC-631, SC-632: Instances of the account use its commitments that are no nodes of the cluster, whatever their tags.
// The end of a commitment changes what plans know, and a reading before it does not.
func TestTheAccountsCommitments(t *testing.T) {
	large := commitment.Usage{InstanceType: "m5.large", Zone: "a", OnDemand: 96_000}
	now := start
	k := New(nothingOffered, func() time.Time { return now })
	k.Configure(func(s *Settings) {
		s.CommitmentsIn = "kube-system"
		s.Account = func() cloud.AccountCommitments {
			return cloud.AccountCommitments{
				Commitments: commitment.Commitments{Reserved: []commitment.ReservedInstances{
					{ID: "r-1", InstanceType: "m5.large", Count: 2, Account: true},
				}},
				EndsAt: map[string]time.Time{"r-1": start.Add(time.Hour)},
				Running: []cloud.RunningInstance{
					{ProviderID: node("web").Spec.ProviderID, Usage: large},
					{ProviderID: "aws:///a/i-other", Usage: large},
				},
			}
		}
	})
	k.Seen(node("web"))
	s := k.Snapshot()
	if c := s.Commitments; len(c.Reserved) != 1 || len(c.Others) != 1 || c.Others[0].Count != 1 {
		t.Fatalf("commitments are %+v, want one, and one other instance", c)
	}
	if !k.Commitments.OfAccount() {
		t.Error("an entry of the ConfigMap may not be of the account's commitments")
	}
	changes := func() (is bool) {
		t.Helper()
		for len(k.changed) > 0 {
			<-k.changed
		}
		if err := k.Commitments.Read(t.Context(), fake.NewClientBuilder().Build()); err != nil {
			t.Fatal(err)
		}
		return len(k.changed) > 0
	}
	if now = start.Add(59 * time.Minute); changes() {
		t.Error("there is a change though no commitment has ended")
	}
	if now = start.Add(time.Hour); !changes() {
		t.Error("there is no change though a commitment has ended")
	}
	if c := k.Snapshot().Commitments; c.Any() || len(c.Others) != 0 {
		t.Errorf("commitments are %+v, want none after their end", c)
	}
}
