package emulator

import (
	"slices"
	"time"

	"github.com/daemok/daemok/test/market"
)

type spotRequestXML struct {
	CreatedAt  time.Time     `xml:"createTime"`
	InstanceID string        `xml:"instanceId"`
	Zone       string        `xml:"launchedAvailabilityZone"`
	Product    string        `xml:"productDescription"`
	ID         string        `xml:"spotInstanceRequestId"`
	State      string        `xml:"state"`
	Status     spotStatusXML `xml:"status"`
	Tags       tags          `xml:"tagSet>item"`
	Type       string        `xml:"type"`
	Behaviour  string        `xml:"instanceInterruptionBehavior"`
}

type spotStatusXML struct {
	Code    string    `xml:"code"`
	Message string    `xml:"message"`
	At      time.Time `xml:"updateTime"`
}

// spotStatus is how the request of an instance stands.
func spotStatus(l live, now time.Time) (state string, status spotStatusXML) {
	taken := l.machine.Reason == "Server.SpotInstanceTermination"
	switch over := l.state == market.ShuttingDown || l.state == market.Terminated; {
	case over && taken:
		return "closed", spotStatusXML{"instance-terminated-no-capacity", "Your Spot instance was terminated because there is no Spot capacity available that matches your request.", l.machine.EndsAt}
	case over:
		return "closed", spotStatusXML{"instance-terminated-by-user", "Spot Instance terminated due to user-initiated termination.", l.machine.EndsAt}
	case taken && !l.machine.WarnedAt.After(now):
		return "active", spotStatusXML{"marked-for-termination", "Your Spot instance is marked for termination.", l.machine.WarnedAt}
	}
	return "active", spotStatusXML{"fulfilled", "Your spot request is fulfilled.", l.LaunchedAt}
}

// launchedFields are what requests can be filtered by of the instances behind them.
func launchedFields(behind map[string]instanceXML) fields[spotRequestXML] {
	of := func(f func(instanceXML) string) func(spotRequestXML) []string {
		return func(r spotRequestXML) []string { return unlessEmpty(f(behind[r.ID])) }
	}
	return fields[spotRequestXML]{
		"launch.group-id":               func(r spotRequestXML) []string { return idsOf(behind[r.ID].Groups) },
		"launch.group-name":             func(r spotRequestXML) []string { return namesOf(behind[r.ID].Groups) },
		"launch.image-id":               of(func(x instanceXML) string { return x.ImageID }),
		"launch.instance-type":          of(func(x instanceXML) string { return x.Type }),
		"launch.key-name":               of(func(x instanceXML) string { return x.KeyName }),
		"launched-availability-zone-id": of(func(x instanceXML) string { return x.Placement.ZoneID }),
		"network-interface.subnet-id":   of(func(x instanceXML) string { return x.SubnetID }),
	}
}

// describeSpotInstanceRequests shows the request behind each spot instance that is remembered.
func describeSpotInstanceRequests(c *call) (any, error) {
	var all []spotRequestXML
	behind := map[string]instanceXML{} // the instance of each request
	for _, l := range c.server.visible(c.now) {
		if !l.Spot {
			continue
		}
		state, status := spotStatus(l, c.now)
		all = append(all, spotRequestXML{
			CreatedAt: l.LaunchedAt, InstanceID: l.ID, Zone: l.Zone.Name, Product: "Linux/UNIX", ID: l.SpotRequest, State: state, Status: status,
			Tags: l.SpotTags, Type: "one-time", Behaviour: "terminate",
		})
		behind[l.SpotRequest] = c.server.instanceAnswer(l)
	}
	byID := func(r spotRequestXML) string { return r.ID }
	all, err := chosenByID(c.params.Strings("SpotInstanceRequestId"), byKey(all, byID), byID, "InvalidSpotInstanceRequestID.NotFound",
		"The spot instance request ID '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := list[spotRequestXML]{
		fields: fields[spotRequestXML]{
			"spot-instance-request-id":   one(byID),
			"instance-id":                one(func(r spotRequestXML) string { return r.InstanceID }),
			"launched-availability-zone": one(func(r spotRequestXML) string { return r.Zone }),
			"state":                      one(func(r spotRequestXML) string { return r.State }),
			"status-code":                one(func(r spotRequestXML) string { return r.Status.Code }),
			"type":                       one(func(r spotRequestXML) string { return r.Type }),
			"create-time":                one(func(r spotRequestXML) string { return imageTime(r.CreatedAt) }),
			"product-description":        one(func(r spotRequestXML) string { return r.Product }),
			"status-message":             one(func(r spotRequestXML) string { return r.Status.Message }),
		}.with(launchedFields(behind)).lacking("availability-zone-group", "fault-code", "fault-message", "launch-group", "launch.kernel-id",
			"launch.ramdisk-id", "spot-price", "valid-from", "valid-until"),
		tags: func(r spotRequestXML) tags { return r.Tags }, limits: pageLimits{5, 1000, 1000}, key: byID,
	}.page(c, slices.Clone(all))
	return struct {
		Requests []spotRequestXML `xml:"spotInstanceRequestSet>item"`
		Next     string           `xml:"nextToken,omitempty"`
	}{page, next}, err
}
