// Package aws is the adapter to AWS: it launches and terminates instances, and has one folder per AWS
// concern.
//
// It promises to implement the cloud port (cloud.Catalog and cloud.Instances) for one cluster, to
// start no goroutine that outlives its call, and to need only the SDK's usual configuration:
// AWS_ENDPOINT_URL redirects all of its calls. Its caller refreshes what it knows, at the intervals
// given here. It does not use Kubernetes' API types.
package aws

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/smithy-go/middleware"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/capacity"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/commitment"
	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/cloud/aws/fleet"
	"github.com/daemok/daemok/cloud/aws/image"
	"github.com/daemok/daemok/cloud/aws/instance"
	"github.com/daemok/daemok/cloud/aws/interruption"
	"github.com/daemok/daemok/cloud/aws/measure"
	"github.com/daemok/daemok/cloud/aws/network"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/pace"
	"github.com/daemok/daemok/cloud/aws/placement"
	"github.com/daemok/daemok/cloud/aws/price"
	"github.com/daemok/daemok/cloud/aws/profile"
	"github.com/daemok/daemok/cloud/aws/quota"
	"github.com/daemok/daemok/cloud/aws/reservation"
	"github.com/daemok/daemok/cloud/aws/risk"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/internal/pause"
)

var (
	_ cloud.Catalog   = (*Provider)(nil)
	_ cloud.Instances = (*Provider)(nil)

	_ cloud.Checks    = (*Provider)(nil)
	_ cloud.Shortages = (*Provider)(nil)
	_ cloud.Shifts    = (*Provider)(nil)
)

// UsualMemoryOverhead is the MemoryOverhead of a controller that is not configured
// otherwise.
const UsualMemoryOverhead = ec2data.MemoryKeptMost

// Options are the settings of the adapter. Only Cluster must be set.
type Options struct {
	Cluster  string // name of the cluster, as EKS knows it
	Endpoint string // URL of its API server; empty: asked of EKS
	CA       string // its certificate authority in base64; empty: asked of EKS
	CIDR     string // its service network; empty: asked of EKS
	DNS      string // address of its DNS service; empty: instances find out

	ClusterUID string // distinguishes it from others of its name in the account: the UID of namespace kube-system; empty: not known

	Region      string      // empty: as the SDK finds it
	Role        client.Role // that all calls are made as; none: with the credentials of the program
	Agent       string      // how the program names itself to AWS: "daemok/1.0"
	ReadOnly    bool        // calls that may change something are refused with client.ErrReadOnly, and none of them is sent
	IsolatedVPC bool        // IAM and Pricing cannot be reached

	MemoryOverhead float64 // share of memory that the hypervisor keeps where no instance showed it; UsualMemoryOverhead: as ec2data.MemoryKept says
	ReservedENIs   int64   // network interfaces of an instance that pods do not get

	NoSurplusCredits bool // burstable types are never counted on above their baseline

	// NoReservedCapacity leaves capacity reservations alone: classes select none, and
	// instances run in open ones where EC2 finds that they match.
	NoReservedCapacity bool

	// ZonalShift has the adapter ask which zones the cluster's work is shifted away from.
	ZonalShift bool

	// Commitments has the adapter read Reserved Instances and Savings Plans of the account.
	Commitments bool

	// KubernetesVersion says which version images are for, as "1.36". Nil: EKS is asked.
	KubernetesVersion func(context.Context) (string, error)

	HTTP     client.Doer                                      // carries requests out; nil: the SDK's own client
	Observer client.Observer                                  // receives every call; may be nil
	Warn     func(error)                                      // receives what Refresh could do without; may be nil
	Now      func() time.Time                                 // nil: the system's clock
	Pause    func(ctx context.Context, d time.Duration) error // nil: by the system's clock
}

// Provider is the adapter for one cluster in one region. It is safe for
// concurrent use. New makes one.
type Provider struct {
	options Options
	clients client.Clients

	prices     *price.Book
	short      *capacity.Memory
	risk       risk.Memory
	measured   *measure.Book
	reserved   *reservation.Book
	addresses  network.Addresses
	finder     network.Finder
	reserves   reservation.Finder
	placements placement.Finder
	images     image.Finder
	profiles   profile.Profiles
	collector  *profile.Collector
	templates  *fleet.Templates
	launcher   fleet.Launcher
	instances  *instance.Store
	facts      facts
	steady     steady
	quotas     quota.Book
	committed  commitment.Book

	mu                 sync.Mutex
	cluster            userdata.Cluster
	arn                string                           // of the cluster; empty: not asked for yet
	reservedCapacities map[string]nodeclass.Reservation // that were seen and are not over
	unmet              map[string]bool                  // reservations that instances are in and that were not seen
	version            version
	listed             bool            // prices on demand were read, or cannot be asked for
	noQuotas           bool            // that Service Quotas may not be read was reported
	reservedCount      bool            // capacity reservations count against limits of vCPUs, and not instances in them
	zones              map[string]bool // that types were read again for, though none are offered there
	types              []catalog.Type
	typesSeq           uint64
	revision           uint64
	classes            map[string]*known // by class ID
}

// New configures the adapter and makes no calls, but for the region where none is set.
// Check and Refresh come next.
func New(ctx context.Context, o Options) (*Provider, error) {
	if o.Cluster == "" {
		return nil, errors.New("the cluster has no name: set CLUSTER_NAME (settings.clusterName) to its name in EKS")
	}
	o = o.withDefaults()
	var further []func(*middleware.Stack) error
	if o.ReadOnly {
		further = append(further, client.ReadOnly)
	}
	clients, err := client.New(ctx, o.Region, o.Agent, o.HTTP, o.Observer, pace.New(o.Now, o.Pause), o.Role, further...)
	if err != nil {
		return nil, err
	}
	return newProvider(o, clients), nil
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pause == nil {
		o.Pause = pause.For
	}
	return o
}

func newProvider(o Options, clients client.Clients) *Provider {
	o = o.withDefaults()
	facts := factsFor(clients.Region)
	p := &Provider{
		options: o, clients: clients, facts: facts, classes: map[string]*known{}, zones: map[string]bool{}, reservedCapacities: map[string]nodeclass.Reservation{}, unmet: map[string]bool{},
		prices: price.New(facts), short: capacity.New(o.Now), measured: measure.New(o.Now), reserved: reservation.NewBook(o.Now),
		finder:     network.Finder{API: clients.EC2, Region: clients.Region, Cluster: o.Cluster},
		reserves:   reservation.Finder{API: clients.EC2},
		placements: placement.Finder{API: clients.EC2},
		images:     image.Finder{API: clients.EC2, Parameters: image.NewParameters(clients.SSM, o.Now), Now: o.Now},
		profiles:   profile.Profiles{API: clients.IAM, Cluster: o.Cluster, Region: clients.Region},
		templates:  fleet.NewTemplates(clients.EC2, o.Cluster, o.Now),
		instances:  instance.New(clients.EC2, o.Cluster, o.Now, o.Pause),
		cluster:    userdata.Cluster{Name: o.Cluster, UID: o.ClusterUID, Endpoint: o.Endpoint, CA: o.CA, CIDR: o.CIDR, DNS: o.DNS},
	}
	p.instances.Shifted = p.short.Shifted
	p.instances.UID, p.templates.UID = o.ClusterUID, o.ClusterUID
	p.instances.Stranger = func(id, uid string) {
		if o.Warn != nil {
			o.Warn(fmt.Errorf("instance %s has the name of this cluster, %s, and the UID of another, %s, in its tag %s: it is left alone; "+
				"give clusters of an account names of their own, and terminate the instance if its cluster is gone", id, o.Cluster, uid, nodeclass.TagUID))
		}
	}
	p.collector = profile.NewCollector(p.profiles, o.Now)
	p.launcher = fleet.Launcher{API: clients.EC2, Templates: p.templates, Shortage: p.short, Addresses: &p.addresses, Reserved: p.reserved,
		Now: o.Now, Pause: o.Pause}
	return p
}

// Region is where the adapter launches.
func (p *Provider) Region() string { return p.clients.Region }

// InterruptionMessages reads the SQS queue of that name.
func (p *Provider) InterruptionMessages(queue string) *interruption.Queue {
	q := interruption.New(p.clients.SQS, queue, p.options.Cluster, p.options.Now, p.options.Pause)
	q.Warn = p.options.Warn
	return q
}

// Short implements cloud.Shortages.
func (p *Provider) Short(offerings ...cloud.OfferingChoice) {
	for _, o := range offerings {
		if o.ReservedCapacity != "" {
			p.reserved.Full(o.ReservedCapacity)
			continue
		}
		p.short.AddOffering(o.Kind, o.Zone, o.Option, (*nodeclass.PlacementGroup)(nil).Place("", o.Dedicated))
	}
}

// classOf returns the class that the port's callers passed on.
func classOf(c cloud.Class) (nodeclass.Class, error) {
	switch settings := c.Settings.(type) {
	case nodeclass.Class:
		return settings, nil
	case *nodeclass.Class:
		if settings != nil {
			return *settings, nil
		}
	}
	return nodeclass.Class{}, fmt.Errorf("class %s carries settings of type %T, not a nodeclass.Class", c.ID, c.Settings)
}
