package observe

import (
	"context"
	"errors"
	"time"

	"github.com/daemok/daemok/cloud"
)

// Machines is the cloud's instances as one loop uses them, with every operation measured.
// Controller names the loop, Provider the cloud.
type Machines struct {
	cloud.Machines
	Metrics    *Metrics
	Controller string
	Provider   string
	Now        func() time.Time
}

var _ cloud.Machines = Machines{}

// Launch implements cloud.Machines.
func (m Machines) Launch(ctx context.Context, r cloud.LaunchRequest) (got []cloud.Machine, err error) {
	m.Metrics.BatchSize.WithLabelValues("create_fleet").Observe(float64(r.Count))
	err = m.measure("Create", func() error {
		got, err = m.Machines.Launch(ctx, r)
		return err
	})
	m.launchFailed(r, err)
	return got, err
}

// Prepare implements cloud.Machines.
func (m Machines) Prepare(ctx context.Context, r cloud.LaunchRequest) error {
	return m.measure("Prepare", func() error { return m.Machines.Prepare(ctx, r) })
}

// Terminate implements cloud.Machines.
func (m Machines) Terminate(ctx context.Context, ids ...string) (gone []string, err error) {
	m.Metrics.BatchSize.WithLabelValues("terminate_instances").Observe(float64(len(ids)))
	err = m.measure("Delete", func() error {
		gone, err = m.Machines.Terminate(ctx, ids...)
		return err
	})
	return gone, err
}

// List implements cloud.Machines.
func (m Machines) List(ctx context.Context, f cloud.Filter) (found []cloud.Machine, err error) {
	method := "List"
	if len(f.IDs) > 0 {
		method = "Get"
	}
	err = m.measure(method, func() error {
		found, err = m.Machines.List(ctx, f)
		return err
	})
	return found, err
}

// Tag implements cloud.Machines.
func (m Machines) Tag(ctx context.Context, which cloud.Machine, tags map[string]string) error {
	return m.measure("Tag", func() error { return m.Machines.Tag(ctx, which, tags) })
}

func (m Machines) measure(method string, do func() error) error {
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
func (m Machines) launchFailed(r cloud.LaunchRequest, err error) {
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
