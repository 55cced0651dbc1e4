package up

import (
	"context"
	"crypto/tls"
	"net/http"

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
	log, err := l.closers.openLog(l.directory.Log("machines"))
	if err != nil {
		return err
	}
	pods := l.record.now().pods
	center, err := datacenter.Start(ctx, datacenter.Options{
		Admin: l.admin, Node: l.access.Node,
		Cluster: boot.Cluster{
			Name: l.identity.ClusterName, Endpoint: l.access.URL(),
			CA: l.access.Authority.CertificatePEM(), CIDR: cluster.ServiceCIDR,
		},
		Region: l.identity.Region, Zones: l.zones, System: systemNodes, Ordinary: l.options.Nodes,
		TimeScale: l.options.TimeScale, DRADrivers: l.options.DRADrivers,
		Seed: *l.identity.Seed, MayJoin: l.cloud.MayJoin, Runtime: pods, Log: log,
	})
	if err != nil {
		return err
	}
	l.closers.add(func() error { center.Stop(); return nil }, func() error { pods.Close(); return nil })
	l.record.change(func(r *running) { r.center = center })
	l.connectPower(center)
	return l.serveUsage(center.Usage())
}

// serveUsage answers the API server's questions for metrics.k8s.io.
func (l *Lab) serveUsage(handler http.Handler) error {
	certificate, err := certificate(l.access.Authority, bootstrap.MetricsHost, "localhost")
	if err != nil {
		return err
	}
	return l.closers.serve("usage metrics", l.identity.Ports.Usage, &http.Server{
		Handler: handler, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
	})
}
