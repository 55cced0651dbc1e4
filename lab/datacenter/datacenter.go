// Package datacenter joins the parts that make the lab's instances work: instances boot into nodes,
// one emulated kubelet per node runs the pods bound to it, the EBS driver gives them volumes, and
// their usage can be queried.
//
// It promises that Stop leaves nothing running. It knows no cloud: the caller passes instances to
// Handle. The packages machine, kubelet, volume and usage describe what each part does.
package datacenter

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"

	"github.com/daemok/daemok/lab/boot"
	"github.com/daemok/daemok/lab/event"
	"github.com/daemok/daemok/lab/kubelet"
	"github.com/daemok/daemok/lab/machine"
	"github.com/daemok/daemok/lab/usage"
	"github.com/daemok/daemok/lab/volume"
)

// How long things take at time scale 1.
const (
	readyAfter    = 5 * time.Second // from registered to a network for pods
	podStartAfter = 1 * time.Second
	podStopAfter  = 1 * time.Second
	attachAfter   = 3 * time.Second
	detachAfter   = 4 * time.Second
	devicesAfter  = 10 * time.Second // from ready to a device plugin's registration
)

// How many events kubelets write at most, of nodes and of pods: enough to
// follow dozens of them, few enough that thousands do not show in the load.
var (
	nodeEvents = event.Rate{PerSecond: 20, Burst: 300}
	podEvents  = event.Rate{PerSecond: 20, Burst: 300}
)

// Options say what a data centre serves.
type Options struct {
	Admin   *rest.Config   // the identity of the driver and of the cloud's node controller
	Node    machine.Issuer // credentials of nodes
	Cluster boot.Cluster   // the one that instances may join, with its range of services

	Region   string
	Zones    []string // of the standing nodes
	System   int      // standing nodes for the system's pods
	Ordinary int      // standing nodes for any pod

	TimeScale     float64 // of boots, pods and attachments; 0 is at once
	Seed          uint64
	DRADrivers    bool // stand-ins for drivers of dynamic resource allocation publish the devices of nodes
	UnmappedRoles []string
	MayJoin       func(role string) bool // what the cloud says of a role; nil: every one may join
	Runtime       kubelet.Runtime        // of containers that run for real; nil: none does
	Log           *slog.Logger           // nil: none
}

// Center is a data centre at work.
type Center struct {
	*machine.Fleet

	hub    *kubelet.Hub
	driver *volume.Driver
	nodes  corelisters.NodeLister
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Start brings a data centre up with its standing nodes on their way. It does
// not wait for them. It runs until Stop, whatever becomes of ctx, which bounds
// the start alone.
func Start(ctx context.Context, o Options) (*Center, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	client, err := kubernetes.NewForConfig(protobuf(o.Admin))
	if err != nil {
		return nil, fmt.Errorf("connect data centre: %w", err)
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("ask the API server's version: %w", err)
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := assemble(run, client, version.GitVersion, o)
	c.cancel = cancel
	for _, i := range c.standing(o) {
		c.Handle(i)
	}
	return c, nil
}

func assemble(ctx context.Context, client kubernetes.Interface, version string, o Options) *Center {
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) * o.TimeScale) }
	factory := informers.NewSharedInformerFactory(client, 0)
	c := &Center{nodes: factory.Core().V1().Nodes().Lister()}
	c.driver = volume.New(volume.Options{
		Client: client, Informers: factory,
		AttachAfter: scaled(attachAfter), DetachAfter: scaled(detachAfter), Log: o.Log,
	})
	ofNodes, ofPods := event.NewRecorder(nodeEvents, o.Log), event.NewRecorder(podEvents, o.Log)
	c.hub = kubelet.New(kubelet.Options{
		Client: client, Runtime: o.Runtime, Storage: c.driver, Events: ofPods, Log: o.Log,
		Pace: kubelet.Pace{StartAfter: scaled(podStartAfter), StopAfter: scaled(podStopAfter)},
	})
	c.Fleet = machine.NewFleet(ctx, machine.Options{
		Cluster: o.Cluster, Connect: machine.Connect(o.Node), Admin: client, Pods: c.hub,
		Facts: Facts, Version: version, Seed: o.Seed, ReadyAfter: scaled(readyAfter),
		DevicesAfter: scaled(devicesAfter), DRADrivers: o.DRADrivers,
		UnmappedRoles: o.UnmappedRoles, MayJoin: o.MayJoin, Events: ofNodes, Log: o.Log,
	})
	for name, run := range map[string]func(context.Context) error{
		"volumes": c.driver.Run, "pods": c.hub.Run, "events of nodes": ofNodes.Run, "events of pods": ofPods.Run,
	} {
		c.wg.Go(func() {
			if err := run(ctx); err != nil {
				o.Log.Error("part of the data centre ended", "part", name, "error", err)
			}
		})
	}
	return c
}

func protobuf(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return config
}

func (c *Center) standing(o Options) []machine.Instance {
	if len(o.Zones) == 0 {
		return nil
	}
	return machine.Standing{
		Cluster: o.Cluster, Region: o.Region, Zones: o.Zones, System: o.System, Ordinary: o.Ordinary,
	}.Instances()
}

// Usage returns the API of metrics.k8s.io over the data centre's nodes and pods.
func (c *Center) Usage() http.Handler {
	return usage.Handler(c.hub, c.listNodes, time.Now)
}

// Changed has the kubelets check a pod again, whose containers are not as they were.
func (c *Center) Changed(namespace, name string) { c.hub.Changed(namespace, name) }

func (c *Center) listNodes() []*corev1.Node {
	nodes, _ := c.nodes.List(labels.Everything()) // a cache's lister never fails
	return nodes
}

// Stop takes the power from every instance and waits until all is still.
func (c *Center) Stop() {
	c.cancel()
	c.Fleet.Wait()
	c.wg.Wait()
}
