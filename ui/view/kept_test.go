package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe/record"
)

// Whoever asks about a quota, a buffer or a request learns what it does now, and what it lacks.
func TestWhatKeepsAndLimitsCapacityIsExplained(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	red := constraint.Requirements{{Key: "team", Set: constraint.Values("red")}}
	web := &cluster.Shape{Requests: quantity.Resources{CPU: 500}}
	request := func(name string, mend func(*cluster.ProvisioningRequest)) cluster.ProvisioningRequest {
		r := cluster.ProvisioningRequest{Namespace: "batch", Name: name, Launches: true,
			Sets: []cluster.PodSet{{Shape: web, Pods: 3}}}
		mend(&r)
		return r
	}
	in := Input{
		Snapshot: &cluster.Snapshot{Now: at,
			Nodes:     []cluster.Node{{Name: "n1", Claim: "c1", Ready: true, Initialized: true}},
			Instances: []cluster.Instance{{Claim: "c2"}},
			Quotas: []cluster.Quota{
				{Name: "red", Selector: red, Used: cluster.Used{Capacity: quantity.Resources{CPU: 16_000}, Nodes: 2},
					Limits: cluster.Limits{Amounts: []quantity.Extended{{Name: "cpu", Amount: 16_000}}, Nodes: new(int64(9))}},
				{Name: "dear", Used: cluster.Used{Nodes: 1, Unpriced: "n1"},
					Limits: cluster.Limits{Cost: new(quantity.MicroUSDPerHour(2_000_000))}},
				{Name: "wrong", Unreadable: "spec.selector: cannot be read"},
			},
			Buffers: []cluster.Buffer{
				{Namespace: "shop", Name: "spare", Pods: 3, Shape: web},
				{Namespace: "shop", Name: "short", Pods: 3, Shape: web},
				{Namespace: "shop", Name: "lost", NotReady: "there is no PodTemplate web"},
			},
			Requested: []cluster.ProvisioningRequest{
				request("booked", func(r *cluster.ProvisioningRequest) {
					r.Provisioned, r.BookedUntil = true, at.Add(time.Minute)
				}),
				request("over", func(r *cluster.ProvisioningRequest) { r.Provisioned = true }),
				request("short", func(r *cluster.ProvisioningRequest) { r.RetryAt = at.Add(time.Hour) }),
			},
		},
		Statements: []record.Statement{
			{About: record.Object{Kind: record.Node, Name: "n1"}, Topic: record.TopicBuffer, From: at,
				Said: "keeps capacity for pods that may come",
				Why:  "2 pods of CapacityBuffer shop/spare, 3 pods of ProvisioningRequest batch/booked"},
			{About: record.Object{Kind: record.Claim, Name: "c2"}, Topic: record.TopicBuffer, From: at,
				Said: "keeps capacity for pods that may come", Why: "1 pod of CapacityBuffer shop/spare"},
			{About: record.Object{Kind: record.Buffer, Name: "shop/short"}, Topic: record.TopicBuffer, From: at,
				Said: "lacks capacity for 2 of 3 virtual pods", Why: "NodePool/default: nodes limit reached"},
			{About: record.Object{Kind: record.Request, Name: "batch/short"}, Topic: record.TopicBuffer, From: at,
				Said: "has no capacity for 1 of 3 pods", Why: "no type is large enough"},
		},
	}
	tests := map[record.Object][]string{
		{Kind: record.Quota, Name: "red"}: {"limits nodes with team in red, and a limit is reached", "nodes=2",
			"limit nodes=2 of 9 used", "limit cpu=16 of 16 used", "limit cpu: it is reached: 16 of 16 used"},
		{Kind: record.Quota, Name: "dear"}: {"bad: limits all nodes, and lets none be launched: " +
			"the price of node or NodeClaim c2 is not known", "nodes=1", "of them being launched=1",
			"limit cost=$0.000/h of $2.000/h used"},
		{Kind: record.Quota, Name: "wrong"}: {
			"bad: lets no node be launched that it may select: spec.selector: cannot be read", "nodes=0",
			"of them being launched=1"},
		{Kind: record.Buffer, Name: "shop/spare"}: {"keeps capacity for 3 pods that may come",
			"requests of each=cpu=500m", "capacity on=n1 (2 pods), NodeClaim c2, which starts (1 pod)"},
		{Kind: record.Buffer, Name: "shop/short"}: {"bad: lacks capacity for 2 of 3 virtual pods",
			"because NodePool/default: nodes limit reached", "requests of each=cpu=500m"},
		{Kind: record.Buffer, Name: "shop/lost"}: {"bad: keeps no capacity: there is no PodTemplate web"},
		{Kind: record.Request, Name: "batch/booked"}: {"has capacity for 3 pods, which is kept",
			"class=best-effort-atomic: what it lacks is launched", "pod set 1=3 pods of cpu=500m",
			"capacity on=n1 (3 pods)", "booking: no other pod may count on the capacity"},
		{Kind: record.Request, Name: "batch/over"}: {"had capacity for 3 pods, which is kept no longer",
			"class=best-effort-atomic: what it lacks is launched", "pod set 1=3 pods of cpu=500m"},
		{Kind: record.Request, Name: "batch/short"}: {"bad: has no capacity for 1 of 3 pods, so none is taken",
			"because no type is large enough", "class=best-effort-atomic: what it lacks is launched",
			"pod set 1=3 pods of cpu=500m", "back-off: no plan seeks its capacity before"},
		{Kind: record.Quota, Name: "blue"}: {
			"nothing is known about capacityquota blue: the cluster has red, dear, wrong"},
	}
	for o, want := range tests {
		t.Run(o.String(), func(t *testing.T) {
			if got := strings.Join(linesOf(in, o), "\n"); got != strings.Join(want, "\n") {
				t.Errorf("the card says\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

// linesOf prints the card of an object, or why there is none.
func linesOf(in Input, o record.Object) []string {
	card, err := Explain(in, o, nil)
	if err != nil {
		return []string{err.Error()}
	}
	out := []string{card.State}
	if card.Bad {
		out[0] = "bad: " + out[0]
	}
	for _, c := range card.Why {
		out = append(out, "because "+c.What)
	}
	for _, f := range card.Facts {
		out = append(out, f.Name+"="+f.Value)
	}
	for _, b := range card.Blocks {
		out = append(out, fmt.Sprintf("%s: %s", b.What, b.Text))
	}
	return out
}

// priced is a list of prices that has one.
type priced float64

// Price implements Prices.
func (p priced) Price(string, string, string) (float64, bool) { return float64(p), true }

// Where nobody asked AWS for prices, a limit on the cost is compared with what the screens say that nodes cost.
func TestACostLimitIsComparedWithListPrices(t *testing.T) {
	most := quantity.MicroUSDPerHour(150_000)
	pool := cluster.PoolID{Kind: "NodePool", Name: "default"}
	in := Input{Prices: priced(0.1), Snapshot: &cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Claim: "c1", Pool: pool}, {Name: "n2"}},
		Pools: []cluster.Pool{{ID: pool, Limits: cluster.Limits{Cost: &most}, Used: cluster.Used{Unpriced: "n1"}}},
		Quotas: []cluster.Quota{
			{Name: "all", Limits: cluster.Limits{Cost: &most}, Used: cluster.Used{Nodes: 2, Unpriced: "n1"}}},
	}}
	got := strings.Join(linesOf(in, record.Object{Kind: record.Quota, Name: "all"}), "\n")
	want := "limits all nodes, and a limit is reached\nnodes=2\nlimit cost=$0.200/h of $0.150/h used\n" +
		"limit cost: it is reached: $0.200/h of $0.150/h used"
	if got != want {
		t.Errorf("the card says\n%s\nwant\n%s", got, want)
	}
	c := Of(in)
	if l := c.Pools[0].Limits[0]; l.Used != 100_000 {
		t.Errorf("the pool uses %d of its limit on the cost, want 100000", l.Used)
	}
	problem := Problem{Warning, "CapacityQuota/all", "limit cost is reached: $0.200/h of $0.150/h"}
	if !slices.Contains(c.Problems, problem) {
		t.Errorf("problems are %v, want %v", c.Problems, problem)
	}
}
