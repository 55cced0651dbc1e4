package status

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/observe"
)

// clockEvery is how soon a difference is reported, and repeatClockEvery how often an event says so.
const (
	clockEvery       = 5 * time.Second
	repeatClockEvery = 10 * time.Minute
)

// Clock reports that the clock of this process and the API server's differ, in an event on the pod of the process and
// in the log, and has plans made again when that begins or ends.
type Clock struct {
	Reporter
	Clock interface {
		Doubt() string
		Ahead() time.Duration
	}
	Pod   types.NamespacedName // that this process runs in; without a name: none
	Gauge prometheus.Gauge     // seconds by which the clock is ahead
	Again func()               // asks for a new plan

	doubt string
}

// Round looks once, and returns when to look again.
func (c *Clock) Round(ctx context.Context) (time.Duration, error) {
	ahead, doubt := c.Clock.Ahead(), c.Clock.Doubt()
	c.Gauge.Set(ahead.Seconds())
	if doubt != "" {
		c.warnOnPod(ctx, c.Pod, observe.Event{Reason: "ClockDiffers", Topic: "clock", DedupeFor: repeatClockEvery,
			Message: "No node is disrupted and no NodeClaim given up: " + doubt})
	}
	began := c.doubt == ""
	if !becomes(&c.doubt, doubt) {
		return clockEvery, nil
	}
	if doubt == "" {
		c.Log.Info("the clock agrees with the API server's again: nodes may be disrupted")
	} else {
		c.Log.Error("no node is disrupted and no NodeClaim given up: the clock is in doubt", "reason", doubt, "aheadSeconds", ahead.Seconds())
	}
	if began || doubt == "" {
		c.Again()
	}
	return clockEvery, nil
}
