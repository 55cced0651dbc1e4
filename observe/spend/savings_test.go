package spend_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/observe/spend"
)

// story is a plan that is carried out, and what is counted and on record of it.
type story struct {
	savings *spend.Savings
	kept    record.Record
	now     time.Time
	state   *cluster.Snapshot
}

func newStory(nodes ...cluster.Node) *story {
	o := &story{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	o.joins(nodes...)
	o.savings = spend.NewSavings(func() *cluster.Snapshot { return o.state }, &o.kept, func() time.Time { return o.now })
	return o
}

// joins has the cluster consist of these nodes.
func (o *story) joins(nodes ...cluster.Node) { o.state = &cluster.Snapshot{Now: o.now, Nodes: nodes} }

func (o *story) plans(moves ...plan.Move) { o.savings.Planned(o.state, plan.Plan{Moves: moves}, 0) }

// launches has an instance launched in place of a move's nodes, for $0.05 as it is planned.
func (o *story) launches(m plan.Move, claim string) {
	o.savings.Replacing(m, apply.Launched{Launch: plan.Launch{Choice: plan.Choice{Price: 50_000}},
		Claim: &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim}}})
}

func (o *story) said(node string) (out []string) {
	for _, s := range o.kept.About(record.Object{Kind: record.Node, Name: node}) {
		out = append(out, append([]string{s.Said}, s.More...)...)
	}
	return out
}

// saved is what is on record of the nodes a and b.
func (o *story) saved() []spend.Saving {
	var all []record.Statement
	for _, node := range []string{"a", "b"} {
		all = append(all, o.kept.About(record.Object{Kind: record.Node, Name: node})...)
	}
	return spend.Noted(all)
}

// counted is what has been counted, without series that are zero.
func (o *story) counted(t *testing.T) []string { return scrape(t, o.savings) }

// move lets nodes go of the pool default.
func move(saves quantity.MicroUSDPerHour, reason plan.RemovalReason, nodes ...string) plan.Move {
	m := plan.Move{Saves: saves}
	for _, n := range nodes {
		m.Removals = append(m.Removals, plan.Removal{Node: n, Pool: cluster.PoolID{Kind: "NodePool", Name: "default"}, Reason: reason})
	}
	return m
}

func ended(m plan.Move) apply.Ended {
	return apply.Ended{Move: m, Gone: slices.Repeat([]bool{true}, len(m.Removals))}
}

// A replacement that costs what was planned realises what was promised.
func TestAReplacementSavesWhatWasPlanned(t *testing.T) {
	o := newStory(node("a"), node("b"))
	m := move(158_000, plan.Underutilized, "a", "b")
	m.Launches = []plan.Launch{{}}
	o.plans(m)
	o.launches(m, "new")
	o.savings.Moved(ended(m))
	want := []string{
		"daemok_savings_promised_total nodepool=default reason=Underutilized 0.158",
		"daemok_savings_realised_total nodepool=default reason=Underutilized 0.158",
	}
	if got := o.counted(t); !reflect.DeepEqual(got, want) {
		t.Errorf("counted %q, want %q", got, want)
	}
	if got, want := o.said("b"), []string{"its disruption saves $0.158000/h, as planned", "2 nodes together"}; !reflect.DeepEqual(got, want) {
		t.Errorf("on record is %q, want %q", got, want)
	}
	if got := o.saved(); len(got) != 1 || !slices.Equal(got[0].Nodes, []string{"a", "b"}) || got[0].Promised != 0.158 || got[0].Realised != 0.158 {
		t.Errorf("saved on record: %+v, want $0.158 promised and realised by one decision about a and b", got)
	}
}

// AWS chose a more expensive instance than planned: less is saved, or nothing.
func TestAReplacementMayCostMore(t *testing.T) {
	for _, tt := range []struct {
		price quantity.MicroUSDPerHour
		want  []string
		said  string
	}{
		{80_000, []string{"daemok_savings_promised_total nodepool=default reason=Underutilized 0.054",
			"daemok_savings_realised_total nodepool=default reason=Underutilized 0.024"}, "its disruption saves $0.024000/h: $0.054000/h was planned"},
		{204_000, []string{"daemok_savings_overruns_total nodepool=default reason=Underutilized 0.1",
			"daemok_savings_promised_total nodepool=default reason=Underutilized 0.054"},
			"its disruption costs $0.100000/h: its replacements cost more than planned, and $0.054000/h was to be saved"},
	} {
		o := newStory(node("a"))
		m := move(54_000, plan.Underutilized, "a")
		m.Launches = []plan.Launch{{}}
		o.plans(m)
		o.launches(m, "claim-c")
		other := node("c")
		other.Price = tt.price
		o.joins(node("a"), other)
		o.savings.Moved(ended(m))
		if got := o.counted(t); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("counted %q, want %q", got, tt.want)
		}
		if got := o.said("a"); !reflect.DeepEqual(got, []string{tt.said}) {
			t.Errorf("on record is %q, want %q", got, tt.said)
		}
	}
}

// What commitments pay belongs to what is saved: a replacement that they pay for costs nothing, whatever its price,
// and a node that they pay for saves nothing unless another takes over what it used.
func TestCommitmentsCountForWhatIsSaved(t *testing.T) {
	typed := func(name, instanceType string) cluster.Node {
		n := node(name)
		n.Labels = constraint.NewLabels(map[string]string{cluster.LabelCapacityType: "on-demand",
			cluster.LabelInstanceType: instanceType, cluster.LabelZone: "a"})
		return n
	}
	reserved := commitment.Commitments{
		Reserved: []commitment.ReservedInstances{{ID: "web", InstanceType: "c5.large", Count: 1}}}

	o := newStory(typed("a", "m5.large"))
	o.state.Commitments = reserved
	m := move(104_000, plan.Underutilized, "a")
	m.Launches = []plan.Launch{{Name: "new", Choice: plan.Choice{Kind: "c5.large", Zone: "a", Option: cluster.OnDemand,
		Price: 15, Priced: true, Cover: cluster.Cover{By: "web", Listed: 150_000}}}}
	o.plans(m)
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "new"}}
	o.savings.Replacing(m, apply.Launched{Launch: m.Launches[0], Claim: claim})
	o.savings.Moved(ended(m))
	said := []string{"its disruption saves $0.104000/h, as planned"}
	if got, want := o.said("a"), said; !reflect.DeepEqual(got, want) {
		t.Errorf("of a replacement that is paid for %q is on record, want %q", got, want)
	}

	o = newStory(typed("a", "m5.large"), typed("b", "m5.large"))
	o.state.Commitments = reserved
	m.Saves, m.Removals = 208_000, move(0, plan.Underutilized, "a", "b").Removals
	o.plans(m)
	o.savings.Replacing(m, apply.Launched{Launch: m.Launches[0], Claim: claim})
	o.savings.Moved(apply.Ended{Move: m, Gone: []bool{false, true}})
	said = []string{"its disruption saves $0.104000/h: $0.208000/h was planned"}
	if got := o.said("b"); !reflect.DeepEqual(got, said) {
		t.Errorf("of a node that goes beside one that stays %q is on record, want %q", got, said)
	}

	o = newStory(typed("a", "c5.large"), typed("b", "c5.large"))
	o.state.Commitments = reserved
	m = move(104_000, plan.Empty, "a", "b")
	o.plans(m)
	o.savings.Moved(ended(m))
	want := []string{"daemok_savings_promised_total nodepool=default reason=Empty 0.104",
		"daemok_savings_realised_total nodepool=default reason=Empty 0.104"}
	if got := o.counted(t); !reflect.DeepEqual(got, want) {
		t.Errorf("of two nodes one of which is paid for %q is counted, want %q", got, want)
	}
}

// Nodes that go without replacements go each by itself, and each saves its own price.
func TestNodesWithoutReplacementsGoAlone(t *testing.T) {
	o := newStory(node("a"), node("b"))
	o.plans(move(208_000, plan.Empty, "a", "b"))
	o.savings.Moved(ended(move(208_000, plan.Empty, "b")))
	want := []string{"daemok_savings_promised_total nodepool=default reason=Empty 0.104", "daemok_savings_realised_total nodepool=default reason=Empty 0.104"}
	if got := o.counted(t); !reflect.DeepEqual(got, want) {
		t.Errorf("counted %q, want %q", got, want)
	}
}

// What stayed after all saves nothing, nor does what goes for another reason, of an earlier process, or has no price.
func TestWhatSavesNothingIsNotCounted(t *testing.T) {
	free := node("free")
	free.Price = 0
	o := newStory(node("stays"), node("drifted"), free, node("forgotten"))
	stays, drifted, unpriced, forgotten := move(1, plan.Empty, "stays"), move(1, plan.Drifted, "drifted"), move(1, plan.Empty, "free"), move(1, plan.Empty, "forgotten")
	o.plans(stays, drifted, unpriced, forgotten)
	o.savings.Moved(apply.Ended{Move: stays, Gone: []bool{false}, Err: errors.New("it is busy")})
	o.savings.Moved(ended(drifted))
	o.savings.Moved(ended(unpriced))
	o.savings.Moved(ended(move(1, plan.Empty, "of-an-earlier-process")))
	o.now = o.now.Add(3 * time.Hour)
	o.joins()
	o.plans()
	o.savings.Moved(ended(forgotten))
	if got := o.counted(t); len(got) > 0 {
		t.Errorf("counted %q, want nothing", got)
	}
}
