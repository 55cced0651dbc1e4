package main

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/doctor"
)

// A plan of a user who may read a part of the account's commitments is made with that part, and says which right is
// missing for the rest. The doctor says so too.
func TestCommitmentsThatUsersMayNotRead(t *testing.T) {
	controller := commandtest.Installed("ACCOUNT_COMMITMENTS=true")
	open := clusterOf(t, controller)
	restrictedAccount(t, open, "", "ReadSavingsPlans")
	t.Setenv("CLUSTER_NAME", "prod")
	t.Setenv("ACCOUNT_COMMITMENTS", "true")
	provider, err := inspect.Market(t.Context(), inspect.NewTarget())
	if err != nil {
		t.Fatal(err)
	}
	got, err := planJSONOf(t, liveCluster(t, provider, controller), exampleFiles(t))
	if err != nil {
		t.Fatal(err)
	}
	const right = "; let your own user or role call savingsplans:DescribeSavingsPlans"
	said := strings.Join(got.Unread, "\n")
	if !strings.Contains(said, "left out here: Savings Plans: ") || !strings.Contains(said, right) ||
		strings.Contains(said, "Reserved Instances") {
		t.Errorf("it says %q, want that Savings Plans alone are left out, and the right", said)
	}
	findings, err := examinedBy(t, open)
	if err == nil {
		t.Error("the doctor finds nothing wrong")
	}
	for _, f := range findings {
		if f.Check == "commitments" && f.Severity == doctor.Unknown && strings.Contains(f.Message, "Savings Plans") {
			return
		}
	}
	t.Errorf("the doctor does not say that Savings Plans may not be read: %+v", findings)
}
