// Package comparison records what a cluster cost and did, beside what it would have cost and done under Daemok's
// plans.
//
// It promises that a history is bounded in size however long it is kept, that time in which nothing was watched
// counts on neither side, and that a history which was written is read again as it was. It decides nothing, and
// knows no plan.
package comparison

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/daemok/daemok/core/quantity"
)

// What a history is bounded to.
const (
	hoursMax    = 31 * 24 // of the curve; totals go further back
	largestMax  = 20      // decisions by what they save or cost
	latestMax   = 60
	unplacedMax = 30
	// gapMost is how far apart two observations may be for the time between them to count.
	gapMost = 10 * time.Minute
	// WaitLeast is how long a pod must have waited for a node to count as one that waited.
	WaitLeast = 10 * time.Second
)

// History is what was watched so far. Times are in UTC, money is in dollars.
type History struct {
	Version  int        `json:"version"`
	Cluster  string     `json:"cluster"`
	BeganAt  time.Time  `json:"beganAt"`
	UntilAt  time.Time  `json:"untilAt"`
	Seconds  float64    `json:"seconds"` // of those between that were watched
	Starts   int        `json:"starts"`  // of the process: each began at the cluster as it was
	Actual   Side       `json:"actual"`
	Shadow   Side       `json:"shadow"`
	Hours    []Hour     `json:"hours"`   // the newest last
	Largest  []Decision `json:"largest"` // by what they save or cost, the largest first
	Latest   []Decision `json:"latest"`  // the newest last
	Unplaced []Unplaced `json:"unplaced"`
	Unpriced int        `json:"unpriced"` // nodes of either side without a known price, the last time: they count as free
	Outside  int        `json:"outside"`  // nodes that belong to no pool, the last time: they are the same on both sides
	Static   int        `json:"static"`   // nodes of pools with replicas, the last time: they are the same on both sides
}

// Side is one of the two clusters.
type Side struct {
	Dollars     float64 `json:"dollars"`
	NodeSeconds float64 `json:"nodeSeconds"`
	Launched    int     `json:"launched"`
	Terminated  int     `json:"terminated"`
	Evicted     int     `json:"evicted"`
	Waited      int     `json:"waited"` // pods that waited for WaitLeast or longer
	WaitSeconds float64 `json:"waitSeconds"`
	WaitLongest float64 `json:"waitLongestSeconds"`
}

// Hour is the sum of what was watched in an hour.
type Hour struct {
	At                time.Time `json:"at"`
	Seconds           float64   `json:"seconds"`
	ActualDollars     float64   `json:"actualDollars"`
	ShadowDollars     float64   `json:"shadowDollars"`
	ActualNodeSeconds float64   `json:"actualNodeSeconds"`
	ShadowNodeSeconds float64   `json:"shadowNodeSeconds"`
	Evicted           int       `json:"shadowEvicted"`
}

// Kind is what a decision does.
type Kind string

// The kinds of decisions.
const (
	Launch    Kind = "launch"
	Terminate Kind = "terminate"
	Replace   Kind = "replace"
)

// Decision is what Daemok would have done once.
type Decision struct {
	At           time.Time `json:"at"`
	Kind         Kind      `json:"kind"`
	What         string    `json:"what"`
	Why          string    `json:"why"`
	Launched     int       `json:"launched"`
	Terminated   int       `json:"terminated"`
	Evicted      int       `json:"evicted"`
	SavesPerHour float64   `json:"savesPerHour"` // dollars; negative where it costs more
}

// Unplaced is pods that Daemok would have found no place for, by the reason.
type Unplaced struct {
	Example string    `json:"example"` // namespace and name of one
	Pods    int       `json:"pods"`    // the most at once
	Running int       `json:"running"` // of those: how many had a node in the actual cluster, the last time
	Why     string    `json:"why"`
	FirstAt time.Time `json:"firstAt"`
	LastAt  time.Time `json:"lastAt"`
}

// Level is what a cluster is at one moment.
type Level struct {
	Cost  quantity.MicroUSDPerHour
	Nodes int
}

// Book keeps a history. The zero value is an empty one; it is safe for concurrent use.
type Book struct {
	mu             sync.Mutex
	h              History
	changes        uint64
	at             time.Time // of the last observation of this process
	actual, shadow Level     // from then on
}

// Recall goes on from a history that another process kept: what this one has watched so far comes after it.
func (b *Book) Recall(h History) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.h = h.clone().then(b.h)
	b.changes++
}

// Begin counts a start of the process that watches the cluster of that name.
func (b *Book) Begin(clusterName string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.h.BeganAt.IsZero() {
		b.h.BeganAt = now
	}
	b.h.Version, b.h.Cluster = version, clusterName
	b.h.Starts++
	b.changes++
}

// History returns what was watched so far, and a number that grows with every change.
func (b *Book) History() (h History, changes uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.h.clone(), b.changes
}

func (h History) clone() History {
	h.Hours, h.Unplaced = slices.Clone(h.Hours), slices.Clone(h.Unplaced)
	h.Largest, h.Latest = slices.Clone(h.Largest), slices.Clone(h.Latest)
	return h
}

// Observe takes in what both clusters are from now on. The time since the last observation counts as it was before,
// unless it is longer than ten minutes: then the process stood still.
func (b *Book) Observe(now time.Time, actual, shadow Level) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.at); !b.at.IsZero() && passed > 0 && passed <= gapMost {
		for from := b.at; from.Before(now); {
			next := from.Truncate(time.Hour).Add(time.Hour)
			if next.After(now) {
				next = now
			}
			b.pass(from, next.Sub(from).Seconds())
			from = next
		}
	}
	b.at, b.actual, b.shadow, b.h.UntilAt = now, actual, shadow, now
	b.changes++
}

// pass counts seconds of one hour. The caller holds the lock.
func (b *Book) pass(at time.Time, seconds float64) {
	hour, h := b.hour(at), &b.h
	actual, shadow := b.actual.Cost.Dollars()*seconds/3600, b.shadow.Cost.Dollars()*seconds/3600
	nodes, ours := float64(b.actual.Nodes)*seconds, float64(b.shadow.Nodes)*seconds
	h.Seconds, hour.Seconds = h.Seconds+seconds, hour.Seconds+seconds
	h.Actual.Dollars, hour.ActualDollars = h.Actual.Dollars+actual, hour.ActualDollars+actual
	h.Shadow.Dollars, hour.ShadowDollars = h.Shadow.Dollars+shadow, hour.ShadowDollars+shadow
	h.Actual.NodeSeconds, hour.ActualNodeSeconds = h.Actual.NodeSeconds+nodes, hour.ActualNodeSeconds+nodes
	h.Shadow.NodeSeconds, hour.ShadowNodeSeconds = h.Shadow.NodeSeconds+ours, hour.ShadowNodeSeconds+ours
}

// hour finds the hour of a moment, or begins it. The caller holds the lock.
func (b *Book) hour(at time.Time) *Hour {
	at = at.Truncate(time.Hour)
	if n := len(b.h.Hours); n == 0 || b.h.Hours[n-1].At.Before(at) {
		b.h.Hours = newest(append(b.h.Hours, Hour{At: at}), hoursMax)
	}
	return &b.h.Hours[len(b.h.Hours)-1]
}

// Decided counts what Daemok would have done.
func (b *Book) Decided(d Decision) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.h.Shadow
	s.Launched, s.Terminated, s.Evicted = s.Launched+d.Launched, s.Terminated+d.Terminated, s.Evicted+d.Evicted
	b.hour(d.At).Evicted += d.Evicted
	b.h.Latest = newest(append(b.h.Latest, d), latestMax)
	b.h.Largest = largest(append(b.h.Largest, d))
	b.changes++
}

// newest is the end of a list.
func newest[T any](list []T, most int) []T { return slices.Delete(list, 0, max(0, len(list)-most)) }

// largest sorts decisions by what they save or cost, and leaves out the smallest of too many.
func largest(list []Decision) []Decision {
	slices.SortStableFunc(list, func(x, y Decision) int { return cmp.Compare(size(y), size(x)) })
	return list[:min(len(list), largestMax)]
}

func size(d Decision) float64 { return max(d.SavesPerHour, -d.SavesPerHour) }

// Happened counts nodes that came and went in the actual cluster, and the pods that left with the latter.
func (b *Book) Happened(launched, terminated, evicted int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.h.Actual
	s.Launched, s.Terminated, s.Evicted = s.Launched+launched, s.Terminated+terminated, s.Evicted+evicted
	b.changes++
}

// Waited counts how long pods waited until they had a node that was ready, on the actual side and on the other.
func (b *Book) Waited(actual, shadow []time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.h.Actual.waited(actual)
	b.h.Shadow.waited(shadow)
	b.changes++
}

func (s *Side) waited(list []time.Duration) {
	for _, d := range list {
		if d < WaitLeast {
			continue
		}
		s.Waited++
		s.WaitSeconds += d.Seconds()
		s.WaitLongest = max(s.WaitLongest, d.Seconds())
	}
}

// Leave takes in for which pods there is no place now; times are those of the moment. Pods of one reason count
// together, and what was there before for the same reason goes on.
func (b *Book) Leave(now time.Time, list []Unplaced) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var sums []Unplaced
	for _, u := range list {
		u.FirstAt, u.LastAt = now, now
		if at := slices.IndexFunc(sums, u.alike); at >= 0 {
			sums[at].Pods, sums[at].Running = sums[at].Pods+u.Pods, sums[at].Running+u.Running
			continue
		}
		sums = append(sums, u)
	}
	b.h.Unplaced = left(b.h.Unplaced, sums)
	b.changes++
}

// alike reports whether both have the same reason.
func (u Unplaced) alike(other Unplaced) bool { return u.Why == other.Why }

// left joins reasons that were seen later to those before; of too many those go that were seen longest ago.
func left(list, later []Unplaced) []Unplaced {
	for _, u := range later {
		at := slices.IndexFunc(list, u.alike)
		if at < 0 {
			list = append(list, u)
			continue
		}
		u.FirstAt, u.Pods = list[at].FirstAt, max(list[at].Pods, u.Pods)
		list[at] = u
	}
	if len(list) > unplacedMax {
		slices.SortStableFunc(list, func(x, y Unplaced) int { return x.LastAt.Compare(y.LastAt) })
	}
	return newest(list, unplacedMax)
}

// Beside takes in how many nodes have no known price, how many belong to no pool, and how many to one with replicas.
func (b *Book) Beside(unpriced, outside, static int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.h.Unpriced, b.h.Outside, b.h.Static = unpriced, outside, static
}
