package emulator

import (
	"time"

	"github.com/daemok/daemok/cloud/aws/emulator/wire"
	"github.com/daemok/daemok/cloud/market"
)

type statusXML struct {
	Zone     string     `xml:"availabilityZone"`
	ZoneID   string     `xml:"availabilityZoneId"`
	ID       string     `xml:"instanceId"`
	State    stateXML   `xml:"instanceState"`
	Instance summaryXML `xml:"instanceStatus"`
	System   summaryXML `xml:"systemStatus"`
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

// describeInstanceStatus shows running instances only, unless all are asked
// for.
func describeInstanceStatus(c *call) (any, error) {
	ids := c.params.Strings("InstanceId")
	if len(ids) > 0 && c.params.Has("MaxResults") {
		return nil, wire.Errorf("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	chosen := c.server.visible(c.now)
	if len(ids) > 0 {
		var err error
		if chosen, err = c.server.visibleByID(ids, c.now); err != nil {
			return nil, err
		}
	}
	var shown []live
	for _, l := range chosen {
		if l.state == market.Running || c.params.Bool("IncludeAllInstances") {
			shown = append(shown, l)
		}
	}
	found, err := matching(c.params, shown, statusFields(), nil)
	if err != nil {
		return nil, err
	}
	byID := func(l live) string { return l.ID }
	page, next, err := paged(c, byKey(found, byID), pageLimits{5, 1000, 100}, byID)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Statuses []statusXML `xml:"instanceStatusSet>item"`
		Next     string      `xml:"nextToken,omitempty"`
	}
	for _, l := range page {
		answer.Statuses = append(answer.Statuses, statusXML{l.Zone.Name, l.Zone.ID, l.ID, stateAnswer(l.state),
			summaryOf(l, InstanceCheck), summaryOf(l, SystemCheck), eventsOf(l)})
	}
	answer.Next = next
	return answer, nil
}

func summaryOf(l live, check Check) summaryXML {
	since := l.Health.Impaired[check]
	if since.IsZero() {
		since = l.cutOff
	}
	switch {
	case l.state != market.Running:
		return summaryXML{Status: "not-applicable"}
	case !since.IsZero():
		return summaryXML{Status: "impaired", Details: []detailXML{{"reachability", "failed", &since}}}
	}
	return summaryXML{Status: "ok", Details: []detailXML{{"reachability", "passed", nil}}}
}

func eventsOf(l live) (out []eventXML) {
	for _, e := range l.Health.Events {
		out = append(out, eventXML(e))
	}
	return out
}

func statusFields() fields[live] {
	none := func(live) []string { return nil }
	status := func(check Check) func(live) []string {
		return one(func(l live) string { return summaryOf(l, check).Status })
	}
	reachability := func(check Check) func(live) []string {
		return func(l live) (out []string) {
			for _, d := range summaryOf(l, check).Details {
				out = append(out, d.Status)
			}
			return out
		}
	}
	event := func(what func(scheduled) string) func(live) []string {
		return func(l live) (out []string) {
			for _, e := range l.Health.Events {
				out = append(out, what(e))
			}
			return out
		}
	}
	return fields[live]{
		"availability-zone":            one(func(l live) string { return l.Zone.Name }),
		"event.code":                   event(func(e scheduled) string { return e.Code }),
		"event.description":            event(func(e scheduled) string { return e.Description }),
		"event.instance-event-id":      event(func(e scheduled) string { return e.ID }),
		"event.not-after":              none,
		"event.not-before":             event(func(e scheduled) string { return e.NotBefore.Format(time.RFC3339) }),
		"instance-state-name":          one(func(l live) string { return string(l.state) }),
		"instance-status.status":       status(InstanceCheck),
		"instance-status.reachability": reachability(InstanceCheck),
		"system-status.status":         status(SystemCheck),
		"system-status.reachability":   reachability(SystemCheck),
	}
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
	return changeInstances(c, func(l live) error {
		c.server.market.Terminate(l.ID, "Client.UserInitiatedShutdown")
		return nil
	})
}

func stopInstances(c *call) (any, error) {
	return changeInstances(c, func(l live) error {
		switch l.state {
		case market.Running:
			c.server.market.Stop(l.ID)
		case market.Stopping, market.Stopped:
		default:
			return wire.Errorf("IncorrectInstanceState", "This instance '%s' is not in a state from which it can be stopped.", l.ID)
		}
		return nil
	})
}

func changeInstances(c *call, do func(live) error) (any, error) {
	ids := c.params.Strings("InstanceId")
	if len(ids) == 0 {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter InstanceId")
	}
	found, err := c.server.visibleByID(ids, c.now)
	if err != nil {
		return nil, err
	}
	if err := c.commit(); err != nil {
		return nil, err
	}
	var answer changesXML
	for _, l := range found {
		if err := do(l); err != nil {
			return nil, err
		}
		m, _ := c.server.market.Machine(l.ID)
		now := m.At(c.server.now()) // the change came after the call did
		if now == market.Terminated && l.state != market.Terminated {
			now = market.ShuttingDown // even a machine that ends at once is told to be on its way
		}
		answer.Changes = append(answer.Changes, changeXML{stateAnswer(now), l.ID, stateAnswer(l.state)})
	}
	return answer, nil
}
