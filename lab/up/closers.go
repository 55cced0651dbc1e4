package up

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"
)

// closers undo what was set up, in the order of what they undo.
type closers []func() error

func (c *closers) add(undo ...func() error) { *c = append(*c, undo...) }

// close undoes everything, latest first.
func (c *closers) close() error {
	var errs []error
	for _, undo := range slices.Backward(*c) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
}

// serve listens on a port of the loopback address until close, with
// TLS where the server has a certificate.
func (c *closers) serve(what string, port int, server *http.Server) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("serve %s: %w", what, err)
	}
	server.ReadHeaderTimeout = 10 * time.Second
	server.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug) // clients that hang up
	served := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			served <- server.ServeTLS(listener, "", "")
			return
		}
		served <- server.Serve(listener)
	}()
	c.add(func() error {
		err := server.Close()
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("serve %s: %w", what, ended))
		}
		return err
	})
	return nil
}

// openLog returns a log in a file, which is closed by close.
func (c *closers) openLog(name string) (*slog.Logger, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	c.add(file.Close)
	return slog.New(slog.NewTextHandler(file, nil)), nil
}
