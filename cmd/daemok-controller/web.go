package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/floor"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/usage"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/changes"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/web"
	"github.com/daemok/daemok/ui/web/review"
)

// webOptions are how the pages are served that show the cluster in a browser.
type webOptions struct {
	port    int  // 0: they are not served
	exposed bool // to other hosts, which need a token
}

func (w webOptions) check() error {
	if w.exposed && w.port == 0 {
		return errors.New("--web-exposed (WEB_EXPOSED) is true and --web-port (WEB_PORT) is 0: want a port to serve the pages at")
	}
	return nil
}

// How often a view is made: while a browser follows, and for the history alone.
const (
	viewEvery = time.Second
	idleEvery = 15 * time.Second
)

// addWeb serves the pages, where that is asked for: on every replica, of what this one knows.
func (p *parts) addWeb(made *madePlans) error {
	w := p.options.web
	if w.port == 0 {
		return nil
	}
	meter := usage.Meter{Live: p.manager.GetAPIReader(), Who: "the controller"}
	source := &webSource{parts: p, changed: make(chan struct{}, 1), meter: meter}
	config := rest.CopyConfig(p.manager.GetConfig())
	config.Timeout = contactEvery
	version := versionOf(config)
	source.server.ask = func(ctx context.Context) error {
		_, err := version(ctx)
		return err
	}
	o := web.Options{
		Source: source, Record: recorded{p.record}, Title: p.options.clusterName,
		Planner: made, Latest: true, Meter: meter,
	}
	host := "127.0.0.1"
	if w.exposed {
		host = ""
		asks, err := kubernetes.NewForConfig(p.manager.GetConfig())
		if err != nil {
			return fmt.Errorf("review tokens of the pages: %w", err)
		}
		o.Tokens = review.New(asks.AuthenticationV1().TokenReviews(), asks.AuthorizationV1().SubjectAccessReviews(), time.Now)
	}
	s := web.New(o)
	source.browsers = s.Browsers
	to, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(w.port)))
	if err != nil {
		return fmt.Errorf("serve the pages, --web-port (WEB_PORT) %d: %w", w.port, err)
	}
	return p.manager.Add(always(func(ctx context.Context) error { return serveWeb(ctx, to, s, source) }))
}

// serveWeb serves until ctx ends, or until nothing more can be accepted, which is an error.
func serveWeb(ctx context.Context, to net.Listener, s *web.Server, source *webSource) error {
	var follows sync.WaitGroup
	defer follows.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end() // before the wait: what follows ends with what is served
	follows.Go(func() { source.run(ctx) })
	follows.Go(func() { source.measure(ctx) })
	follows.Go(func() { source.server.keep(ctx, time.Now) })
	follows.Go(func() { s.Run(ctx) })
	h := s.HTTP()
	follows.Go(func() {
		<-ctx.Done()
		_ = h.Close() // what is read here can be read again
	})
	return web.Serve(h, to)
}

// webSource makes views of what the controller knows.
type webSource struct {
	*parts
	browsers func() int
	meter    usage.Meter
	current  atomic.Pointer[view.Cluster]
	input    atomic.Pointer[view.Input] // of the current view
	used     atomic.Pointer[measured]
	server   contact
	changed  chan struct{}

	bounded time.Time // when the bound was computed, which takes longer than all the rest
	bound   float64
}

// View implements view.Source.
func (s *webSource) View() *view.Cluster { return s.current.Load() }

// Input implements view.Inputs.
func (s *webSource) Input() *view.Input { return s.input.Load() }

// Changed implements view.Source.
func (s *webSource) Changed() <-chan struct{} { return s.changed }

// run makes views until ctx ends: less often while no browser follows.
func (s *webSource) run(ctx context.Context) {
	if !s.manager.GetCache().WaitForCacheSync(ctx) || !s.clusterState.WaitForFirst(ctx) {
		return
	}
	tick := time.NewTicker(viewEvery)
	defer tick.Stop()
	for made := (time.Time{}); ; {
		if now := time.Now(); s.browsers() > 0 || now.Sub(made) >= idleEvery {
			made = now
			c := s.view()
			s.current.Store(&c)
			select {
			case s.changed <- struct{}{}:
			default:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// contactEvery is how often the API server is asked whether it answers, and for how long it may take.
const contactEvery = 5 * time.Second

// contact is whether the API server answers: watches that are cut off say nothing.
type contact struct {
	ask    func(context.Context) error
	silent atomic.Pointer[string] // nil: it answers
}

// keep asks until ctx ends.
func (c *contact) keep(ctx context.Context, now func() time.Time) {
	for pause.For(ctx, contactEvery) == nil {
		c.again(ctx, now)
	}
}

func (c *contact) again(ctx context.Context, now func() time.Time) {
	switch err := c.ask(ctx); {
	case err == nil:
		c.silent.Store(nil)
	case c.silent.Load() == nil:
		text := fmt.Sprintf("The API server has not answered this pod since %s, and what is shown is of then: %v.",
			now().UTC().Format("15:04:05 UTC"), err)
		c.silent.Store(&text)
	}
}

// troubles are why what is shown may not be so.
func (c *contact) troubles(doubt string) (out []string) {
	if why := c.silent.Load(); why != nil {
		out = append(out, *why)
	}
	if doubt != "" {
		out = append(out, "Ages may be wrong, and no node is disrupted: "+doubt+".")
	}
	return out
}

// How often metrics-server is asked, which knows something new as often, and for how long that is shown.
const (
	usedEvery = 15 * time.Second
	usedFor   = time.Minute
)

// measured is what nodes use, by their names, and when metrics-server said so.
type measured struct {
	used map[string]quantity.Resources
	at   time.Time
}

// of is what is shown of it at a moment.
func (m *measured) of(now time.Time) map[string]quantity.Resources {
	if m == nil || now.Sub(m.at) > usedFor {
		return nil
	}
	return m.used
}

// measure asks what nodes use while a browser follows, until ctx ends. Where metrics-server is missing, or the right to
// list what it has, nothing is shown of that.
func (s *webSource) measure(ctx context.Context) {
	for pause.For(ctx, usedEvery) == nil {
		if s.browsers() == 0 {
			continue
		}
		used, _, err := s.meter.Nodes(ctx)
		if err != nil {
			used = nil
		}
		s.used.Store(&measured{used, time.Now()})
	}
}

// view is what is known now.
func (s *webSource) view() view.Cluster {
	now := s.clusterState.Snapshot()
	in := view.Input{Snapshot: now, Offers: true, Prices: aws.ListPrices{}, Deadlines: s.deadlines(now)}
	in.Statements, _ = s.record.Statements(time.Time{})
	in.Usage, in.Troubles = s.used.Load().of(time.Now()), s.server.troubles(s.clock.Doubt())
	if now.Now.Sub(s.bounded) >= boundEvery {
		s.bounded, s.bound = now.Now, floor.Cluster(now)
	}
	in.Bound = s.bound
	s.role().addTo(&in)
	s.input.Store(&in)
	return view.Of(in)
}

// role is what a pod of the controller is to the cluster.
type role struct {
	pod   string
	lease string
	leads bool
}

func (s *webSource) role() role { return role{ownPod(), ownLease(s.options).String(), s.leads()} }

// addTo says who acts, which a pod that does not lead does not know.
func (r role) addTo(in *view.Input) {
	in.Controller = &view.Controller{Version: version.Get().Version}
	if r.leads {
		in.Controller.Leader, in.Controller.Standing = r.pod, view.Acting
		return
	}
	in.Troubles = append(in.Troubles, fmt.Sprintf("Pod %s does not lead, and does not know what the leader decides: "+
		"open the pages of the pod that holds the lease %s.", r.pod, r.lease))
}

// deadlines are when drains end at the latest, by NodeClaim.
func (s *webSource) deadlines(now *cluster.Snapshot) map[string]time.Time {
	out := map[string]time.Time{}
	for i := range now.Nodes {
		n := &now.Nodes[i]
		if !n.Deleting {
			continue
		}
		if c := s.clusterState.Claim(n.Claim); c != nil {
			if end, err := time.Parse(time.RFC3339, c.Annotations[api.AnnotationTerminationTimestamp]); err == nil {
				out[n.Claim] = end
			}
		}
	}
	return out
}

// recorded is the record of this process.
type recorded struct{ *record.Record }

// About lists what is on record about an object.
func (r recorded) About(_ context.Context, o record.Object) ([]record.Statement, error) {
	return r.Record.About(o), nil
}

// listener receives plans for the pages; nil: they are not served.
func (w webOptions) listener(made *madePlans) func(*cluster.Snapshot, plan.Plan) {
	if w.port == 0 {
		return nil
	}
	return made.take
}

// madePlans are the newest plan of this process, and the newest that did anything.
type madePlans struct {
	newest atomic.Pointer[changes.Situation]
	acted  atomic.Pointer[changes.Situation]
}

func (m *madePlans) take(s *cluster.Snapshot, p plan.Plan) {
	now := &changes.Situation{Snapshot: s, Plan: cost.AsBilled(s, p)}
	m.newest.Store(now)
	if !now.Counts().Nothing() {
		m.acted.Store(now)
	}
}

// Plan lays out the newest plan, and where it does nothing the newest that did.
func (m *madePlans) Plan(context.Context) (page.Page, error) {
	now := m.newest.Load()
	if now == nil {
		return page.Page{}, errors.New("this pod has made none yet: " +
			"the pod that leads makes plans, and carries them out; open its pages")
	}
	out := changes.Page(changes.Input{Medium: changes.WebPages, Situation: *now})
	if acted := m.acted.Load(); acted != nil && now.Counts().Nothing() {
		laid := changes.Page(changes.Input{Medium: changes.WebPages, Situation: *acted})
		before := page.Block{Heading: "The plan before, which is carried out", Tone: text.Strong}
		before.Line(text.Of(laid.Note))
		out.Add(before)
		out.Add(laid.Blocks...)
	}
	return out, nil
}
