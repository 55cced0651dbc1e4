package emulator

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/test/market"
)

// Detail types of the events that the account's rules send to the queue.
const (
	detailStateChange = "EC2 Instance State-change Notification"
	detailWarning     = "EC2 Spot Instance Interruption Warning"
	detailHealth      = "AWS Health Event"
	detailRebalance   = "EC2 Instance Rebalance Recommendation"
	detailReservation = "EC2 Capacity Reservation Instance Interruption Warning"
)

// eventBody is an EventBridge event as it lies in the queue.
type eventBody struct {
	Version    string         `json:"version"`
	ID         string         `json:"id"`
	DetailType string         `json:"detail-type"`
	Source     string         `json:"source"`
	Account    string         `json:"account"`
	Time       string         `json:"time"`
	Region     string         `json:"region"`
	Resources  any            `json:"resources"` // texts; of one event a single one
	Detail     map[string]any `json:"detail"`
}

// announce tells EventBridge what happened. The lock is held.
func (s *Server) announce(e market.Event) {
	if e.Kind == market.Outage {
		return // AWS says nothing of single instances then
	}
	a := s.st.Account
	body := eventBody{
		Version: "0", ID: s.st.messageID(), DetailType: detailStateChange, Source: "aws.ec2", Account: a.ID,
		Time: e.At.UTC().Format(time.RFC3339), Region: a.Region, Detail: map[string]any{"instance-id": e.Machine.ID},
		Resources: []string{a.arn("ec2", a.Region, "instance/"+e.Machine.ID)},
	}
	i := s.st.Instances[e.Machine.ID]
	switch {
	case e.Kind == market.Warning && i != nil && i.InReservation != "":
		s.warnReserved(&body, i, e.Machine.EndsAt)
	case e.Kind == market.Warning: // this ARN has the zone in the place of the region, and no account
		body.DetailType = detailWarning
		body.Resources = []string{fmt.Sprintf("arn:aws:ec2:%s:instance/%s", e.Machine.Pool.Zone, e.Machine.ID)}
		body.Detail["instance-action"] = "terminate"
	case e.Kind == market.Rebalance:
		body.DetailType = detailRebalance
	default:
		body.Detail["state"] = string(e.State)
	}
	s.send(body, e.At)
}

// warnReserved makes an event the warning of an instance in a reservation. Capacity blocks and
// interruptible reservations have the detail type in common, and little else.
func (s *Server) warnReserved(body *eventBody, i *instance, ends time.Time) {
	body.DetailType = detailReservation
	body.Detail["instance-action"], body.Detail["instance-termination-time"] = "terminate", ends.UTC().Format(time.RFC3339)
	if i.Data.market() == reservationBlock {
		body.Detail["availability-zone-id"], body.Detail["instance-lifecycle"] = i.Zone.ID, reservationBlock
		return
	}
	body.Resources = s.st.Account.arn("ec2", s.st.Account.Region, "instance/"+i.ID) // one text, as AWS prints it
	body.Detail["azId"] = i.Zone.ID
}
