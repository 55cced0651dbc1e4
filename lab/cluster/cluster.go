// Package cluster runs a Kubernetes control plane on this host: etcd in this process, and the API
// server, the controller manager and the scheduler as children of it.
//
// It promises that a cluster started again in the same directory is the same cluster, and that none of
// its processes outlives it. It adds nothing to the cluster: package bootstrap does.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/client-go/rest"

	"github.com/daemok/daemok/lab/access"
	"github.com/daemok/daemok/lab/component"
	"github.com/daemok/daemok/lab/directory"
	"github.com/daemok/daemok/lab/pki"
	"github.com/daemok/daemok/lab/process"
)

const (
	readyEvery = 25 * time.Millisecond
	// The API server waits for its last requests; watches would keep it long.
	apiserverGrace = 4 * time.Second
	otherGrace     = 4 * time.Second
)

// Options say where and how a cluster runs.
type Options struct {
	Directory directory.Directory
	Access    access.Cluster
	Issuer    string // URL that tokens of service accounts name
	Program   string // executable whose "component NAME FLAGS" runs a component
	OnExit    func(process.Exit)
}

// Cluster is a running control plane.
type Cluster struct {
	options     Options
	signingKey  string
	etcd        *embed.Etcd
	supervisors []*process.Supervisor // in the order of their start
}

// Start brings the control plane up and returns when the API server answers
// that it is ready. What was started is stopped again when it fails.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{options: o}
	if err := c.start(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	if err := c.writeFiles(); err != nil {
		return err
	}
	etcd, err := startEtcd(ctx, c.options.Directory)
	if err != nil {
		return err
	}
	c.etcd = etcd
	if err := c.keep(component.APIServer); err != nil {
		return err
	}
	if err := c.AwaitReady(ctx); err != nil {
		return err
	}
	for _, name := range []string{component.ControllerManager, component.Scheduler} {
		if err := c.keep(name); err != nil {
			return err
		}
	}
	return nil
}

// writeFiles makes what the components read: certificates, keys, kubeconfigs.
func (c *Cluster) writeFiles() error {
	d := c.options.Directory
	key, err := pki.SigningKey(d.Certificates())
	if err != nil {
		return err
	}
	c.signingKey = key
	serving, err := c.options.Access.Authority.Server("localhost", "127.0.0.1", "10.100.0.1",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
	if err != nil {
		return err
	}
	if err := serving.Write(d.Certificates(), servingPair); err != nil {
		return fmt.Errorf("keep serving certificate: %w", err)
	}
	for file, user := range map[string]string{
		schedulerUser: "system:kube-scheduler", controllerUser: "system:kube-controller-manager",
	} {
		config, err := c.options.Access.As(user)
		if err != nil {
			return err
		}
		if err := c.options.Access.WriteKubeconfig(componentKubeconfig(d, file), config); err != nil {
			return err
		}
	}
	if err := directory.WriteFile(d.File(egressFile), egressConfig(d)); err != nil {
		return err
	}
	return directory.WriteFile(d.File("scheduler.yaml"), schedulerConfig(d))
}

func (c *Cluster) keep(name string) error {
	flags := flagsOf(name, c.options.Directory, c.options.Access.Port, c.signingKey, c.options.Issuer)
	grace := otherGrace
	if name == component.APIServer {
		grace = apiserverGrace
	}
	k, err := process.Keep(process.Program{
		Name:  name,
		Path:  c.options.Program,
		Args:  append([]string{"component", name}, flags...),
		Log:   c.options.Directory.Log(name),
		Grace: grace,
	}, c.options.OnExit)
	if err != nil {
		return err
	}
	c.supervisors = append(c.supervisors, k)
	return nil
}

// AwaitReady returns when the API server says that it is ready.
func (c *Cluster) AwaitReady(ctx context.Context) error {
	config, err := c.options.Access.Admin()
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for {
		if err = ready(ctx, client, config.Host); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for API server, see %s: %w",
				c.options.Directory.Log(component.APIServer), errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

func ready(ctx context.Context, client *http.Client, host string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("API server answers %s", response.Status)
	}
	return nil
}

// Supervisors returns the running components in the order of their start.
func (c *Cluster) Supervisors() []*process.Supervisor {
	return append([]*process.Supervisor(nil), c.supervisors...)
}

// Stop ends the components in reverse order, and then etcd.
func (c *Cluster) Stop() {
	for i := len(c.supervisors) - 1; i >= 0; i-- {
		c.supervisors[i].Stop()
	}
	if c.etcd != nil {
		c.etcd.Close()
	}
}
