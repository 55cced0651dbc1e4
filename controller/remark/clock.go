package remark

import (
	"context"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/observe"
)

// repeatClockEvery is how often it is said that the clock is in doubt.
const repeatClockEvery = 10 * time.Minute

// clock knows how far it is from the API server's.
type clock interface {
	Doubt() string
	Ahead() time.Duration
}

// Clock tells operators that the clock of this process and the API server's differ, in
// an event on the pod of the process and in the log, and has plans made again when
// that begins or ends.
type Clock struct {
	Clock   clock
	Store   client.Reader
	Pod     types.NamespacedName // that this process runs in; without a name: none
	Events  publisher
	Metrics *observe.Metrics
	Log     *slog.Logger
	Again   func() // asks for a new plan

	doubt string
}

// Round looks once, and returns when to look again.
func (c *Clock) Round(ctx context.Context) (time.Duration, error) {
	ahead, doubt := c.Clock.Ahead(), c.Clock.Doubt()
	c.Metrics.ClockAhead.Set(ahead.Seconds())
	if doubt != "" {
		c.warn(ctx, doubt)
	}
	if doubt == c.doubt {
		return checkEvery, nil
	}
	began := c.doubt == ""
	if c.doubt = doubt; doubt == "" {
		c.Log.Info("the clock agrees with the API server's again: nodes may be disrupted")
	} else {
		c.Log.Error("no node is disrupted and no NodeClaim given up: the clock is in doubt", "reason", doubt, "aheadSeconds", ahead.Seconds())
	}
	if began || doubt == "" {
		c.Again()
	}
	return checkEvery, nil
}

// warn publishes the event; a pod that is not known here has none.
func (c *Clock) warn(ctx context.Context, doubt string) {
	pod := &corev1.Pod{}
	if c.Pod.Name == "" || c.Store.Get(ctx, c.Pod, pod) != nil {
		return
	}
	c.Events.Publish(observe.Event{About: pod, Key: "Pod/" + c.Pod.String(), Warning: true, Reason: "ClockDiffers", Topic: "clock", DedupeFor: repeatClockEvery,
		Message: "No node is disrupted and no NodeClaim given up: " + doubt})
}
