// Package webcmd is the command `daemok web`.
package webcmd

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/usage"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/web"
)

// Follow watches what the pages show.
type Follow func(ctx context.Context, at *inspect.Target, askAWS bool) (view.Source, error)

// Connect returns a client of the cluster, for what is read when a page asks for it.
type Connect func(at *inspect.Target) (client.Client, error)

// Plan lays out what would happen in the cluster now. It reads what it needs.
type Plan func(ctx context.Context, at *inspect.Target) (page.Page, error)

// Command is `daemok web`.
func Command(follow Follow, connect Connect, plan Plan) *cobra.Command {
	at, listen, askAWS := inspect.NewTarget(), "", false
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Show the cluster in a browser: nodes and their pods as a map, decisions, cost over time",
		Long: `Show the cluster in a browser on this computer: nodes as boxes with their pods in them, by pool or
zone; what was decided lately, and why; what would happen now; what the cluster costs and for whom;
cost, its lower bound and pending pods over time; and a page for each node, pool, pod and workload.

It prints an address and serves it until it is interrupted. The address has a token, so that other
users of this computer do not see the cluster. The pages change nothing in the cluster, and need
no other host: they work wherever kubectl reaches the cluster. It needs no AWS credentials:
prices are then list prices. With --aws it asks AWS for prices and for what pools may launch. The
page Plan asks AWS whenever it is opened, as "daemok plan" does.

The controller can serve the same pages: see docs/tasks/web.md.`,
		Example: `  daemok web
  daemok web --context staging --listen 127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			to, err := open(listen)
			if err != nil {
				return err
			}
			defer to.Close()
			store, err := connect(at)
			if err != nil {
				return err
			}
			source, err := follow(cmd.Context(), at, askAWS)
			if err != nil {
				return err
			}
			o := web.Options{
				Source: source, Record: &written{store: store, namespace: at.SystemNamespace()},
				Title: at.EKSName(), Token: rand.Text(),
				Planner: planner{plan, at}, Meter: usage.Meter{Live: store, Who: "you"},
			}
			return serve(cmd.Context(), to, o, cmd.OutOrStdout())
		},
	}
	at.AddTo(cmd)
	at.AddAWS(cmd)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address of this computer to serve at; port 0 is a free one")
	cmd.Flags().BoolVar(&askAWS, "aws", false, "ask AWS for prices and for what pools may launch")
	return cmd
}

// open listens at an address that this computer alone reaches.
func open(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--listen is %q: want an address and a port, such as 127.0.0.1:8080", address)
	}
	at, err := netip.ParseAddr(host)
	if host != "localhost" && (err != nil || !at.IsLoopback()) {
		return nil, fmt.Errorf("--listen is %q: want an address of this computer alone, such as 127.0.0.1:8080; "+
			"to show the cluster to others, have the controller serve the pages, which asks for their tokens: docs/tasks/web.md", address)
	}
	to, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen is %q: %w; port 0 finds a free one", address, err)
	}
	return to, nil
}

// endFor is how long requests may take to end once the command is interrupted.
const endFor = 2 * time.Second

// serve serves the pages until ctx ends, or until nothing more can be accepted, which is an error.
func serve(ctx context.Context, to net.Listener, o web.Options, out io.Writer) error {
	s := web.New(o)
	var follows sync.WaitGroup
	defer follows.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end() // before the wait: what follows ends with what is served
	follows.Go(func() { s.Run(ctx) })
	h := s.HTTP()
	follows.Go(func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endFor)
		defer cancel()
		_ = h.Shutdown(end) // what has not ended by then ends with the process
	})
	fmt.Fprintf(out, "http://%s/?token=%s\n\nOpen this address in a browser. It is served until you press Ctrl-C.\n", to.Addr(), o.Token)
	return web.Serve(h, to)
}

// planner makes plans when a page asks for one.
type planner struct {
	plan Plan
	at   *inspect.Target
}

// Plan lays out what would happen now.
func (p planner) Plan(ctx context.Context) (page.Page, error) { return p.plan(ctx, p.at) }

// freshFor is for how long a record that was read is used again.
const freshFor = 2 * time.Second

// written is the record as the controller's ConfigMaps have it.
type written struct {
	store     client.Reader
	namespace string

	mu   sync.Mutex
	kept *record.Record
	at   time.Time
}

// About lists what is on record about an object.
func (w *written) About(ctx context.Context, o record.Object) ([]record.Statement, error) {
	kept, err := w.read(ctx)
	if err != nil {
		return nil, err
	}
	return kept.About(o), nil
}

func (w *written) read(ctx context.Context) (*record.Record, error) {
	w.mu.Lock()
	kept, at := w.kept, w.at
	w.mu.Unlock()
	if kept != nil && time.Since(at) < freshFor {
		return kept, nil
	}
	kept, _, err := record.Read(ctx, w.store, w.namespace)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept, w.at = kept, time.Now()
	return kept, nil
}
