package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/daemok/daemok/kube/access"
)

// How soon the start asks again for what is not there yet, each time twice as late.
const (
	waitFirst = time.Second
	waitMost  = 30 * time.Second
	askFor    = 10 * time.Second // how long one request may take
)

// waiter has the start wait for what the cluster lacks for the moment, and says so at every check.
type waiter struct {
	log        *slog.Logger
	healthPort int // where /healthz is answered meanwhile, so that the kubelet lets the process live; 0: nowhere
}

// until asks again and again, until that goes well or fails for a reason that does not pass. Each time it says that the
// start waits.
func (w waiter) until(ctx context.Context, says string, ask func(context.Context) error, passes func(error) bool) error {
	err := ask(ctx)
	if err == nil || !passes(err) {
		return err
	}
	defer answerHealth(w.healthPort)()
	began := time.Now()
	for wait := waitFirst; err != nil && passes(err); wait = min(2*wait, waitMost) {
		w.log.Warn(says, "error", err.Error(), "againAfterSeconds", wait.Seconds())
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		err = ask(ctx)
	}
	w.log.Info("the start goes on", "waitedSeconds", time.Since(began).Seconds())
	return err
}

// forServer waits until the API server answers. It names no error of its own: what does not pass is said by what
// asks next.
func (w waiter) forServer(ctx context.Context) {
	config, err := access.Config("")
	if err != nil {
		return
	}
	config = rest.CopyConfig(config)
	config.Timeout = askFor
	ask := func(ctx context.Context) error { _, err := clusterUID(ctx, config); return err }
	_ = w.until(ctx, "the start waits for the API server at "+config.Host, ask, unanswered)
}

// unanswered reports whether an error says that the API server cannot be reached for now, or does not work. What it
// refuses, and a certificate that is not trusted, stay as they are.
func unanswered(err error) bool {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		code := status.ErrStatus.Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, network := errors.AsType[net.Error](err) // url.Error is one, whatever its cause
	return network && !untrusted
}

// answerHealth says at the port that the process lives and is not ready. The function that it returns frees the port.
func answerHealth(port int) (stop func()) {
	if port == 0 {
		return func() {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the start waits, the log says for what", http.StatusServiceUnavailable)
	})
	server := &http.Server{Addr: address(port), Handler: mux, ReadHeaderTimeout: askFor}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.ListenAndServe() // a port that is taken is said by the manager, which wants it too
	}()
	return func() {
		_ = server.Close() // no caller is owed an answer
		<-ended
	}
}
