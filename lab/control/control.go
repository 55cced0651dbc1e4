// Package control is how one process gives orders to a running lab: a small
// HTTP service on a unix socket in the lab's directory.
//
// Whoever can open the socket may do everything; its folder keeps others out.
// What the orders do is the lab's business.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
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
}

// Status is what a lab says of itself.
type Status struct {
	Phase       Phase       `json:"phase"`
	PID         int         `json:"pid"`
	Directory   string      `json:"directory"`
	Kubeconfig  string      `json:"kubeconfig"`
	Environment string      `json:"environment"`
	Components  []Component `json:"components"`
}

// Ice is an order to sell capacity out, or to bring it back. Kind, Zone and
// Option are patterns as of path.Match.
type Ice struct {
	Kind     string `json:"kind"`
	Zone     string `json:"zone"`
	Option   string `json:"option"`
	Machines int    `json:"machines"` // that each pool still has
	Melt     bool   `json:"melt"`     // plenty again
}

// lab is what takes the orders.
type lab interface {
	Status() Status
	// Ice returns how many pools of capacity it changed.
	Ice(order Ice) (int, error)
	// Restart returns when the component serves again.
	Restart(ctx context.Context, component string) error
	machines
}

// Serve takes orders for the lab on a socket until the returned function is
// called, which waits for orders under way.
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

func handler(l lab) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(l.Status()) // the asker is gone when this fails
	})
	mux.HandleFunc("POST /components/{name}/restart", func(w http.ResponseWriter, r *http.Request) {
		if err := l.Restart(r.Context(), r.PathValue("name")); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /ice", func(w http.ResponseWriter, r *http.Request) {
		order, err := read[Ice](r)
		pools := 0
		if err == nil {
			pools, err = l.Ice(order)
		}
		answer(w, pools, err)
	})
	handleMachines(mux, l)
	return mux
}

func read[Order any](r *http.Request) (order Order, err error) {
	err = json.NewDecoder(r.Body).Decode(&order)
	return order, err
}

// answer says what came of an order, or why nothing did.
func answer(w http.ResponseWriter, outcome any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(outcome) // the asker is gone when this fails
}

// Client gives orders to the lab behind a socket.
type Client struct {
	http http.Client
}

// Dial returns a client for the socket, which need not be there yet.
func Dial(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return &Client{http: http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Status asks the lab how it is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	content, err := c.do(ctx, http.MethodGet, "/status", nil)
	if err != nil {
		return Status{}, fmt.Errorf("ask lab for its status: %w", err)
	}
	var s Status
	if err := json.Unmarshal(content, &s); err != nil {
		return Status{}, fmt.Errorf("read status of lab: %w", err)
	}
	return s, nil
}

// Restart has the lab stop a component and start it again, and returns when it
// serves again.
func (c *Client) Restart(ctx context.Context, component string) error {
	if _, err := c.do(ctx, http.MethodPost, "/components/"+component+"/restart", nil); err != nil {
		return fmt.Errorf("restart %s: %w", component, err)
	}
	return nil
}

// Ice sells capacity out or brings it back, and returns how many pools of
// capacity that changed.
func (c *Client) Ice(ctx context.Context, order Ice) (pools int, err error) {
	if err := c.order(ctx, "/ice", order, &pools); err != nil {
		return 0, fmt.Errorf("change capacity: %w", err)
	}
	return pools, nil
}

// order sends an order and reads what came of it.
func (c *Client) order(ctx context.Context, path string, order, outcome any) error {
	body, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("write order: %w", err)
	}
	content, err := c.do(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, outcome); err != nil {
		return fmt.Errorf("read answer to order: %w", err)
	}
	return nil
}

func (c *Client) do(ctx context.Context, method, path string, body io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://lab"+path, body)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, errors.New(strings.TrimSpace(string(content)))
	}
	return content, nil
}
