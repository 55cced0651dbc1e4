// Package up assembles a lab: a control plane, the emulated cloud with its instances, and the
// controller.
//
// It promises to stop what it starts, in reverse order, that a lab started again in its directory
// continues where it stopped, and that nothing of a lab is left outside its directory. cmd/daemok-lab
// handles command lines and signals.
package up

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/client-go/rest"

	"github.com/daemok/daemok/deploy"
	"github.com/daemok/daemok/lab/access"
	"github.com/daemok/daemok/lab/bootstrap"
	"github.com/daemok/daemok/lab/cluster"
	"github.com/daemok/daemok/lab/control"
	"github.com/daemok/daemok/lab/directory"
	"github.com/daemok/daemok/lab/pki"
	"github.com/daemok/daemok/lab/process"
)

// ControllerComponent is the name of the controller among the components.
const ControllerComponent = "controller"

// Options say what lab to start. Empty fields of the identity stand for what
// the directory holds, or for the defaults in a new one.
type Options struct {
	Directory  directory.Directory
	Identity   Identity
	Program    string                           // the lab's own executable
	Nodes      int                              // ordinary nodes that stand without a pool
	TimeScale  float64                          // of boots and terminations; 0 is at once
	DRADrivers bool                             // nodes publish their devices for ResourceClaims
	Controller bool                             // where it is installed as a program
	Chart      Chart                            // where it is installed by its chart
	Say        func(format string, args ...any) // progress and trouble, for people
}

// Lab is a running lab.
type Lab struct {
	options     Options
	directory   directory.Directory
	identity    Identity
	zones       []string
	access      access.Cluster
	admin       *rest.Config
	environment []variable
	cloud       *cloud
	ports       reservation
	closers     closers
	record      record
}

// Start brings a lab up and returns when it is ready for use. When it fails or
// the context ends, what was started is stopped again. The directory must be
// locked by this process.
func Start(ctx context.Context, o Options) (*Lab, error) {
	l := &Lab{options: o, directory: o.Directory}
	l.enter(control.Starting)
	if err := l.start(ctx); err != nil {
		return nil, errors.Join(err, l.Stop())
	}
	l.enter(control.Ready)
	return l, nil
}

func (l *Lab) start(ctx context.Context) error {
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"prepare directory", l.prepare},
		{"start cloud", l.startCloud},
		{"start control plane", l.startCluster},
		{"prepare for pods", l.startContainers},
		{"start instances", l.startMachines},
		{"set up cluster", l.setUpCluster},
		{"start controller", l.startProduct},
	} {
		begin := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		l.options.Say("%s: %.1fs", step.name, time.Since(begin).Seconds())
	}
	return nil
}

// prepare clears what a killed lab left, makes the folders and decides who the
// lab is.
func (l *Lab) prepare(context.Context) error {
	d := l.directory
	if err := d.RemoveSockets(); err != nil {
		return err
	}
	if err := d.Make(); err != nil {
		return err
	}
	l.closers.add(d.RemoveSockets)
	identity, err := resolve(d, l.options.Identity)
	if err != nil {
		return err
	}
	if l.zones, err = zones(identity.Region); err != nil {
		return err
	}
	l.closers.add(l.ports.release)
	if err := l.ports.choose(&identity.Ports); err != nil {
		return err
	}
	if err := d.Save(keptFile, identity); err != nil {
		return err
	}
	authority, err := pki.Open(d.Certificates(), time.Now)
	if err != nil {
		return err
	}
	l.identity = identity
	l.access = access.Cluster{Name: identity.ClusterName, Port: identity.Ports.API, Authority: authority}
	if l.admin, err = l.access.Admin(); err != nil {
		return err
	}
	stop, err := control.Serve(d.ControlSocket(), l)
	if err != nil {
		return err
	}
	l.closers.add(stop)
	return nil
}

func (l *Lab) startCluster(ctx context.Context) error {
	if err := l.openGateway(ctx); err != nil {
		return err
	}
	if err := l.publishTokenKeys(); err != nil {
		return err
	}
	c, err := cluster.Start(ctx, cluster.Options{
		Directory: l.directory, Access: l.access, Issuer: l.cloud.Issuer(), Program: l.options.Program, OnExit: l.onExit,
	})
	if err != nil {
		return err
	}
	l.closers.add(func() error { c.Stop(); return nil })
	l.record.change(func(r *running) { r.cluster = c })
	return nil
}

// setUpCluster fills the cluster and writes the files by which others reach it.
func (l *Lab) setUpCluster(ctx context.Context) error {
	err := bootstrap.Apply(ctx, bootstrap.Options{
		Admin: l.admin, Product: l.product(),
		Metrics:  bootstrap.Metrics{Port: l.identity.Ports.Usage, CABundle: l.access.Authority.CertificatePEM()},
		Identity: bootstrap.Identity{Port: l.identity.Ports.PodIdentity, CABundle: l.access.Authority.CertificatePEM()},
	})
	if err != nil {
		return err
	}
	if err := bootstrap.AwaitUsable(ctx, l.admin, systemNodes+l.options.Nodes); err != nil {
		return err
	}
	return l.writeAccess(ctx)
}

func (l *Lab) writeAccess(ctx context.Context) error {
	if err := l.access.WriteKubeconfig(l.directory.Kubeconfig(), l.admin); err != nil {
		return err
	}
	if l.identity.Install == AsProgram {
		controller, err := bootstrap.AsController(ctx, l.admin)
		if err != nil {
			return err
		}
		if err := l.access.WriteKubeconfig(l.directory.ControllerKubeconfig(), controller); err != nil {
			return err
		}
	}
	l.environment = environment(l.directory, l.identity, l.access)
	return directory.WriteFile(l.directory.Environment(), shell(l.environment))
}

// product is what the lab itself puts into the cluster of the product; nil where a chart brings it.
func (l *Lab) product() []byte {
	if l.identity.Install == AsProgram {
		return slices.Concat(deploy.RBAC, []byte("\n---\n"), deploy.SteeringRBAC)
	}
	return nil
}

func (l *Lab) startProduct(ctx context.Context) error {
	switch {
	case l.identity.Install == AsProgram && l.options.Controller:
		return l.startController()
	case l.options.Identity.Install == ByChart:
		i := installation{
			chart: l.options.Chart, identity: l.identity, account: l.cloud.Account().ID,
			directory: l.directory, admin: l.admin, program: l.options.Program, say: l.options.Say,
		}
		return i.install(ctx)
	}
	return nil // pods of a chart that was installed before run by themselves
}

// Stop ends everything that runs, latest first.
func (l *Lab) Stop() error {
	l.enter(control.Stopping)
	for _, k := range slices.Backward(l.record.now().supervisors) {
		k.Stop()
	}
	return l.closers.close()
}

// Status says how far the lab has come and what it runs.
func (l *Lab) Status() control.Status {
	now := l.record.now()
	return control.Status{
		Phase: now.phase, PID: os.Getpid(), Directory: l.directory.Root(),
		Kubeconfig: l.directory.Kubeconfig(), Environment: l.directory.Environment(),
		AWSControl: loopback(l.identity.Ports.AWSControl),
		Components: now.components(l.directory.Log),
	}
}

// Restart stops a component, or the processes of a pod, and starts it again.
func (l *Lab) Restart(ctx context.Context, name string) error {
	return l.record.now().restart(ctx, name)
}

func (l *Lab) enter(p control.Phase) { l.record.change(func(r *running) { r.phase = p }) }

func (l *Lab) onExit(e process.Exit) {
	how := "ended"
	if e.Err != nil {
		how = fmt.Sprintf("ended with %v", e.Err)
	}
	l.options.Say("%s %s after %.1fs, to be started again in %v; its log is %s",
		e.Name, how, e.RanFor.Seconds(), e.Retry, e.LogFile)
}
