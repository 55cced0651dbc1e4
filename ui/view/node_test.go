package view

import (
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/observe/record"
)

// Names that come from IP addresses come again: why an earlier node of the name went says nothing of this one.
func TestANodeGoesForItsOwnReason(t *testing.T) {
	const name = "ip-10-0-0-7.eu-west-1.compute.internal"
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	for claim, want := range map[string]string{
		"default-1": "was disrupted: Underutilized: 2 nodes hold the pods of 3 for less",
		"default-2": "",
		"":          "was disrupted: Underutilized: 2 nodes hold the pods of 3 for less", // of an older record
	} {
		v := Of(Input{
			Snapshot: &cluster.Snapshot{Now: at,
				Nodes: []cluster.Node{{Name: name, Claim: "default-1", Deleting: true}}},
			Statements: []record.Statement{{About: record.Object{Kind: record.Node, Name: name}, Claim: claim,
				Said: "was disrupted: Underutilized", Why: "2 nodes hold the pods of 3 for less", From: at.Add(-time.Hour)}},
		})
		if got := v.Nodes[0].Reason; got != want {
			t.Errorf("NodeClaim %q went: the node of default-1 drains because of %q, want %q", claim, got, want)
		}
	}
}
