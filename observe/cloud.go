package observe

import (
	"context"
	"errors"
	"time"

	"github.com/daemok/daemok/cloud"
)

// Instances is the cloud's instances as one loop uses them, with every operation measured.
// Controller names the loop, Provider the cloud.
type Instances struct {
	cloud.Instances
	Metrics    *Metrics
	Controller string
	Provider   string
	Now        func() time.Time
}

var _ cloud.Instances = Instances{}

// Launch implements cloud.Instances.
func (m Instances) Launch(ctx context.Context, r cloud.LaunchRequest) (got []cloud.Instance, err error) {
	m.Metrics.BatchSize.WithLabelValues("create_fleet").Observe(float64(r.Count))
	err = m.measure("Create", func() error {
		got, err = m.Instances.Launch(ctx, r)
		return err
	})
	m.launchFailed(r, err)
	return got, err
}

// Prepare implements cloud.Instances.
func (m Instances) Prepare(ctx context.Context, r cloud.LaunchRequest) error {
	return m.measure("Prepare", func() error { return m.Instances.Prepare(ctx, r) })
}

// Terminate implements cloud.Instances.
func (m Instances) Terminate(ctx context.Context, ids ...string) (gone []string, err error) {
	m.Metrics.BatchSize.WithLabelValues("terminate_instances").Observe(float64(len(ids)))
	err = m.measure("Delete", func() error {
		gone, err = m.Instances.Terminate(ctx, ids...)
		return err
	})
	return gone, err
}

// List implements cloud.Instances.
func (m Instances) List(ctx context.Context, f cloud.Filter) (found []cloud.Instance, err error) {
	method := "List"
	if len(f.IDs) > 0 {
		method = "Get"
	}
	err = m.measure(method, func() error {
		found, err = m.Instances.List(ctx, f)
		return err
	})
	return found, err
}

// Tag implements cloud.Instances.
func (m Instances) Tag(ctx context.Context, which cloud.Instance, tags map[string]string) error {
	return m.measure("Tag", func() error { return m.Instances.Tag(ctx, which, tags) })
}

func (m Instances) measure(method string, do func() error) error {
	began := m.Now()
	err := do()
	m.Metrics.CloudSeconds.WithLabelValues(m.Controller, method, m.Provider).Observe(m.Now().Sub(began).Seconds())
	if err != nil {
		m.Metrics.CloudErrors.WithLabelValues(m.Controller, method, m.Provider, CloudError(err)).Inc()
	}
	return err
}

// CloudError names the kind of an error of the port, in Karpenter's words
// where it has one; empty for an error without a kind.
func CloudError(err error) string {
	if _, ok := errors.AsType[*cloud.NoCapacityError](err); ok {
		return "InsufficientCapacityError"
	}
	if cloud.IsNotVisible(err) {
		return "NotVisibleError"
	}
	if _, ok := errors.AsType[*cloud.NotFoundError](err); ok {
		return "NodeClaimNotFoundError"
	}
	if _, ok := errors.AsType[*cloud.ThrottledError](err); ok {
		return "ThrottledError"
	}
	if _, ok := errors.AsType[*cloud.TokenMismatchError](err); ok {
		return "TokenMismatchError"
	}
	if _, ok := errors.AsType[*cloud.RefusedError](err); ok {
		return "CreateError"
	}
	return ""
}

// launchFailed counts a launch that was short or refused.
func (m Instances) launchFailed(r cloud.LaunchRequest, err error) {
	if short, ok := errors.AsType[*cloud.NoCapacityError](err); ok {
		type place struct {
			zone, zoneID string
			option       string
		}
		counted := map[place]bool{}
		for _, o := range short.Offerings {
			at := place{o.Zone, o.ZoneID, string(o.Option)}
			if !counted[at] {
				counted[at] = true
				m.Metrics.LaunchFailures.WithLabelValues(at.zone, at.zoneID, at.option, "InsufficientCapacity").Inc()
			}
		}
	}
	if refused, ok := errors.AsType[*cloud.RefusedError](err); ok {
		option := ""
		if len(r.Options) > 0 {
			option = string(r.Options[0].Option)
		}
		m.Metrics.LaunchFailures.WithLabelValues("", "", option, refused.Reason).Inc()
	}
}
