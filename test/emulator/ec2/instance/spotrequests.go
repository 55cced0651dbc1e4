package instance

import (
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/world"
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
	Tags       world.Tags    `xml:"tagSet>item"`
	Type       string        `xml:"type"`
	Behaviour  string        `xml:"instanceInterruptionBehavior"`
}

type spotStatusXML struct {
	Code    string    `xml:"code"`
	Message string    `xml:"message"`
	At      time.Time `xml:"updateTime"`
}

// spotStatus is how the request of an instance stands.
func spotStatus(l Live, now time.Time) (state string, status spotStatusXML) {
	taken := l.Machine.Reason == "Server.SpotInstanceTermination"
	switch over := l.State == market.ShuttingDown || l.State == market.Terminated; {
	case over && taken:
		return "closed", spotStatusXML{"instance-terminated-no-capacity", "Your Spot instance was terminated because there is no Spot capacity available that matches your request.", l.Machine.EndsAt}
	case over:
		return "closed", spotStatusXML{"instance-terminated-by-user", "Spot Instance terminated due to user-initiated termination.", l.Machine.EndsAt}
	case taken && !l.Machine.WarnedAt.After(now):
		return "active", spotStatusXML{"marked-for-termination", "Your Spot instance is marked for termination.", l.Machine.WarnedAt}
	}
	return "active", spotStatusXML{"fulfilled", "Your spot request is fulfilled.", l.LaunchedAt}
}

// launchedFields are what requests can be filtered by of the instances behind them.
func launchedFields(behind map[string]InstanceXML) world.Fields[spotRequestXML] {
	of := func(f func(InstanceXML) string) func(spotRequestXML) []string {
		return func(r spotRequestXML) []string { return world.UnlessEmpty(f(behind[r.ID])) }
	}
	return world.Fields[spotRequestXML]{
		"launch.group-id":               func(r spotRequestXML) []string { return idsOf(behind[r.ID].Groups) },
		"launch.group-name":             func(r spotRequestXML) []string { return namesOf(behind[r.ID].Groups) },
		"launch.image-id":               of(func(x InstanceXML) string { return x.ImageID }),
		"launch.instance-type":          of(func(x InstanceXML) string { return x.Type }),
		"launch.key-name":               of(func(x InstanceXML) string { return x.KeyName }),
		"launched-availability-zone-id": of(func(x InstanceXML) string { return x.Placement.ZoneID }),
		"network-interface.subnet-id":   of(func(x InstanceXML) string { return x.SubnetID }),
	}
}

// describeSpotInstanceRequests shows the request behind each spot instance that is remembered.
func describeSpotInstanceRequests(c *call) (any, error) {
	var all []spotRequestXML
	behind := map[string]InstanceXML{} // the instance of each request
	for _, l := range c.server.Seen(c.At) {
		if !l.Spot {
			continue
		}
		state, status := spotStatus(l, c.At)
		all = append(all, spotRequestXML{
			CreatedAt: l.LaunchedAt, InstanceID: l.ID, Zone: l.Zone.Name, Product: "Linux/UNIX", ID: l.SpotRequest, State: state, Status: status,
			Tags: l.SpotTags, Type: "one-time", Behaviour: "terminate",
		})
		behind[l.SpotRequest] = c.server.instanceAnswer(l)
	}
	byID := func(r spotRequestXML) string { return r.ID }
	all, err := world.ChosenByID(c.Params.Strings("SpotInstanceRequestId"), world.ByKey(all, byID), byID, "InvalidSpotInstanceRequestID.NotFound",
		"The spot instance request ID '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[spotRequestXML]{
		Fields: world.Fields[spotRequestXML]{
			"spot-instance-request-id":   world.One(byID),
			"instance-id":                world.One(func(r spotRequestXML) string { return r.InstanceID }),
			"launched-availability-zone": world.One(func(r spotRequestXML) string { return r.Zone }),
			"state":                      world.One(func(r spotRequestXML) string { return r.State }),
			"status-code":                world.One(func(r spotRequestXML) string { return r.Status.Code }),
			"type":                       world.One(func(r spotRequestXML) string { return r.Type }),
			"create-time":                world.One(func(r spotRequestXML) string { return world.ImageTime(r.CreatedAt) }),
			"product-description":        world.One(func(r spotRequestXML) string { return r.Product }),
			"status-message":             world.One(func(r spotRequestXML) string { return r.Status.Message }),
		}.With(launchedFields(behind)).Lacking("availability-zone-group", "fault-code", "fault-message", "launch-group", "launch.kernel-id",
			"launch.ramdisk-id", "spot-price", "valid-from", "valid-until"),
		Tags: func(r spotRequestXML) world.Tags { return r.Tags }, Limits: world.PageLimits{Least: 5, Most: 1000, Unasked: 1000}, Key: byID,
	}.Page(c.Call, slices.Clone(all))
	return struct {
		Requests []spotRequestXML `xml:"spotInstanceRequestSet>item"`
		Next     string           `xml:"nextToken,omitempty"`
	}{page, next}, err
}
