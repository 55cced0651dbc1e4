package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// What those who reach the pages may take, with a token or without: connections, how long a request may be and
// take, how long its answer may, and how long a connection stays open without one. A stream has limits of its own.
const (
	connectionsMost = 256
	headerMost      = 64 << 10
	readFor         = 10 * time.Second
	answerFor       = 5 * time.Minute // a plan of a large cluster takes a while
	idleFor         = time.Minute
)

// HTTP is the server of the pages over HTTP, within limits.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: readFor, ReadTimeout: readFor, WriteTimeout: answerFor, IdleTimeout: idleFor,
		MaxHeaderBytes: headerMost,
	}
}

// Serve has h, which HTTP made, answer those who connect until it is closed or shut down. More than it can serve at once
// wait.
func Serve(h *http.Server, to net.Listener) error {
	if err := h.Serve(netutil.LimitListener(to, connectionsMost)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the pages: %w", err)
	}
	return nil
}
