package plancmd

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/access/output"
)

// JSON is the form of a plan that scripts may rely on. Prices are in dollars per hour; lists are never null.
type JSON struct {
	Basis       uint64           `json:"basis"`
	Launches    []launchJSON     `json:"launches"`
	Placements  []placementJSON  `json:"placements"`
	Withdrawals []withdrawalJSON `json:"withdrawals"`
	Removals    []removalJSON    `json:"removals"`
	Moves       []moveJSON       `json:"moves"`             // what goes together, and what is launched in its place
	Kept        []keptJSON       `json:"kept"`              // nodes that stay though there is a reason to let them go
	Allowed     []allowedJSON    `json:"allowed"`           // by pool with nodes
	Failing     []string         `json:"failing,omitempty"` // NodeClaims whose launch fails, and why
	Unread      []string         `json:"unread,omitempty"`  // what may not be read, and what the plan lacks for that
	Unplaced    []unplacedJSON   `json:"unplaced"`
	standingJSON
	Dropped  []droppedJSON  `json:"dropped"` // those of removals last
	Together []togetherJSON `json:"openTogether"`
	costJSON
	Margins []marginJSON `json:"margins"`
	expectedJSON
	Manifests *additionJSON `json:"manifests,omitempty"` // absent without -f
	WhatIf    []whatIfJSON  `json:"whatIf"`
	effortJSON
}

// standingJSON is what is kept whatever pods wait.
type standingJSON struct {
	Short   []shortJSON  `json:"short"`   // static pools that lack nodes which cannot be launched now
	Buffers []bufferJSON `json:"buffers"` // where capacity is kept for pods that may come

	Requests []requestJSON `json:"provisioningRequests"` // what becomes of ProvisioningRequests
}

type shortJSON struct {
	Pool     string `json:"pool"`
	Replicas int64  `json:"replicas"`
	Missing  int64  `json:"missing"`
	Why      string `json:"why"`
}

// bufferJSON is what becomes of a CapacityBuffer, in numbers of virtual pods.
type bufferJSON struct {
	Buffer  string `json:"buffer"` // namespace/name
	Want    int64  `json:"want"`
	Fits    int64  `json:"fits"`    // on existing nodes
	Missing int64  `json:"missing"` // neither there nor on instances to come
	Why     string `json:"why,omitempty"`
}

// requestJSON is what becomes of a ProvisioningRequest, in numbers of pods that have not come.
type requestJSON struct {
	Request  string `json:"request"` // namespace/name
	Want     int64  `json:"want"`
	Booked   bool   `json:"booked"`   // it has its capacity
	Starting int64  `json:"starting"` // on instances to come
	Missing  int64  `json:"missing"`  // for which there is no capacity, so that none is taken
	Why      string `json:"why,omitempty"`
}

// keptForJSON is virtual pods of a buffer that an instance is launched for.
type keptForJSON struct {
	Buffer string `json:"buffer"` // namespace/name
	Pods   int    `json:"pods"`
}

// bookedForJSON is pods of a request that an instance is launched for.
type bookedForJSON struct {
	Request string `json:"request"` // namespace/name
	Pods    int    `json:"pods"`
}

type costJSON struct {
	CostBefore float64  `json:"costBefore"`
	CostAfter  float64  `json:"costAfter"`
	LaunchCost float64  `json:"launchCost"`
	LowerBound *float64 `json:"lowerBound"` // null where none is known
	Gap        *float64 `json:"gap"`        // launchCost / lowerBound - 1
}

// expectedJSON is what launches are likely to come to, and what others would.
type expectedJSON struct {
	Fewer    *summaryJSON `json:"fewer,omitempty"` // the runner-up with fewer instances; absent where none is known
	Likely   *likelyJSON  `json:"likely,omitempty"`
	SpotMore float64      `json:"spotMorePerHour,omitempty"`
}

type effortJSON struct {
	Steps     int64 `json:"steps"`
	Exhausted bool  `json:"exhausted"`
}

// moveJSON is nodes that go together, once the launches are initialised.
type moveJSON struct {
	Nodes      []string        `json:"nodes"`
	Launches   []launchJSON    `json:"launches"`
	Placements []placementJSON `json:"placements"`
	Saves      float64         `json:"saves"`
}

type launchJSON struct {
	Name         string            `json:"name"`
	Pool         string            `json:"pool"`
	Choice       choiceJSON        `json:"choice"`
	RunnersUp    []choiceJSON      `json:"runnersUp"`
	Pods         []string          `json:"pods"`
	Buffers      []keptForJSON     `json:"buffers,omitempty"`              // virtual pods that it is for too
	Requested    []bookedForJSON   `json:"provisioningRequests,omitempty"` // likewise
	Requests     string            `json:"requests"`
	Requirements []requirementJSON `json:"requirements"`
	Labels       map[string]string `json:"labels"`
	Overlays     []string          `json:"overlays,omitempty"` // NodeOverlays that set its price or resources
	Notes        []string          `json:"notes,omitempty"`
}

// marginJSON is what one more core, GiB or piece of a resource would cost.
type marginJSON struct {
	Resource string  `json:"resource"`
	Zone     string  `json:"zone,omitempty"` // empty: to pods that may be in several
	Price    float64 `json:"price"`
}

// summaryJSON is what an answer comes to.
type summaryJSON struct {
	Instances  int     `json:"machines"`
	LaunchCost float64 `json:"launchCost"`
}

// likelyJSON is what launches come to once kube-scheduler has put pods where
// it may.
type likelyJSON struct {
	Cost        float64     `json:"cost"`            // of the launches and of what is launched after them
	Left        int         `json:"left"`            // pods that find no room at first
	Together    bool        `json:"together"`        // always false: no plan holds all its instances for one another; scripts may read it
	Turns       int         `json:"turns,omitempty"` // in which instances take pods, those with the largest last
	Relaxed     summaryJSON `json:"tight"`           // the cheapest answer if all pods went where they are meant to go
	RelaxedCost float64     `json:"tightCost"`
}

type choiceJSON struct {
	Type   string   `json:"type"`
	Zone   string   `json:"zone"`
	Option string   `json:"option"`
	Price  *float64 `json:"price"` // null where unknown
	Cost   *float64 `json:"cost"`  // what the instance costs in all: volumes, what its pool declares and surplus credits too
	WhyNot string   `json:"whyNot,omitempty"`

	CoveredBy string   `json:"coveredBy,omitempty"` // the commitment that pays for it beside price
	ListPrice *float64 `json:"listPrice,omitempty"` // its price without that commitment
}

type requirementJSON struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type placementJSON struct {
	Pod    string `json:"pod"`
	On     string `json:"on"`
	Target string `json:"target"`
}

type withdrawalJSON struct {
	Claim string `json:"claim"`
	Pool  string `json:"pool"`
	Note  string `json:"note"`
}

type removalJSON struct {
	Node   string `json:"node"`
	Claim  string `json:"claim"`
	Pool   string `json:"pool"`
	Reason string `json:"reason"`
	Note   string `json:"note,omitempty"`
}

type keptJSON struct {
	Node   string `json:"node"`
	Reason string `json:"reason"` // for which it would go
	Why    string `json:"why"`    // the first thing that is in the way
}

type unplacedJSON struct {
	Pods    []string     `json:"pods"`
	Reasons []reasonJSON `json:"reasons"`
}

// droppedJSON is preferences that cost more than they are worth.
type droppedJSON struct {
	Preferences []string `json:"preferences"`
	Pods        []string `json:"pods"`
	Saves       float64  `json:"saves"` // about so much
}

type togetherJSON struct {
	Key       string   `json:"key"`            // label that pods are spread over
	Turn      int      `json:"turn,omitempty"` // in which they do so, after those of earlier ones; 0: all instances do so at once
	Instances []string `json:"machines"`       // claims and launches that open to pods together
}

type reasonJSON struct {
	Pool string `json:"pool,omitempty"` // empty: about the pods themselves
	Text string `json:"text"`
}

// view turns a plan into its form for scripts.
func view(p *plan.Plan) JSON {
	v := JSON{
		costJSON:    costJSON{dollars(p.CostBefore), dollars(p.CostAfter), dollars(p.LaunchCost()), nil, nil},
		Margins:     output.Each(p.Margins, marginView),
		Basis:       p.Basis,
		Launches:    output.Each(p.Launches, launchView),
		Placements:  output.Each(p.Placements, placementView),
		Withdrawals: output.Each(p.Withdrawals, withdrawalView),
		Removals:    output.Each(p.Removals(), removalView),
		Moves:       output.Each(p.Moves, moveView),
		Kept:        output.Each(p.Kept, func(k plan.Kept) keptJSON { return keptJSON{k.Node, string(k.Reason), k.Why} }),
		Unplaced:    output.Each(p.Unplaced, unplacedView),
		standingJSON: standingJSON{
			output.Each(p.Short, shortView), output.Each(p.Buffers, bufferView), output.Each(p.Requested, requestView),
		},
		Dropped:    output.Each(p.Dropped, droppedView),
		Together:   output.Each(p.Groups(), func(g plan.Group) togetherJSON { return togetherJSON{g.Key, g.Turn, g.Instances} }),
		effortJSON: effortJSON{p.Steps, p.Exhausted},
	}
	for i := range p.Moves {
		v.Dropped = append(v.Dropped, output.Each(p.Moves[i].Dropped, droppedView)...)
	}
	if gap, ok := p.Gap(); ok {
		least := dollars(p.Bound)
		v.LowerBound, v.Gap = &least, &gap
	}
	if f := p.Fewer; f != nil {
		v.Fewer = &summaryJSON{f.Instances, dollars(f.Cost)}
	}
	v.SpotMore = dollars(p.SpotMore)
	if l := p.Likely; l != nil {
		v.Likely = &likelyJSON{
			Cost: dollars(l.Cost), Left: l.Left, Turns: l.Turns,
			Relaxed: summaryJSON{l.Relaxed.Instances, dollars(l.Relaxed.Cost)}, RelaxedCost: dollars(l.RelaxedCost),
		}
	}
	return v
}

func marginView(m plan.Margin) marginJSON { return marginJSON{m.Resource, m.Zone, dollars(m.Price)} }

func withdrawalView(w plan.Withdrawal) withdrawalJSON {
	return withdrawalJSON{w.Claim, w.Pool.String(), w.Note}
}

func moveView(m plan.Move) moveJSON {
	return moveJSON{
		output.Each(m.Removals, func(r plan.Removal) string { return r.Node }), output.Each(m.Launches, launchView),
		output.Each(m.Placements, placementView), dollars(m.Saves),
	}
}

func droppedView(d plan.Dropped) droppedJSON {
	return droppedJSON{d.Preferences, output.Each(d.Pods, podName), dollars(d.Saves)}
}

func launchView(l plan.Launch) launchJSON {
	view := launchJSON{
		Name: l.Name, Pool: l.Pool.String(), Choice: choiceView(l.Choice),
		RunnersUp: output.Each(l.RunnersUp, choiceView), Pods: output.Each(l.Pods, podName),
		Requests: l.Requests.String(), Requirements: []requirementJSON{}, Labels: map[string]string{},
		Overlays: l.Overlays, Notes: l.Notes,
	}
	for _, b := range l.Virtual {
		if b.Booked() {
			view.Requested = append(view.Requested, bookedForJSON{b.Namespace + "/" + b.Name, b.Pods})
		} else {
			view.Buffers = append(view.Buffers, keptForJSON{b.Namespace + "/" + b.Name, b.Pods})
		}
	}
	for _, r := range l.Requirements {
		view.Requirements = append(view.Requirements, requirementJSON{r.Key, r.Set.String()})
	}
	for _, x := range l.Labels {
		view.Labels[x.Key] = x.Value
	}
	return view
}

func shortView(x plan.Short) shortJSON { return shortJSON{x.Pool.String(), x.Want, x.Missing, x.Why()} }

func bufferView(b plan.Buffer) bufferJSON {
	out := bufferJSON{Buffer: b.Namespace + "/" + b.Name, Want: b.Want, Fits: b.Fits(), Missing: b.Missing, Why: b.NotReady}
	if b.Missing > 0 {
		out.Why = b.Why()
	}
	return out
}

func requestView(r plan.Requested) requestJSON {
	out := requestJSON{r.Namespace + "/" + r.Name, r.Want, r.Booked, r.Starting, r.Missing, r.Waits}
	if r.Missing > 0 {
		out.Why = r.Why()
	}
	return out
}

func choiceView(c plan.Choice) choiceJSON {
	view := choiceJSON{Type: c.Kind, Zone: c.Zone, Option: string(c.Option), WhyNot: c.WhyNot}
	if view.CoveredBy = c.Cover.By; c.Cover.By != "" {
		listed := dollars(c.ListPrice())
		view.ListPrice = &listed
	}
	if c.Priced {
		price := dollars(c.Price)
		cost := dollars(c.Cost())
		view.Price, view.Cost = &price, &cost
	}
	return view
}

func placementView(p plan.Placement) placementJSON {
	return placementJSON{podName(p.Pod), string(p.On), p.Target}
}

func removalView(r plan.Removal) removalJSON {
	return removalJSON{r.Node, r.Claim, r.Pool.String(), string(r.Reason), r.Note}
}

func unplacedView(u plan.Unplaced) unplacedJSON {
	return unplacedJSON{output.Each(u.Pods, podName), output.Each(u.Reasons, func(r plan.Reason) reasonJSON {
		if r.Pool == (cluster.PoolID{}) {
			return reasonJSON{Text: r.Text}
		}
		return reasonJSON{r.Pool.String(), r.Text}
	})}
}

func podName(p cluster.Pod) string { return p.Namespace + "/" + p.Name }

func dollars(p quantity.MicroUSDPerHour) float64 { return float64(p) / 1e6 }
