package instance

import (
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

type statusXML struct {
	Zone     string     `xml:"availabilityZone"`
	ZoneID   string     `xml:"availabilityZoneId"`
	ID       string     `xml:"instanceId"`
	State    stateXML   `xml:"instanceState"`
	Instance summaryXML `xml:"instanceStatus"`
	System   summaryXML `xml:"systemStatus"`
	Volumes  summaryXML `xml:"attachedEbsStatus"`
	Events   []eventXML `xml:"eventsSet>item"`
}

type summaryXML struct {
	Status  string      `xml:"status"`
	Details []detailXML `xml:"details>item"`
}

type detailXML struct {
	Name   string     `xml:"name"`
	Status string     `xml:"status"`
	Since  *time.Time `xml:"impairedSince"`
}

type eventXML struct {
	ID          string    `xml:"instanceEventId"`
	Code        string    `xml:"code"`
	Description string    `xml:"description"`
	NotBefore   time.Time `xml:"notBefore"`
}

// How many instances a call may name.
const (
	statusesPerCall = 100
	changedPerCall  = 1000
)

// describeInstanceStatus shows running instances only, unless all are asked
// for.
func describeInstanceStatus(c *call) (any, error) {
	ids := c.Params.Strings("InstanceId")
	if len(ids) > 0 && c.Params.Has("MaxResults") {
		return nil, wire.Errorf("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	if len(ids) > statusesPerCall {
		return nil, wire.Errorf("InvalidParameterValue", "The maximum number of instance IDs per call is %d", statusesPerCall)
	}
	chosen := c.server.Seen(c.At)
	if len(ids) > 0 {
		var err error
		if chosen, err = c.server.visibleByID(ids, c.At); err != nil {
			return nil, err
		}
	}
	var shown []Live
	for _, l := range chosen {
		if l.State == market.Running || c.Params.Bool("IncludeAllInstances") {
			shown = append(shown, l)
		}
	}
	found, err := world.Matching(c.Params, shown, statusFields(), nil)
	if err != nil {
		return nil, err
	}
	byID := func(l Live) string { return l.ID }
	page, next, err := world.Paged(c.Call, world.ByKey(found, byID), world.PageLimits{Least: 5, Most: 1000, Unasked: statusesPerCall}, byID)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Statuses []statusXML `xml:"instanceStatusSet>item"`
		Next     string      `xml:"nextToken,omitempty"`
	}
	for _, l := range page {
		answer.Statuses = append(answer.Statuses, statusXML{l.Zone.Name, l.Zone.ID, l.ID, stateAnswer(l.State),
			summaryOf(l, InstanceCheck), summaryOf(l, SystemCheck), volumesOf(l), eventsOf(l)})
	}
	answer.Next = next
	return answer, nil
}

func summaryOf(l Live, check Check) summaryXML {
	since := l.Health.Impaired[check]
	if since.IsZero() {
		since = l.cutOff
	}
	switch {
	case l.State != market.Running:
		return summaryXML{Status: "not-applicable"}
	case !since.IsZero():
		return summaryXML{Status: "impaired", Details: []detailXML{{"reachability", "failed", &since}}}
	}
	return summaryXML{Status: "ok", Details: []detailXML{{"reachability", "passed", nil}}}
}

// volumesOf is the check of the instance's volumes, which nothing here makes fail.
func volumesOf(l Live) summaryXML {
	if l.State != market.Running {
		return summaryXML{Status: "not-applicable"}
	}
	return summaryXML{Status: "ok", Details: []detailXML{{"reachability", "passed", nil}}}
}

func eventsOf(l Live) (out []eventXML) {
	for _, e := range l.Health.Events {
		out = append(out, eventXML(e))
	}
	return out
}

func statusFields() world.Fields[Live] {
	none := func(Live) []string { return nil }
	status := func(check Check) func(Live) []string {
		return world.One(func(l Live) string { return summaryOf(l, check).Status })
	}
	reachability := func(check Check) func(Live) []string {
		return func(l Live) (out []string) {
			for _, d := range summaryOf(l, check).Details {
				out = append(out, d.Status)
			}
			return out
		}
	}
	event := func(what func(scheduled) string) func(Live) []string {
		return func(l Live) (out []string) {
			for _, e := range l.Health.Events {
				out = append(out, what(e))
			}
			return out
		}
	}
	return world.Fields[Live]{
		"attached-ebs-status.status":   world.One(func(l Live) string { return volumesOf(l).Status }),
		"availability-zone":            world.One(func(l Live) string { return l.Zone.Name }),
		"availability-zone-id":         world.One(func(l Live) string { return l.Zone.ID }),
		"event.code":                   event(func(e scheduled) string { return e.Code }),
		"event.description":            event(func(e scheduled) string { return e.Description }),
		"event.instance-event-id":      event(func(e scheduled) string { return e.ID }),
		"event.not-after":              none,
		"event.not-before":             event(func(e scheduled) string { return e.NotBefore.Format(time.RFC3339) }),
		"event.not-before-deadline":    none,
		"instance-state-code":          world.One(func(l Live) string { return strconv.Itoa(stateCodes[l.State]) }),
		"instance-state-name":          world.One(func(l Live) string { return string(l.State) }),
		"instance-status.status":       status(InstanceCheck),
		"instance-status.reachability": reachability(InstanceCheck),
		"operator.managed":             world.One(func(Live) string { return "false" }),
		"system-status.status":         status(SystemCheck),
		"system-status.reachability":   reachability(SystemCheck),
	}.Lacking("application-status.status", "operator.principal")
}

type changeXML struct {
	Current  stateXML `xml:"currentState"`
	ID       string   `xml:"instanceId"`
	Previous stateXML `xml:"previousState"`
}

type changesXML struct {
	Changes []changeXML `xml:"instancesSet>item"`
}

// terminateInstances ends all that are named, or none when one of them is not
// known. Ending what has ended is no error.
func terminateInstances(c *call) (any, error) {
	return changeInstances(c, func(Live) error { return nil }, func(id string) { c.server.Market().Terminate(id, "Client.UserInitiatedShutdown") })
}

// stopInstances stops all that are named, or none. Spot instances of fleets come of requests that
// are made once, and end rather than stop.
func stopInstances(c *call) (any, error) {
	return changeInstances(c, func(l Live) error {
		switch {
		case l.SpotRequest != "":
			return wire.Errorf("UnsupportedOperation", "You can't stop the Spot Instance '%s' because it is associated with a one-time Spot Instance request. You can only stop Spot Instances associated with persistent Spot Instance requests.", l.ID)
		case !slices.Contains([]market.State{market.Running, market.Stopping, market.Stopped}, l.State):
			return wire.Errorf("IncorrectInstanceState", "This instance '%s' is not in a state from which it can be stopped.", l.ID)
		}
		return nil
	}, func(id string) { c.server.Market().Stop(id) })
}

// changeInstances does one thing to all that are named, once none of them may not be changed so.
func changeInstances(c *call, may func(Live) error, do func(id string)) (any, error) {
	ids := c.Params.Strings("InstanceId")
	if len(ids) == 0 {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter InstanceId")
	}
	if len(ids) > changedPerCall {
		return nil, wire.Errorf("InvalidParameterValue", "The maximum number of instance IDs per call is %d", changedPerCall)
	}
	found, err := c.server.visibleByID(ids, c.At)
	if err != nil {
		return nil, err
	}
	for _, l := range found {
		if err := may(l); err != nil {
			return nil, err
		}
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	var answer changesXML
	for _, l := range found {
		do(l.ID)
		m, _ := c.server.Market().Machine(l.ID)
		now := m.At(c.server.Now()) // the change came after the call did
		if now == market.Terminated && l.State != market.Terminated {
			now = market.ShuttingDown // even an instance that ends at once is told to be on its way
		}
		answer.Changes = append(answer.Changes, changeXML{stateAnswer(now), l.ID, stateAnswer(l.State)})
	}
	return answer, nil
}

func startInstances(c *call) (any, error) {
	return changeInstances(c, func(l Live) error {
		if !slices.Contains([]market.State{market.Stopped, market.Running, market.Pending}, l.State) {
			return wire.Errorf("IncorrectInstanceState", "The instance '%s' is not in a state from which it can be started.", l.ID)
		}
		return nil
	}, func(id string) { c.server.Market().Start(id) })
}
