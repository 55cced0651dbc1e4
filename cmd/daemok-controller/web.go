package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/observe/record"
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
func (p *parts) addWeb() error {
	w := p.options.web
	if w.port == 0 {
		return nil
	}
	source := &webSource{parts: p, changed: make(chan struct{}, 1)}
	o := web.Options{Source: source, Record: recorded{p.record}, Title: p.options.clusterName}
	host := "127.0.0.1"
	if w.exposed {
		host = ""
		asks, err := kubernetes.NewForConfig(p.manager.GetConfig())
		if err != nil {
			return fmt.Errorf("review tokens of the pages: %w", err)
		}
		o.Tokens = &review.Reviewer{Tokens: asks.AuthenticationV1().TokenReviews(), Access: asks.AuthorizationV1().SubjectAccessReviews(), Now: time.Now}
	}
	s := web.New(o)
	source.browsers = s.Browsers
	to, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(w.port)))
	if err != nil {
		return fmt.Errorf("serve the pages, --web-port (WEB_PORT) %d: %w", w.port, err)
	}
	return p.manager.Add(always(func(ctx context.Context) error { return serveWeb(ctx, to, s, source) }))
}

// serveWeb serves until ctx ends.
func serveWeb(ctx context.Context, to net.Listener, s *web.Server, source *webSource) error {
	var follows sync.WaitGroup
	defer follows.Wait()
	follows.Go(func() { source.run(ctx) })
	follows.Go(func() { s.Run(ctx) })
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	follows.Go(func() {
		<-ctx.Done()
		_ = h.Close() // what is read here can be read again
	})
	if err := h.Serve(to); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the pages: %w", err)
	}
	return nil
}

// webSource makes views of what the controller knows.
type webSource struct {
	*parts
	browsers func() int
	current  atomic.Pointer[view.Cluster]
	changed  chan struct{}
}

// View implements view.Source.
func (s *webSource) View() *view.Cluster { return s.current.Load() }

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

// view is what is known now.
func (s *webSource) view() view.Cluster {
	now := s.clusterState.Snapshot()
	in := view.Input{Snapshot: now, Offers: true, Prices: aws.ListPrices{}, Deadlines: s.deadlines(now), Controller: &view.Controller{Version: version.Get().Version}}
	in.Statements, _ = s.record.Statements(time.Time{})
	if s.leads() {
		in.Controller.Leader, in.Controller.Renewed = ownPod(), now.Now
	} else {
		in.Troubles = append(in.Troubles, fmt.Sprintf("Pod %s does not lead, and does not know what the leader decides: open the pages of the pod that holds the lease %s.", ownPod(), ownLease(s.options)))
	}
	return view.Of(in)
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
