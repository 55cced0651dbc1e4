package view

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Standing is whether a controller acts.
type Standing string

// The standings.
const (
	NotKnown Standing = ""       // who acts cannot be read, or is not decided by a lease
	Acting   Standing = "acting" // it holds its lease
	Shadow   Standing = "shadow" // Daemok is there in shadow mode alone: nothing is amiss where it does not act
	Idle     Standing = "idle"   // none holds the lease
)

// Controller is what is known of the controller of a cluster.
type Controller struct {
	Standing Standing  `json:"standing,omitempty"`
	Why      string    `json:"why,omitempty"`     // it is idle
	Leader   string    `json:"leader,omitempty"`  // the pod that holds the lease; empty: none is known
	Renewed  time.Time `json:"renewed,omitzero"`  // when it renewed its lease
	Version  string    `json:"version,omitempty"` // of the image of its Deployment
	Ready    int32     `json:"ready"`             // its replicas that are
	Wanted   int32     `json:"wanted"`            // its replicas that should be
	Record   time.Time `json:"record,omitzero"`   // when its record last changed; zero: there is none

	Karpenter bool     `json:"karpenter,omitempty"` // it is Karpenter's own
	InShadow  []string `json:"inShadow,omitempty"`  // Deployments in shadow mode, which change nothing, as "namespace/name"
}

// leaseLasts is for how long a lease holds after its renewal: half a minute is more than any controller's.
const leaseLasts = 30 * time.Second

// Judge finds the standing by the lease, which was read at that moment.
func (c *Controller) Judge(read time.Time) {
	ago := read.Sub(c.Renewed)
	switch {
	case c.Leader != "" && ago < leaseLasts:
		c.Standing = Acting
	case c.Leader != "":
		c.Standing = Idle
		c.Why = fmt.Sprintf("pod %s renewed its lease %s ago, and no other has taken it", c.Leader, duration.HumanDuration(ago))
	case len(c.InShadow) > 0 && c.Wanted == 0:
		c.Standing = Shadow
	case c.Wanted == 0:
		c.Standing, c.Why = Idle, "none holds the lease"
	default:
		c.Standing = Idle
		c.Why = fmt.Sprintf("none holds the lease, and %d of %d replicas are ready", c.Ready, c.Wanted)
	}
}

// Name is what the controller is called.
func (c *Controller) Name() string {
	if c.Karpenter {
		return "Karpenter"
	}
	return "Daemok"
}
