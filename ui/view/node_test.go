package view

import (
	"slices"
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

// The screens say for which buffers a node keeps capacity, and which buffer lacks some.
func TestBuffersAreNamed(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	in := Input{
		Snapshot: &cluster.Snapshot{Now: at, Nodes: []cluster.Node{{Name: "n1", Claim: "c1", Ready: true, Initialized: true}},
			Buffers: []cluster.Buffer{{Namespace: "shop", Name: "spare", Pods: 3}, {Namespace: "shop", Name: "other"}}},
		Statements: []record.Statement{
			{About: record.Object{Kind: record.Node, Name: "n1"}, Topic: record.TopicBuffer,
				Said: "keeps capacity for pods that may come", Why: "1 pod of CapacityBuffer shop/spare", From: at},
			{About: record.Object{Kind: record.Buffer, Name: "shop/spare"}, Topic: record.TopicBuffer,
				Said: "lacks capacity for 2 of 3 virtual pods", Why: "NodePool/default: nodes limit reached", From: at},
		},
	}
	card, err := Explain(in, record.Object{Kind: record.Node, Name: "n1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Fact{"keeps capacity", "for 1 pod of CapacityBuffer shop/spare"}
	if !slices.Contains(card.Facts, want) {
		t.Errorf("the card has %v, want %v", card.Facts, want)
	}
	problem := Problem{Warning, "CapacityBuffer/shop/spare", "it lacks capacity for 2 of 3 virtual pods: NodePool/default: nodes limit reached"}
	if got := Of(in).Problems; len(got) != 1 || got[0] != problem {
		t.Errorf("problems are %v, want %v alone", got, problem)
	}
}
