package emulator

import (
	"encoding/json"
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

// announce puts an event into the cluster's queue, as the guides' EventBridge
// rules do, after a drawn delay. The lock is held.
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
	text, err := json.Marshal(body)
	if err != nil {
		panic("an event of strings does not encode: " + err.Error())
	}
	s.deliver(body.ID, string(text), e.At)
}

// deliver puts a body into the cluster's queue, if there is one. The lock is held.
func (s *Server) deliver(id, body string, at time.Time) {
	q := s.st.Queues[s.st.Account.ClusterName]
	if q == nil {
		return
	}
	q.send(id, body, at, s.eventLag())
	if s.comesTwice() { // "at least once": the copy is a message of its own
		q.send(s.st.messageID(), body, at, s.eventLag())
	}
}
