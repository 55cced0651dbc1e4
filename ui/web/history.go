package web

import (
	"time"

	"github.com/daemok/daemok/ui/view"
)

// The history of figures: a point every so often, for so long, in memory. It begins with the server.
const (
	pointEvery = 15 * time.Second
	historyFor = 12 * time.Hour
	pointsMost = int(historyFor / pointEvery)
)

// Point is figures of one moment.
type Point struct {
	At      int64   `json:"t"`               // seconds since 1970
	Cost    float64 `json:"cost"`            // dollars an hour, of all nodes whose price is known
	Pools   float64 `json:"pools"`           // of those of NodePools
	Bound   float64 `json:"bound,omitempty"` // dollars an hour: no instances that pools may launch hold the pods for less
	Nodes   int     `json:"nodes"`
	Waiting int     `json:"waiting"` // pods
	Longest float64 `json:"longest"` // seconds that the pod that waits longest has waited

	Placed int     `json:"placed,omitempty"` // pods that needed a node and got one within waitsFor
	Half   float64 `json:"half,omitempty"`   // seconds from creation that half of those waited at most
	Most   float64 `json:"most,omitempty"`   // and 95 of 100
}

// pointOf is the point of a state at a moment.
func pointOf(c *view.Cluster, now time.Time) Point {
	p := Point{
		At: now.Unix(), Cost: c.Totals.Cost.PerHour, Pools: c.Totals.PoolCost.PerHour, Bound: c.Totals.Bound,
		Nodes: c.Totals.Nodes, Waiting: c.Totals.Waiting,
	}
	for i := range c.Waiting {
		if since := c.Waiting[i].Since; !since.IsZero() {
			p.Longest = max(p.Longest, now.Sub(since).Seconds())
		}
	}
	return p
}
