package control

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/daemok/daemok/internal/orders"
)

// Machine is what a lab says of one of its instances.
type Machine struct {
	ID      string   `json:"id"` // of its instance
	Node    string   `json:"node"`
	Type    string   `json:"type"`
	Zone    string   `json:"zone"`
	State   string   `json:"state"` // booting, not ready, ready or silent
	Console []string `json:"console"`
}

// Condition is what a node is to report.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // "" takes the report back
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Deed is what may be done to an instance.
type Deed string

// The deeds.
const (
	Silence Deed = "silence" // its kubelet says and does nothing more
	Wake    Deed = "wake"    // the end of that
	Reboot  Deed = "reboot"
	Report  Deed = "condition" // its node reports one
)

// Act is a command to the instances that run and match.
type Act struct {
	Machine   string    `json:"machine"` // instance ID or node name, or a pattern as of path.Match
	Deed      Deed      `json:"deed"`
	Condition Condition `json:"condition"` // to report
}

// Next is a command to instances that boot from now on, of the types that match, to behave
// as if their instances had these tags; none takes the command back.
type Next struct {
	Kind string            `json:"kind"` // pattern as of path.Match
	Tags map[string]string `json:"tags"`
}

// Role is a command about who may join the cluster.
type Role struct {
	Name   string `json:"name"` // of the instances' instance profile
	Mapped bool   `json:"mapped"`
}

// machines is what takes the commands about instances.
type machines interface {
	Machines(pattern string) ([]Machine, error)
	// Act returns the instances that it was done to.
	Act(order Act) ([]Machine, error)
	Next(order Next) error
	MapRole(order Role) error
}

const (
	pathMachines = "/machines"
	pathAct      = "/machines/act"
	pathNext     = "/machines/next"
	pathRoles    = "/roles"
)

func handleMachines(mux *http.ServeMux, l machines) {
	orders.Report(mux, pathMachines, func(r *http.Request) ([]Machine, error) { return l.Machines(r.URL.Query().Get("match")) })
	orders.Take(mux, pathAct, func(_ context.Context, order Act) ([]Machine, error) { return l.Act(order) })
	orders.Take(mux, pathNext, func(_ context.Context, order Next) (none, error) { return none{}, l.Next(order) })
	orders.Take(mux, pathRoles, func(_ context.Context, order Role) (none, error) { return none{}, l.MapRole(order) })
}

// Machines returns the instances whose instance ID or node name match.
func (c *Client) Machines(ctx context.Context, pattern string) (found []Machine, err error) {
	if err := c.orders.Ask(ctx, pathMachines+"?match="+url.QueryEscape(pattern), &found); err != nil {
		return nil, fmt.Errorf("ask for instances: %w", err)
	}
	return found, nil
}

// Act does something to the instances that match, and returns them.
func (c *Client) Act(ctx context.Context, order Act) (done []Machine, err error) {
	err = c.orders.Give(ctx, pathAct, order, &done)
	return done, err
}

// Next has instances that boot from now on behave as the command says.
func (c *Client) Next(ctx context.Context, order Next) error {
	return c.orders.Give(ctx, pathNext, order, &none{})
}

// MapRole lets nodes of a role into the cluster, or keeps them out.
func (c *Client) MapRole(ctx context.Context, order Role) error {
	return c.orders.Give(ctx, pathRoles, order, &none{})
}
