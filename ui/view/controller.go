package view

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Controller is what is known of the controller of a cluster.
type Controller struct {
	Leader  string    `json:"leader,omitempty"`  // the pod that acts; empty: none is known
	Renewed time.Time `json:"renewed,omitzero"`  // when it renewed its lease
	Version string    `json:"version,omitempty"` // of the image of its Deployment
	Ready   int32     `json:"ready"`             // its replicas that are
	Wanted  int32     `json:"wanted"`            // its replicas that should be
	Record  time.Time `json:"record,omitzero"`   // when its record last changed; zero: there is none

	Karpenter bool     `json:"karpenter,omitempty"` // it is Karpenter's own
	InShadow  []string `json:"inShadow,omitempty"`  // Deployments in shadow mode, which change nothing, as "namespace/name"
}

// leaseLasts is for how long a lease holds after its renewal: half a minute is more than any controller's.
const leaseLasts = 30 * time.Second

// Acts reports whether the controller holds its lease, as far as that is known.
func (c *Controller) Acts(now time.Time) bool {
	return c.Leader != "" && now.Sub(c.Renewed) < leaseLasts
}

// OnlyWatches reports whether Daemok is there in shadow mode alone: nothing is amiss where it does not act.
func (c *Controller) OnlyWatches() bool {
	return c.Leader == "" && len(c.InShadow) > 0 && c.Wanted == 0
}

// Idle is why no controller acts; empty: one does, or none is meant to.
func (c *Controller) Idle(now time.Time) string {
	switch {
	case c.Acts(now) || c.OnlyWatches():
		return ""
	case c.Leader != "":
		return fmt.Sprintf("pod %s renewed its lease %s ago, and no other has taken it", c.Leader,
			duration.HumanDuration(max(0, now.Sub(c.Renewed))))
	case c.Wanted == 0:
		return "none holds the lease"
	}
	return fmt.Sprintf("none holds the lease, and %d of %d replicas are ready", c.Ready, c.Wanted)
}
