// Package control sends commands to a running lab: a small HTTP service on a unix socket in the lab's
// directory.
//
// A process that can open the socket may do everything; the permissions of its folder keep other users
// out. The lab defines the commands. Commands to AWS go to the emulated AWS itself, at the URL that
// the lab's status returns (package emulator/control).
package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/daemok/daemok/internal/orders"
)

// Phase is how far a lab has come.
type Phase string

// The phases, in the order in which a lab goes through them.
const (
	Starting Phase = "starting"
	Ready    Phase = "ready"
	Stopping Phase = "stopping"
)

// Component is one process that the lab runs.
type Component struct {
	Name string `json:"name"`
	PID  int    `json:"pid"` // 0 between two runs
	Log  string `json:"log"`

	// Ports are those that a pod's containers declare, by name, and where they are on 127.0.0.1.
	Ports map[string]int `json:"ports,omitempty"`
}

// Status is what a lab says of itself.
type Status struct {
	Phase       Phase       `json:"phase"`
	PID         int         `json:"pid"`
	Directory   string      `json:"directory"`
	Kubeconfig  string      `json:"kubeconfig"`
	Environment string      `json:"environment"`
	AWSControl  string      `json:"awsControl"` // URL that takes commands to the emulated AWS
	Components  []Component `json:"components"`
}

// lab is what takes the commands.
type lab interface {
	Status() Status
	// Restart returns when the component serves again.
	Restart(ctx context.Context, component string) error
	machines
}

// Serve takes commands for the lab on a socket until the returned function is called, which
// waits for commands under way.
func Serve(socket string, l lab) (stop func() error, err error) {
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old control socket: %w", err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("take orders on %s: %w", socket, err)
	}
	server := &http.Server{Handler: handler(l), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			return errors.Join(err, server.Close())
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}, nil
}

const (
	pathStatus  = "/status"
	pathRestart = "/restart"
)

func handler(l lab) http.Handler {
	mux := http.NewServeMux()
	orders.Report(mux, pathStatus, func(*http.Request) (Status, error) { return l.Status(), nil })
	orders.Take(mux, pathRestart, func(ctx context.Context, component string) (none, error) { return none{}, l.Restart(ctx, component) })
	handleMachines(mux, l)
	return mux
}

// none is the outcome of commands that have none.
type none struct{}

// Client sends commands to the lab behind a socket.
type Client struct{ orders *orders.Client }

// Dial returns a client for the socket, which need not be there yet.
func Dial(socket string) *Client { return &Client{orders.Dial(socket)} }

// Status asks the lab how it is.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	if err := c.orders.Ask(ctx, pathStatus, &s); err != nil {
		return Status{}, fmt.Errorf("ask lab for its status: %w", err)
	}
	return s, nil
}

// Restart has the lab stop a component and start it again, and returns when it
// serves again.
func (c *Client) Restart(ctx context.Context, component string) error {
	if err := c.orders.Give(ctx, pathRestart, component, &none{}); err != nil {
		return fmt.Errorf("restart %s: %w", component, err)
	}
	return nil
}
