package emulator

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/cloud/market"
)

// Detail types of the events that the account's rules send to the queue.
const (
	detailStateChange = "EC2 Instance State-change Notification"
	detailWarning     = "EC2 Spot Instance Interruption Warning"
	detailHealth      = "AWS Health Event"
	detailRebalance   = "EC2 Instance Rebalance Recommendation"
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
	Resources  []string       `json:"resources"`
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
	switch e.Kind {
	case market.Warning: // this ARN has the zone in the place of the region, and no account
		body.DetailType = detailWarning
		body.Resources = []string{fmt.Sprintf("arn:aws:ec2:%s:instance/%s", e.Machine.Pool.Zone, e.Machine.ID)}
		body.Detail["instance-action"] = "terminate"
	case market.Rebalance:
		body.DetailType = detailRebalance
	default:
		body.Detail["state"] = string(e.State)
	}
	s.send(body, e.At)
}
