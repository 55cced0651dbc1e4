package shadow

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/observe/comparison"
)

// hoursOfMonth is how many hours a month has, as AWS counts them.
const hoursOfMonth = 730

// decisionsMost is how many decisions are reported, the largest.
const decisionsMost = 10

// report is what a history comes to. Its keys are documented in docs/tasks/shadow.md.
type report struct {
	Cluster              string                `json:"cluster"`
	BeganAt              time.Time             `json:"beganAt"`
	UntilAt              time.Time             `json:"untilAt"`
	Hours                float64               `json:"hours"` // that were watched
	Starts               int                   `json:"starts"`
	Actual               side                  `json:"actual"`
	Shadow               side                  `json:"shadow"`
	SavedDollars         float64               `json:"savedDollars"`
	SavedShare           float64               `json:"savedShare"`
	SavedPerMonthDollars float64               `json:"savedPerMonthDollars"`
	Assumptions          []string              `json:"assumptions"`
	Decisions            []comparison.Decision `json:"decisions"`
	Unplaced             []comparison.Unplaced `json:"unplaced"`
	UnpricedNodes        int                   `json:"unpricedNodes"`
	NodesOutside         int                   `json:"nodesOutside"`
	NodesStatic          int                   `json:"nodesStatic"`
	Levels               []comparison.Hour     `json:"levels"`
}

// side is one of the two clusters.
type side struct {
	Dollars            float64 `json:"dollars"`
	DollarsPerMonth    float64 `json:"dollarsPerMonth"`
	NodesMean          float64 `json:"nodesMean"`
	Launched           int     `json:"launched"`
	Terminated         int     `json:"terminated"`
	Evicted            int     `json:"evicted"`
	EvictedPerDay      float64 `json:"evictedPerDay"`
	Waited             int     `json:"waited"`
	WaitMeanSeconds    float64 `json:"waitMeanSeconds"`
	WaitLongestSeconds float64 `json:"waitLongestSeconds"`
}

func sideOf(s comparison.Side, seconds float64) side {
	out := side{
		Dollars: s.Dollars, Launched: s.Launched, Terminated: s.Terminated, Evicted: s.Evicted,
		Waited: s.Waited, WaitLongestSeconds: s.WaitLongest,
	}
	if seconds > 0 {
		out.NodesMean = s.NodeSeconds / seconds
		out.EvictedPerDay = float64(s.Evicted) / seconds * (24 * time.Hour).Seconds()
		out.DollarsPerMonth = s.Dollars / seconds * hoursOfMonth * time.Hour.Seconds()
	}
	if s.Waited > 0 {
		out.WaitMeanSeconds = s.WaitSeconds / float64(s.Waited)
	}
	return out
}

func reportOf(h comparison.History) report {
	r := report{
		Cluster: h.Cluster, BeganAt: h.BeganAt, UntilAt: h.UntilAt, Hours: h.Seconds / 3600, Starts: h.Starts,
		Actual: sideOf(h.Actual, h.Seconds), Shadow: sideOf(h.Shadow, h.Seconds),
		SavedDollars: h.Actual.Dollars - h.Shadow.Dollars,
		Decisions:    h.Largest[:min(len(h.Largest), decisionsMost)], Unplaced: h.Unplaced,
		UnpricedNodes: h.Unpriced, NodesOutside: h.Outside, NodesStatic: h.Static, Levels: h.Hours,
	}
	r.SavedPerMonthDollars = r.Actual.DollarsPerMonth - r.Shadow.DollarsPerMonth
	if r.Actual.Dollars > 0 {
		r.SavedShare = r.SavedDollars / r.Actual.Dollars
	}
	r.Assumptions = r.assumptions()
	return r
}

// assumptions says what the figures stand on, what weakens them most first.
func (r *report) assumptions() []string {
	var out []string
	if r.Hours < 24 {
		out = append(out,
			fmt.Sprintf("Only %.1f hours were watched: less than a day says little about a month, a week says more.",
				r.Hours))
	}
	out = append(out,
		fmt.Sprintf("A month is %d hours like those that were watched. Prices are those of instances and their volumes: spot prices as they were, on-demand prices without Savings Plans or reserved instances.", hoursOfMonth))
	if r.Starts > 1 {
		out = append(out,
			fmt.Sprintf("The controller started %d times. Each time the shadow cluster began again as the actual one was, which lessens what is saved and adds evictions.", r.Starts))
	}
	out = append(out,
		"Every instance that Daemok would have launched could be had, within what capacity reservations have left, "+
			"and spot interruptions took nothing from it. "+
			"Pods are those of the actual cluster: one that the other autoscaler evicted counts as a new one.")
	out = append(out, nodes(r.NodesOutside, "1 node belongs to no NodePool: it is the same on both sides.",
		"%d nodes belong to no NodePool: they are the same on both sides.")...)
	out = append(out, nodes(r.NodesStatic, "1 node belongs to a NodePool with replicas: it is the same on both sides.",
		"%d nodes belong to NodePools with replicas: they are the same on both sides.")...)
	return append(out, nodes(r.UnpricedNodes,
		"The price of 1 node is not known: it costs nothing on the side that has it, or on both.",
		"The prices of %d nodes are not known: they cost nothing on the side that has them, or on both.")...)
}

// nodes is a sentence about so many nodes; none about none.
func nodes(n int, one, several string) []string {
	switch n {
	case 0:
		return nil
	case 1:
		return []string{one}
	}
	return []string{fmt.Sprintf(several, n)}
}
