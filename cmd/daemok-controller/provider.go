package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/interruption"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/observe"
)

// provider is what this program uses of the AWS adapter.
type provider interface {
	cloud.Catalog
	cloud.Instances
	Subnets(ctx context.Context, class nodeclass.Class) ([]nodeclass.Subnet, error)
	Groups(ctx context.Context, class nodeclass.Class) ([]nodeclass.Group, error)
	Images(ctx context.Context, class nodeclass.Class) ([]nodeclass.Image, error)
	Profile(ctx context.Context, class nodeclass.Class) (string, error)
	KubernetesVersion(ctx context.Context) (string, error)
	Reservations(ctx context.Context, class nodeclass.Class) ([]nodeclass.Reservation, error)
	Placement(ctx context.Context, class nodeclass.Class) (*nodeclass.PlacementGroup, error)
	Unsized(ctx context.Context, class nodeclass.Class) (nodeclass.Unsized, error)
	Crowded(ctx context.Context, class nodeclass.Class) (nodeclass.Crowded, error)
	Verify(ctx context.Context, class nodeclass.Class) error
	UserDataBytes(ctx context.Context, class nodeclass.Class) (int, error)
	Forget(ctx context.Context, class nodeclass.Class) error
	Drop(classID string)
	CollectProfiles(ctx context.Context, used map[string]bool) ([]string, error)
	RefreshTypes(ctx context.Context) error
	RefreshOnDemand(ctx context.Context) error
	RefreshSpot(ctx context.Context) error
	RefreshTemplates(ctx context.Context) error
	RefreshQuotas(ctx context.Context) error
	RefreshCommitments(ctx context.Context) error
}

// adapter is also asked for what it has seen, which makes no call.
type adapter interface {
	provider
	controller.SpotMemory
	controller.Sizes
	controller.Offerings
	cloud.Shortages
	cloud.Adopter
	cloud.Checks
	cloud.Shifts
	cloud.Commitments
	HasOnDemand() bool
	InterruptionMessages(queue string) *interruption.Queue
}

// startFor is how long the first read of AWS may take.
const startFor = time.Minute

// newProvider connects to AWS and learns what is for sale, so that a wrong
// setting ends the program with one line.
func newProvider(ctx context.Context, o options, config *rest.Config, reported *observe.Metrics, log *slog.Logger) (adapter, error) {
	ctx, cancel := context.WithTimeout(ctx, startFor)
	defer cancel()
	uid, err := clusterUID(ctx, config)
	if err != nil {
		return nil, err
	}
	settings := aws.Options{
		Cluster: o.clusterName, ClusterUID: uid, Endpoint: o.clusterEndpoint, CA: authority(o, config),
		Agent:       "daemok/" + version.Get().Version,
		Role:        o.assumedRole,
		IsolatedVPC: o.isolatedVPC, MemoryOverhead: o.vmMemoryOverheadPercent, ReservedENIs: int64(o.reservedENIs),
		NoSurplusCredits: !o.surplusCredits, NoReservedCapacity: !o.reserved, ZonalShift: o.zonalShift, ReadOnly: o.shadow.on,
		Commitments: o.readsCommitments(),
		Observer:    callObserver{reported},
		Warn:        func(err error) { log.Warn("some information from AWS is missing", "error", err.Error()) },
	}
	if !o.shadow.on { // which boots no instances
		settings.DNS = clusterDNS(ctx, config)
	}
	if !o.eksControlPlane {
		settings.KubernetesVersion = versionOf(config)
	}
	p, err := aws.New(ctx, settings)
	if err != nil {
		return nil, err
	}
	if err := p.Check(ctx); err != nil {
		return nil, err
	}
	if err := p.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("learn what EC2 offers in %s: %w", p.Region(), err)
	}
	return p, nil
}

// callObserver counts calls to AWS.
type callObserver struct{ metrics *observe.Metrics }

func (o callObserver) Called(c client.Call) {
	o.metrics.ObserveAWS(c.Service, c.Operation, statusOf(c.Code), c.Took, c.Attempts)
	for _, t := range c.Tries {
		o.metrics.ObserveAttempt(c.Service, c.Operation, statusOf(t.Code), t.Took)
	}
}

// statusOf is how metrics say what AWS answered.
func statusOf(code string) string { return cmp.Or(code, "200") }

// authority is the CA that instances trust: the one given, else that of the controller's own
// connection.
func authority(o options, config *rest.Config) string {
	if o.clusterCABundle != "" {
		return o.clusterCABundle
	}
	if err := rest.LoadTLSFiles(config); err != nil || len(config.CAData) == 0 {
		return ""
	}
	return base64.StdEncoding.EncodeToString(config.CAData)
}

// clusterDNS is the address of the kube-dns service; empty where it is not known, and instances
// find out by themselves.
func clusterDNS(ctx context.Context, config *rest.Config) string {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return ""
	}
	service, err := clients.CoreV1().Services("kube-system").Get(ctx, "kube-dns", metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return service.Spec.ClusterIP
}

// clusterUID is what distinguishes the cluster from others of its name: the UID of namespace
// kube-system. The controller may list namespaces, and reads none by name.
func clusterUID(ctx context.Context, config *rest.Config) (string, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("connect to the API server: %w", err)
	}
	found, err := clients.CoreV1().Namespaces().List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + metav1.NamespaceSystem})
	if err != nil {
		return "", fmt.Errorf("read the UID of namespace %s, which distinguishes the cluster's instances from those of another cluster of its name: %w", metav1.NamespaceSystem, err)
	}
	if len(found.Items) != 1 {
		return "", fmt.Errorf("there is no namespace %s, whose UID distinguishes the cluster's instances from those of another cluster of its name", metav1.NamespaceSystem)
	}
	return string(found.Items[0].UID), nil
}

// versionOf asks the API server for its minor version, such as 1.36.
func versionOf(config *rest.Config) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		client, err := discovery.NewDiscoveryClientForConfig(config)
		if err != nil {
			return "", fmt.Errorf("ask the API server for its version: %w", err)
		}
		v, err := client.ServerVersion()
		if err != nil {
			return "", fmt.Errorf("ask the API server for its version: %w", err)
		}
		return v.Major + "." + trimPlus(v.Minor), nil
	}
}

// trimPlus cuts what EKS adds to the minor version: "36+".
func trimPlus(minor string) string {
	for i, c := range minor {
		if c < '0' || c > '9' {
			return minor[:i]
		}
	}
	return minor
}

// retryRefresh is how soon a refresh that failed is tried again.
const retryRefresh = time.Minute

// refresh keeps what is known of AWS fresh until ctx ends; what changed is a
// reason for a new plan.
func (p *parts) refresh(ctx context.Context) error {
	var loops sync.WaitGroup
	prices := aws.OnDemandEvery
	if !p.hasPrices {
		prices = retryRefresh
	}
	commitments := aws.CommitmentsEvery
	if p.asked.commitments != nil {
		if read := p.asked.commitments.Commitments(); read.MayBeReadSoon() {
			commitments = retryRefresh
		}
	}
	for _, l := range []struct {
		what         string
		first, every time.Duration
		do           func(context.Context) error
	}{
		{"instance types", aws.TypesEvery, aws.TypesEvery, p.provider.RefreshTypes},
		{"on-demand prices", prices, aws.OnDemandEvery, p.provider.RefreshOnDemand},
		{"spot prices", aws.SpotEvery, aws.SpotEvery, p.provider.RefreshSpot},
		{"quotas", aws.QuotasEvery, aws.QuotasEvery, p.provider.RefreshQuotas},
		{"commitments", commitments, aws.CommitmentsEvery, p.provider.RefreshCommitments},
	} {
		round := later(l.first, l.every, l.do)
		loops.Go(func() {
			_ = controller.Round{What: "refresh " + l.what, Do: func(ctx context.Context) (time.Duration, error) {
				after, err := round(ctx)
				p.clusterState.Touch()
				return after, err
			}}.Run(ctx, p.log) // ends with ctx alone
		})
	}
	loops.Wait()
	return nil
}

// refreshTemplates removes launch templates that this process has not used
// for long. Only the leader may: another does not know which are in use.
func (p *parts) refreshTemplates(ctx context.Context) error {
	return controller.Round{What: "refresh launch templates", Do: later(aws.TemplatesEvery, aws.TemplatesEvery, p.provider.RefreshTemplates)}.Run(ctx, p.log)
}

func (p *parts) profilesRound() controller.Round {
	return controller.ProfilesRound(&class.Profiles{Live: p.manager.GetAPIReader(), Kinds: p.classes.Served, Cloud: p.provider, Every: aws.ProfilesEvery, Log: p.log})
}

// later makes rounds of a refresh that the start has just tried: the first comes
// when it says, all others a full length after another, and one after a failure sooner.
func later(begin, length time.Duration, do func(context.Context) error) func(context.Context) (time.Duration, error) {
	first := true
	return func(ctx context.Context) (time.Duration, error) {
		if first {
			first = false
			return begin, nil
		}
		if err := do(ctx); err != nil {
			return min(length, retryRefresh), err
		}
		return length, nil
	}
}
