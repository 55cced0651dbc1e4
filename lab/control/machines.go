package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Machine is what a lab says of one of its machines.
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

// Deed is what may be done to a machine.
type Deed string

// The deeds.
const (
	Silence Deed = "silence" // its kubelet says and does nothing more
	Wake    Deed = "wake"    // the end of that
	Reboot  Deed = "reboot"
	Report  Deed = "condition" // its node reports one

	Interrupt Deed = "interrupt" // AWS takes it back, if it is a spot machine
	Rebalance Deed = "rebalance" // AWS recommends to replace it, likewise
	Retire    Deed = "retire"    // AWS announces that it will be retired
)

// Act is an order to the machines that run and match.
type Act struct {
	Machine   string    `json:"machine"` // instance ID or node name, or a pattern as of path.Match
	Deed      Deed      `json:"deed"`
	Condition Condition `json:"condition"` // to report

	Advised bool          `json:"advised"` // an interruption begins with a recommendation
	In      time.Duration `json:"in"`      // how long after it the warning comes; when the retirement is
}

// Next is an order to machines that boot from now on, of the types that match,
// to behave as if their instances had these tags; none takes the order back.
type Next struct {
	Kind string            `json:"kind"` // pattern as of path.Match
	Tags map[string]string `json:"tags"`
}

// Role is an order about who may join the cluster.
type Role struct {
	Name   string `json:"name"` // of the machines' instance profile
	Mapped bool   `json:"mapped"`
}

// machines is what takes the orders about machines.
type machines interface {
	Machines(pattern string) ([]Machine, error)
	// Act returns the machines that it was done to.
	Act(order Act) ([]Machine, error)
	Next(order Next) error
	MapRole(order Role) error
}

func handleMachines(mux *http.ServeMux, l machines) {
	mux.HandleFunc("GET /machines", func(w http.ResponseWriter, r *http.Request) {
		found, err := l.Machines(r.URL.Query().Get("match"))
		answer(w, found, err)
	})
	mux.HandleFunc("POST /machines/act", func(w http.ResponseWriter, r *http.Request) {
		order, err := read[Act](r)
		var done []Machine
		if err == nil {
			done, err = l.Act(order)
		}
		answer(w, done, err)
	})
	mux.HandleFunc("POST /machines/next", func(w http.ResponseWriter, r *http.Request) {
		order, err := read[Next](r)
		if err == nil {
			err = l.Next(order)
		}
		answer(w, struct{}{}, err)
	})
	mux.HandleFunc("POST /roles", func(w http.ResponseWriter, r *http.Request) {
		order, err := read[Role](r)
		if err == nil {
			err = l.MapRole(order)
		}
		answer(w, struct{}{}, err)
	})
}

// Machines returns the machines whose instance ID or node name match.
func (c *Client) Machines(ctx context.Context, pattern string) (found []Machine, err error) {
	content, err := c.do(ctx, http.MethodGet, "/machines?match="+url.QueryEscape(pattern), nil)
	if err != nil {
		return nil, fmt.Errorf("ask for machines: %w", err)
	}
	if err := json.Unmarshal(content, &found); err != nil {
		return nil, fmt.Errorf("read answer about machines: %w", err)
	}
	return found, nil
}

// Act does something to the machines that match, and returns them.
func (c *Client) Act(ctx context.Context, order Act) (done []Machine, err error) {
	err = c.order(ctx, "/machines/act", order, &done)
	return done, err
}

// Next tells machines that boot from now on how to behave.
func (c *Client) Next(ctx context.Context, order Next) error {
	return c.order(ctx, "/machines/next", order, &struct{}{})
}

// MapRole lets nodes of a role into the cluster, or keeps them out.
func (c *Client) MapRole(ctx context.Context, order Role) error {
	return c.order(ctx, "/roles", order, &struct{}{})
}
