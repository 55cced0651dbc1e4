package machine

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/lab/boot"
	"github.com/daemok/daemok/lab/event"
)

// Facts are what an instance of a type finds out about itself.
type Facts struct {
	boot.Hardware
	VolumesMax int32       // EBS volumes that the driver may attach beside the root
	Published  []Published // devices, where DRA drivers run
}

// Options are what a Fleet is made of.
type Options struct {
	Cluster       boot.Cluster                          // the one that instances may join
	Connect       func(nodeName string) (Client, error) // as a node
	Admin         kubernetes.Interface                  // as the cloud's node controller
	Pods          pods                                  // handles the pods of nodes that are up
	Facts         func(i Instance) (Facts, error)       // of an instance's type
	Version       string                                // of the cluster, such as v1.36.3
	Seed          uint64                                // for what hypervisors keep
	ReadyAfter    time.Duration                         // from registered to ready, already scaled
	DevicesAfter  time.Duration                         // from ready to the device plugin's registration, likewise
	DRADrivers    bool                                  // drivers of dynamic resource allocation register as late
	UnmappedRoles []string                              // nodes of these roles are not let in, to begin with
	MayJoin       func(role string) bool                // what the cloud says of a role beside; nil: every one may
	Events        *event.Recorder                       // nil: nothing is reported
	Log           *slog.Logger                          // nil: none
}

// Fleet is all instances of the emulated cloud, and nodes that stand without one. Its
// methods may be called from several goroutines.
type Fleet struct {
	options Options
	ctx     context.Context // ends with Run's
	running sync.WaitGroup

	mu       sync.Mutex // guards all below
	machines map[string]*machine
	unmapped map[string]bool // roles whose nodes are not let in
	next     []next          // commands for instances that boot from now on
	cut      map[string]bool // instances that are cut off the network, by ID
	closed   bool
}

// machine is one instance that was seen running, and its boots.
type machine struct {
	instance Instance
	console  *console
	node     *agent // nil until its kubelet runs
	powerOff context.CancelFunc
	stopped  chan struct{} // closed when the latest boot has ended
}

// NewFleet returns a fleet without instances. They work until ctx ends; then call Wait.
func NewFleet(ctx context.Context, o Options) *Fleet {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	f := &Fleet{options: o, ctx: ctx, machines: map[string]*machine{}, unmapped: map[string]bool{}, cut: map[string]bool{}}
	for _, role := range o.UnmappedRoles {
		f.unmapped[role] = true
	}
	return f
}

// Wait returns when every instance has stopped; the context given to NewFleet must have
// ended.
func (f *Fleet) Wait() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.running.Wait()
}

// Handle takes what the cloud says about an instance: one that is running and
// was not boots, any other is without power at once. It is safe to repeat.
func (f *Fleet) Handle(i Instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.machines[i.ID]
	switch {
	case i.State == Running && (m == nil || m.powerOff == nil):
		f.powerOn(i, m)
	case i.State == Running:
	case m != nil && m.powerOff != nil:
		m.powerOff()
		m.powerOff, m.node = nil, nil
		m.console.printf("power off: instance is %s", i.State)
	}
}

// powerOn is called with the lock held.
func (f *Fleet) powerOn(i Instance, m *machine) {
	if f.closed {
		return
	}
	if m == nil {
		m = &machine{console: &console{}}
		f.machines[i.ID] = m
	}
	m.instance = i
	ctx, cancel := context.WithCancel(f.ctx)
	before, stopped := m.stopped, make(chan struct{})
	m.powerOff, m.stopped = cancel, stopped
	f.running.Go(func() {
		defer close(stopped)
		if before != nil {
			<-before // the last words of the boot before must not fall into this one
		}
		f.boot(ctx, m, i)
	})
}

// boot runs one instance from power on to power off.
func (f *Fleet) boot(ctx context.Context, m *machine, i Instance) {
	log := f.options.Log.With("instance", i.ID, "node", i.PrivateDNS)
	m.console.printf("booting %s from %s", i.Type, i.ImageName)
	reported := f.ordersFor(i)
	plan, err := f.prepare(i)
	if err != nil {
		m.console.printf("%v", err)
		log.Warn("instance will never join the cluster", "error", err)
		return
	}
	if reported.neverRegister {
		m.console.printf("kernel panic - not syncing: the lab keeps this instance from registering")
		log.Info("the lab keeps this instance from registering")
		return
	}
	if pause.For(ctx, i.NodeDelay+reported.bootAfter) != nil {
		return
	}
	if !f.connected(ctx, m.console, i.ID) || !f.letIn(ctx, m.console, i.Role) {
		return
	}
	client, err := f.options.Connect(i.PrivateDNS)
	if err != nil {
		m.console.printf("kubelet: %v", err)
		log.Error("node gets no credentials", "error", err)
		return
	}
	if c, ok := client.(interface{ Close() }); ok {
		defer c.Close()
	}
	a := newAgent(plan, client, f.options, reported, m.console, log)
	f.mu.Lock()
	if ctx.Err() == nil {
		m.node = a
	}
	a.silent = f.cut[i.ID]
	f.mu.Unlock()
	a.run(ctx)
}

// prepare reads what the instance is to become; the error says why it will never be a node.
func (f *Fleet) prepare(i Instance) (blueprint, error) {
	facts, err := f.options.Facts(i)
	if err != nil {
		return blueprint{}, fmt.Errorf("hardware: %w", err)
	}
	settings, err := boot.Read(boot.FamilyOf(i.ImageName, i.UserData), i.UserData)
	if err != nil {
		return blueprint{}, err
	}
	if err := settings.Joins(f.options.Cluster); err != nil {
		return blueprint{}, fmt.Errorf("kubelet: %w", err)
	}
	return f.blueprint(i, settings, facts)
}

func (f *Fleet) blueprint(i Instance, settings boot.Settings, facts Facts) (blueprint, error) {
	devices := facts.Devices
	facts.Devices = nil // the kubelet learns of them from their plugin, later
	capacity, allocatable, err := settings.Resources(facts.Hardware, f.options.Seed)
	if err != nil {
		return blueprint{}, fmt.Errorf("kubelet: invalid configuration: %w", err)
	}
	return blueprint{
		instance: i, settings: settings, facts: facts,
		capacity: capacity, allocatable: allocatable, devices: devices, version: f.options.Version,
	}, nil
}

// Console returns what an instance wrote on its console, one line each.
func (f *Fleet) Console(id string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.machines[id]; m != nil {
		return m.console.lines()
	}
	return nil
}

// IDs returns the instances that have power, sorted.
func (f *Fleet) IDs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.machines)), func(id string) bool {
		return f.machines[id].powerOff == nil
	})
}

// Silence stops a node from saying anything more, as when its kubelet hangs,
// or lets it speak again. Its pods stay as they are meanwhile.
func (f *Fleet) Silence(id string, silent bool) error {
	a, err := f.agent(id)
	if err != nil {
		return err
	}
	a.silence(silent)
	return nil
}

// Report makes a node report a condition until the next command; one of the kubelet's own
// types takes that one's place.
func (f *Fleet) Report(id string, c corev1.NodeCondition) error {
	a, err := f.agent(id)
	if err != nil {
		return err
	}
	a.report(c)
	return nil
}

// Unreport takes back what Report said of a type.
func (f *Fleet) Unreport(id string, kind corev1.NodeConditionType) error {
	a, err := f.agent(id)
	if err != nil {
		return err
	}
	a.unreport(kind)
	return nil
}

// Restart boots a running instance again, which registers its node again when it was
// deleted.
func (f *Fleet) Restart(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.machines[id]
	if m == nil || m.powerOff == nil {
		return fmt.Errorf("instance %s does not run", id)
	}
	m.powerOff()
	m.node = nil
	f.powerOn(m.instance, m)
	return nil
}

func (f *Fleet) agent(id string) (*agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.machines[id]
	if m == nil || m.node == nil {
		return nil, fmt.Errorf("instance %s has no kubelet running", id)
	}
	return m.node, nil
}
