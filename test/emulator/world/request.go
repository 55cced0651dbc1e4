package world

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/wire"
)

// AsError makes a wire error of any error; one that is not AWS's is an
// internal failure.
func AsError(err error) *wire.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	return (&wire.Error{Code: "InternalError", Message: err.Error()}).WithStatus(http.StatusInternalServerError)
}

// Principal is who makes a call, as far as rights are concerned. The zero value may do everything.
type Principal struct {
	Key, Region string
	Token       string // sent with temporary credentials
	Signed      string // when, as signatures have it
}

// Call is one request on its way through the account.
type Call struct {
	*World
	Ctx     context.Context
	Service string
	Action  string
	Who     Principal
	Host    string            // that was asked
	Names   map[string]string // what a REST path names
	Query   url.Values        // of a REST request
	Params  *wire.Node        // of query protocols
	Body    []byte            // of JSON protocols
	Older   bool              // asked by the protocol that SQS spoke before JSON
	At      time.Time
}

// Commit ends a dry run: handlers with effects call it when all is checked and
// nothing is done yet.
func (c *Call) Commit() error {
	if !c.Params.Bool("DryRun") {
		return nil
	}
	return wire.Errorf("DryRunOperation", "Request would have succeeded, but DryRun flag is set.").WithStatus(http.StatusPreconditionFailed)
}

// Decode reads a JSON body.
func (c *Call) Decode(to any) error {
	if len(c.Body) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.Body, to); err != nil {
		return wire.Errorf("SerializationException", "%s: %v", c.Action, err)
	}
	return nil
}

// Action is one action as it is dispatched.
type Action = Entry[*Call]

// Entry is one action of a service whose handlers want a C.
type Entry[C any] struct {
	Serve   func(C) (any, error)             // with the lock held, unless it waits; returns what is to be encoded
	Effects bool                             // changes something: it decides itself when a dry run is over
	Waits   bool                             // takes the lock itself
	Needs   func(C, string) []iampolicy.Call // rights that the action needs by its name in IAM; nil: one, on all resources
}

// Bind makes actions of a service's table; of makes what its handlers want of a call.
func Bind[C any](table map[string]Entry[C], of func(*Call) C) map[string]Action {
	bound := make(map[string]Action, len(table))
	for name, e := range table {
		a := Action{Serve: func(c *Call) (any, error) { return e.Serve(of(c)) }, Effects: e.Effects, Waits: e.Waits}
		if e.Needs != nil {
			a.Needs = func(c *Call, action string) []iampolicy.Call { return e.Needs(of(c), action) }
		}
		bound[name] = a
	}
	return bound
}

// NeedsNothing is said of actions that need no right, or whose handlers ask for it.
func NeedsNothing[C any](C, string) []iampolicy.Call { return nil }
