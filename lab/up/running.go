package up

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/daemok/daemok/lab/cluster"
	"github.com/daemok/daemok/lab/component"
	"github.com/daemok/daemok/lab/container"
	"github.com/daemok/daemok/lab/control"
	"github.com/daemok/daemok/lab/datacenter"
	"github.com/daemok/daemok/lab/process"
)

// running is what a lab runs at one moment, and how far it has come.
type running struct {
	phase       control.Phase
	cluster     *cluster.Cluster   // nil before it is started, as those below
	pods        *container.Runtime // those that run as processes
	center      *datacenter.Center
	supervisors []*process.Supervisor // beside those of the cluster, in the order of their start
}

// record keeps what a lab runs, for status and commands that come while it starts, works and
// stops.
type record struct {
	mu sync.Mutex // guards is
	is running
}

func (r *record) now() running {
	r.mu.Lock()
	defer r.mu.Unlock()
	is := r.is
	is.supervisors = slices.Clone(is.supervisors)
	return is
}

func (r *record) change(how func(*running)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	how(&r.is)
}

// components are all that run, those of the cluster first, then those that log names the logs of.
func (r running) components(log func(name string) string) (all []control.Component) {
	for _, k := range r.kept() {
		all = append(all, control.Component{Name: k.Name(), PID: k.PID(), Log: log(k.Name())})
	}
	if r.pods == nil {
		return all
	}
	for _, p := range r.pods.Processes() {
		all = append(all, control.Component{Name: p.Name, PID: p.PID, Log: p.Log, Ports: p.Ports})
	}
	return all
}

// kept returns the kept components in the order of their start.
func (r running) kept() (all []*process.Supervisor) {
	if r.cluster != nil {
		all = r.cluster.Supervisors()
	}
	return append(all, r.supervisors...)
}

// restart stops a component and starts it again, and returns when it serves.
func (r running) restart(ctx context.Context, name string) error {
	if r.pods != nil {
		if found, err := r.pods.Restart(name); found {
			return err
		}
	}
	for _, k := range r.kept() {
		if k.Name() != name {
			continue
		}
		if err := k.Restart(); err != nil {
			return err
		}
		if name == component.APIServer {
			return r.cluster.AwaitReady(ctx)
		}
		return nil
	}
	return fmt.Errorf("no component or pod %q: this lab runs %s", name, r.names())
}

func (r running) names() string {
	var names []string
	for _, k := range r.kept() {
		names = append(names, k.Name())
	}
	if r.pods != nil {
		for _, p := range r.pods.Processes() {
			names = append(names, "pod "+p.Name)
		}
	}
	if len(names) == 0 {
		return "none yet"
	}
	return strings.Join(names, ", ")
}

var errNotReady = errors.New("the lab is only just starting or stopping: try again when it is ready")

// ready returns the data centre of a lab that is ready to take commands.
func (r running) ready() (*datacenter.Center, error) {
	if r.phase != control.Ready {
		return nil, errNotReady
	}
	return r.center, nil
}
