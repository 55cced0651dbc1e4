// Package orders lets one program on a host control another: JSON over HTTP, on a unix socket or a
// loopback port.
//
// A command is one value, and so is its outcome; a command that cannot be carried out is answered with
// a sentence. The package checks no permissions: a process that reaches the socket may do everything.
package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

const contentType = "application/json"

// Take has the mux carry out the commands posted to a path. Errors are answered with their
// text and status 400. Bodies that do not say to be JSON are refused, so that no web page
// can send commands.
func Take[Order, Outcome any](mux *http.ServeMux, path string, do func(context.Context, Order) (Outcome, error)) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != contentType {
			http.Error(w, "an order is JSON: send it with Content-Type: "+contentType, http.StatusUnsupportedMediaType)
			return
		}
		var order Order
		decoder := json.NewDecoder(r.Body)
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&order); err != nil {
			http.Error(w, fmt.Sprintf("read order %s: %v", path, err), http.StatusBadRequest)
			return
		}
		outcome, err := do(r.Context(), order)
		answer(w, outcome, err)
	})
}

// Report has the mux answer questions at a path.
func Report[Outcome any](mux *http.ServeMux, path string, do func(*http.Request) (Outcome, error)) {
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		outcome, err := do(r)
		answer(w, outcome, err)
	})
}

func answer(w http.ResponseWriter, outcome any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", contentType)
	_ = json.NewEncoder(w).Encode(outcome) // the asker is gone when this fails
}

// Client sends commands to the program that takes them at an address.
type Client struct {
	url  string
	http http.Client
}

// Dial returns a client for a unix socket, which need not be there yet.
func Dial(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return &Client{url: "http://socket", http: http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// At returns a client for a URL such as http://127.0.0.1:20000.
func At(url string) *Client {
	return &Client{url: strings.TrimSuffix(url, "/"), http: http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// Give sends a command and reads its outcome into outcome. A refusal is an error with the text of
// the answer.
func (c *Client) Give(ctx context.Context, path string, order, outcome any) error {
	body, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("write order: %w", err)
	}
	return c.do(ctx, http.MethodPost, path, bytes.NewReader(body), outcome)
}

// Ask asks a question and reads the answer.
func (c *Client) Ask(ctx context.Context, path string, outcome any) error {
	return c.do(ctx, http.MethodGet, path, nil, outcome)
}

func (c *Client) do(ctx context.Context, method, path string, body io.Reader, outcome any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return errors.New(strings.TrimSpace(string(content)))
	}
	if err := json.Unmarshal(content, outcome); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}
