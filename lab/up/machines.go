package up

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/daemok/daemok/lab/boot"
	"github.com/daemok/daemok/lab/bootstrap"
	"github.com/daemok/daemok/lab/cluster"
	"github.com/daemok/daemok/lab/datacenter"
)

// systemNodes is how many nodes carry the system's pods.
const systemNodes = 3

// startMachines brings up the data centre with the nodes that stand, and
// serves what nodes and pods use.
func (l *Lab) startMachines(ctx context.Context) error {
	log, err := l.openLog("machines")
	if err != nil {
		return err
	}
	center, err := datacenter.Start(ctx, datacenter.Options{
		Admin: l.admin, Node: l.access.Node,
		Cluster: boot.Cluster{
			Name: l.identity.ClusterName, Endpoint: l.access.URL(),
			CA: l.access.Authority.CertificatePEM(), CIDR: cluster.ServiceCIDR,
		},
		Region: l.identity.Region, Zones: l.zones, System: systemNodes, Ordinary: l.options.Nodes,
		TimeScale: l.options.TimeScale, Seed: *l.identity.Seed, MayJoin: l.cloud.MayJoin, Runtime: l.containers, Log: log,
	})
	if err != nil {
		return err
	}
	l.closers = append(l.closers, func() error { center.Stop(); return nil }, func() error { l.containers.Close(); return nil })
	l.center = center
	l.connectPower()
	return l.serveUsage(center.Usage())
}

// serveUsage answers the API server's questions for metrics.k8s.io.
func (l *Lab) serveUsage(handler http.Handler) error {
	certificate, err := l.certificate(bootstrap.MetricsHost, "localhost")
	if err != nil {
		return err
	}
	return l.serve("usage metrics", l.identity.Ports.Usage, &http.Server{
		Handler: handler, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
	})
}

// serve listens on a port of the loopback address until the lab stops, with
// TLS where the server has a certificate.
func (l *Lab) serve(what string, port int, server *http.Server) error {
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
	l.closers = append(l.closers, func() error {
		err := server.Close()
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("serve %s: %w", what, ended))
		}
		return err
	})
	return nil
}

// openLog returns a log of the given name, which is closed when the lab stops.
func (l *Lab) openLog(name string) (*slog.Logger, error) {
	file, err := os.OpenFile(l.directory.Log(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l.closers = append(l.closers, file.Close)
	return slog.New(slog.NewTextHandler(file, nil)), nil
}
