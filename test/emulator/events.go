package emulator

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// announce tells EventBridge what happened. The lock is held.
func (s *Server) announce(e market.Event) {
	if e.Kind == market.Outage {
		return // AWS says nothing of single instances then
	}
	a := s.Settings
	body := world.Event{
		Version: "0", ID: s.MessageID(), DetailType: world.DetailStateChange, Source: "aws.ec2", Account: a.ID,
		Time: e.At.UTC().Format(time.RFC3339), Region: a.Region, Detail: map[string]any{"instance-id": e.Machine.ID},
		Resources: []string{a.ARN("ec2", a.Region, "instance/"+e.Machine.ID)},
	}
	i := s.Records[e.Machine.ID]
	switch {
	case e.Kind == market.Warning && i != nil && i.InReservation != "":
		s.warnReserved(&body, i, e.Machine.EndsAt)
	case e.Kind == market.Warning: // this ARN has the zone in the place of the region, and no account
		body.DetailType = world.DetailWarning
		body.Resources = []string{fmt.Sprintf("arn:aws:ec2:%s:instance/%s", e.Machine.Pool.Zone, e.Machine.ID)}
		body.Detail["instance-action"] = "terminate"
	case e.Kind == market.Rebalance:
		body.DetailType = world.DetailRebalance
	default:
		body.Detail["state"] = string(e.State)
	}
	s.Send(body, e.At)
}

// warnReserved makes an event the warning of an instance in a reservation. Capacity blocks and
// interruptible reservations have the detail type in common, and little else.
func (s *Server) warnReserved(body *world.Event, i *instance.Instance, ends time.Time) {
	body.DetailType = world.DetailReservation
	body.Detail["instance-action"], body.Detail["instance-termination-time"] = "terminate", ends.UTC().Format(time.RFC3339)
	if i.Data.ReservedMarket() == reservation.ReservationBlock {
		body.Detail["availability-zone-id"], body.Detail["instance-lifecycle"] = i.Zone.ID, reservation.ReservationBlock
		return
	}
	body.Resources = s.Settings.ARN("ec2", s.Settings.Region, "instance/"+i.ID) // one text, as AWS prints it
	body.Detail["azId"] = i.Zone.ID
}
