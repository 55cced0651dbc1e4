package inspect

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/floor"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/installation"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/usage"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/progress"
	"github.com/daemok/daemok/ui/view"
)

// askAWSFor is how long AWS is waited for: screens show list prices where it takes longer.
const askAWSFor = 15 * time.Second

// Look reads what screens show of a live cluster at this moment. What may not be read is missing, and the view says
// so; the error is that of a cluster that cannot be reached. Where AWS cannot be asked, or askAWS is false, prices are
// list prices, and what pools may launch is not known.
func Look(ctx context.Context, at *Target, askAWS bool) (view.Cluster, error) {
	line := progress.Start(ctx, os.Stderr, "reading the cluster")
	defer line.Stop()
	l, err := newLooker(ctx, at)
	if err != nil {
		return view.Cluster{}, err
	}
	if askAWS {
		ctx, cancel := context.WithTimeout(ctx, askAWSFor)
		defer cancel()
		l.askAWS(ctx)
	}
	in, err := l.read(ctx)
	return view.Of(in), err
}

// Through reads through a client what screens show of a cluster, as Look does. AWS is not asked.
func Through(ctx context.Context, at *Target, store client.Client) (view.Input, error) {
	l := &looker{at: at, clock: &apiclock.Clock{}, troubles: &troubles{}}
	at.Notes = l.troubles
	if err := l.use(ctx, store); err != nil {
		return view.Input{}, err
	}
	return l.read(ctx)
}

// read reads all once.
func (l *looker) read(ctx context.Context) (view.Input, error) {
	l.ask(ctx)
	if _, err := l.state.Read(ctx, l.store); err != nil {
		return view.Input{Snapshot: &cluster.Snapshot{}}, err
	}
	return l.input(ctx), nil
}

// How many requests the API server gets in a second, and at once: a screen takes some fifty, and its user waits.
const (
	perSecond = 100
	atOnce    = 200
)

// looker makes views of a cluster.
type looker struct {
	at       *Target
	store    forgiving
	live     client.Reader // for what is asked anew with every view
	state    *snapshot.ClusterState
	offers   atomic.Pointer[offers] // nil: AWS was not asked
	clock    *apiclock.Clock
	troubles *troubles
	asked    atomic.Pointer[asked]
	bounded  atomic.Pointer[bounded]
	shadows  atomic.Pointer[shadows]
}

// asked is what no watch shows.
type asked struct {
	usage      map[string]quantity.Resources
	controller view.Controller
}

// ask asks for what no watch shows.
func (l *looker) ask(ctx context.Context) {
	l.asked.Store(&asked{l.usage(ctx), l.controller(ctx)})
}

// newLooker connects to the cluster, with the settings of its controller.
func newLooker(ctx context.Context, at *Target) (*looker, error) {
	l := &looker{at: at, clock: &apiclock.Clock{}, troubles: &troubles{}}
	at.Notes = l.troubles
	config, err := at.Config()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	config.Wrap(l.clock.Transport)
	config.QPS, config.Burst = perSecond, atOnce
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	store, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reach the cluster: %w", err)
	}
	return l, l.use(ctx, store)
}

// use reads through a client.
func (l *looker) use(ctx context.Context, store client.Client) error {
	l.store = forgiving{store, l.at.SystemNamespace(), l.troubles}
	l.live = l.store
	if err := l.at.Learn(ctx, l.store); err != nil {
		return err
	}
	serves, _, err := Served(store)
	if err != nil {
		return err
	}
	l.state = snapshot.New(l.offered, l.now)
	options, err := OptionsOf(l.at.Setting)
	if err != nil {
		return err
	}
	l.state.Configure(func(s *snapshot.Settings) {
		if s.Generations = serves; options.Commitments {
			s.Account = l.committed
		}
	})
	if err := setUp(l.state, l.at.SystemNamespace(), l.at.Setting); err != nil {
		return err
	}
	acting, err := actingPod(ctx, l.at, l.store)
	if err != nil {
		return err
	}
	l.state.Configure(func(s *snapshot.Settings) { s.Self = acting })
	return nil
}

// now is the API server's time: ages are those that it wrote.
func (l *looker) now() time.Time { return time.Now().Add(-l.clock.Ahead()) }

// notAsked is why pools offer nothing here; it is not shown.
const notAsked = "AWS was not asked"

func (l *looker) offered(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	o := l.offers.Load()
	if o == nil {
		return nil, notAsked
	}
	return o.of(ref)
}

// committed is what the account is committed to; nothing until AWS was asked.
func (l *looker) committed() (none cloud.AccountCommitments) {
	if o := l.offers.Load(); o != nil {
		return o.account.Commitments()
	}
	return none
}

// offers are what classes offer, as AWS said when it was asked.
type offers struct {
	classes *Classes
	account cloud.Commitments
	known   sync.Map // *offer by the reference to its class
}

type offer struct {
	catalogue *cluster.Catalogue
	why       string // there is none
}

func (o *offers) of(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	if x, asked := o.known.Load(ref); asked {
		return x.(*offer).catalogue, x.(*offer).why
	}
	ctx, cancel := context.WithTimeout(context.Background(), askAWSFor)
	defer cancel()
	x := &offer{}
	var err error
	if x.catalogue, err = o.classes.Offered(ctx, ref); err != nil {
		x.why = err.Error()
	}
	o.known.Store(ref, x)
	return x.catalogue, x.why
}

// askAWS learns what pools may launch, and at which prices. Where that fails, it is a trouble.
func (l *looker) askAWS(ctx context.Context) {
	learnt, err := l.learnOffers(ctx)
	why := ""
	if err == nil {
		l.offers.Store(learnt)
	} else {
		why = fmt.Sprintf("Prices are list prices, and what pools may launch is not known: %v", err)
	}
	l.troubles.set("AWS", why)
	l.troubles.set("commitments of the account", accountUnread(l.committed()))
	l.state.Touch()
}

func (l *looker) learnOffers(ctx context.Context) (*offers, error) {
	_, older, err := Served(l.store)
	if err != nil {
		return nil, err
	}
	provider, err := Market(ctx, l.at)
	if err != nil {
		return nil, err
	}
	classes, err := ClassesOf(ctx, l.at, l.store, provider, older)
	return &offers{classes: classes, account: provider}, err
}

// input is what was read.
func (l *looker) input(ctx context.Context) view.Input {
	s := l.state.Snapshot()
	now := *l.asked.Load()
	in := view.Input{
		Snapshot: s, Offers: l.offers.Load() != nil, Prices: aws.ListPrices{Region: l.at.Region},
		Deadlines: l.deadlines(s), Usage: now.usage, Controller: &now.controller, Bound: l.bound(s),
	}
	kept, written, err := record.Read(ctx, l.live, l.at.SystemNamespace())
	why := ""
	switch {
	case apierrors.IsForbidden(err):
		why = fmt.Sprintf("You may not read ConfigMaps in namespace %s: grant the verb get on them to see why pods wait and nodes stay.", l.at.SystemNamespace())
	case err != nil:
		why = fmt.Sprintf("The controller's record cannot be read: %v", err)
	case written.IsZero() && len(now.controller.InShadow) > 0:
	case written.IsZero():
		why = fmt.Sprintf("No decision is on record in namespace %s: reasons are missing. --system-namespace names another namespace.", l.at.SystemNamespace())
	default:
		in.Statements, _ = kept.Statements(time.Time{})
		in.Controller.Record = written
	}
	l.troubles.set("record", why)
	l.troubles.set("commitments", listedUnread(l.state))
	in.Troubles = l.troubles.list()
	if shadows := now.controller.InShadow; len(shadows) > 0 {
		in.Troubles = append(in.Troubles,
			fmt.Sprintf("Shadow mode: Deployment %s makes plans and changes nothing; daemok shadow report shows what it would have done.",
				strings.Join(shadows, ", ")))
	}
	if ahead := l.clock.Ahead().Round(time.Second); ahead.Abs() > clockMayDiffer {
		in.Troubles = append(in.Troubles,
			fmt.Sprintf("This computer's clock differs from the API server's by %v: times here are the server's.",
				ahead.Abs()))
	}
	return in
}

// boundEvery is how often the bound is computed anew: it takes longer than all the rest of a view.
const boundEvery = 10 * time.Second

// bounded is a bound, and the moment that it is of.
type bounded struct {
	at      time.Time
	dollars float64
}

// bound is the least that the pods of pools can cost, in dollars an hour; 0: not known.
func (l *looker) bound(s *cluster.Snapshot) float64 {
	if l.offers.Load() == nil {
		return 0
	}
	b := l.bounded.Load()
	if b == nil || b.dollars == 0 || s.Now.Sub(b.at) > boundEvery {
		b = &bounded{s.Now, floor.Cluster(s)}
		l.bounded.Store(b)
	}
	return b.dollars
}

// clockMayDiffer is how far clocks may be apart before it is said: the API server's header is exact to a second.
const clockMayDiffer = 30 * time.Second

// deadlines are when drains end at the latest, by NodeClaim.
func (l *looker) deadlines(s *cluster.Snapshot) map[string]time.Time {
	out := map[string]time.Time{}
	add := func(claim string, deleting bool) {
		if c := l.state.Claim(claim); deleting && c != nil {
			if end, err := time.Parse(time.RFC3339, c.Annotations[api.AnnotationTerminationTimestamp]); err == nil {
				out[claim] = end
			}
		}
	}
	for i := range s.Nodes {
		add(s.Nodes[i].Claim, s.Nodes[i].Deleting)
	}
	for i := range s.Instances {
		add(s.Instances[i].Claim, s.Instances[i].Deleting)
	}
	return out
}

// controller is what the lease and the Deployment say. The standing is of the moment at which the lease is read: later
// the API server may not answer, and the controller may act all the same.
func (l *looker) controller(ctx context.Context) (out view.Controller) {
	out.Karpenter, out.InShadow = l.at.Controller.IsKarpenter(), l.inShadow(ctx)
	wasRead := l.lease(ctx, &out)
	if d := l.at.Controller.Deployment; d != nil && !l.at.Controller.Shadow() {
		why := ""
		if err := l.live.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil && !apierrors.IsForbidden(err) {
			why = fmt.Sprintf("Deployment %s/%s cannot be read: %v", d.Namespace, d.Name, err)
		}
		l.troubles.set("Deployment", why)
		out.Wanted, out.Ready = 1, d.Status.ReadyReplicas
		if d.Spec.Replicas != nil {
			out.Wanted = *d.Spec.Replicas
		}
		for _, c := range d.Spec.Template.Spec.Containers {
			image, _, _ := strings.Cut(c.Image, "@")
			if _, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:],
				":"); tagged && out.Version == "" {
				out.Version = tag
			}
		}
	}
	if !wasRead.IsZero() {
		out.Judge(wasRead)
	}
	return out
}

// lease reads who holds the lease, and returns when it was read: zero where that is not known, or no lease decides.
func (l *looker) lease(ctx context.Context, into *view.Controller) (read time.Time) {
	key, lease := l.at.Lease(), &coordinationv1.Lease{}
	if key.IsNone() {
		return time.Time{}
	}
	err := l.live.Get(ctx, client.ObjectKey(key), lease)
	why := ""
	switch {
	case apierrors.IsNotFound(err) && l.at.Controller.Deployment == nil && l.inShadow(ctx) == nil: // none is installed
	case apierrors.IsForbidden(err):
		why = fmt.Sprintf("You may not read lease %s: grant the verb get on it to see which controller acts.", key)
	case err != nil && !apierrors.IsNotFound(err):
		why = fmt.Sprintf("Lease %s cannot be read: %v", key, err)
	default:
		read = l.now()
	}
	l.troubles.set("lease", why)
	if lease.Spec.HolderIdentity != nil {
		into.Leader, _, _ = strings.Cut(*lease.Spec.HolderIdentity, "_")
	}
	if lease.Spec.RenewTime != nil {
		into.Renewed = lease.Spec.RenewTime.Time
	}
	return read
}

// shadowsEvery is how often Deployments in shadow mode are searched for: all Deployments are listed for it.
const shadowsEvery = 5 * time.Minute

// shadows are the Deployments in shadow mode, and the moment that they are of.
type shadows struct {
	at    time.Time
	names []string
}

// inShadow are the Deployments in shadow mode; none where they cannot be listed, which concerns nobody else.
func (l *looker) inShadow(ctx context.Context) []string {
	s := l.shadows.Load()
	if s == nil || time.Since(s.at) > shadowsEvery {
		names, err := installation.InShadow(ctx, l.store.Client)
		if err != nil && s != nil {
			names = s.names
		}
		s = &shadows{time.Now(), names}
		l.shadows.Store(s)
	}
	return s.names
}

// usage is what metrics-server says of nodes; nil without one.
func (l *looker) usage(ctx context.Context) map[string]quantity.Resources {
	out, why, err := usage.Meter{Live: l.store.Client, Who: "you"}.Nodes(ctx)
	refusal := ""
	if strings.HasPrefix(why, "you may not") {
		refusal = "You may not list nodes.metrics.k8s.io: grant the verb list on them to see what nodes use."
	}
	l.troubles.set("metrics", refusal)
	if err != nil {
		return nil
	}
	return out
}
