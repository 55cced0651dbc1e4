// Command serve serves the pages over a cluster that no one has, for tests in a browser and for pictures.
//
// It reads commands from standard input, a line each, and answers each with a line.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/changes"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/web"
	"github.com/daemok/daemok/ui/web/browser/example"
)

func main() {
	nodes := flag.Int("nodes", 40, "nodes of the cluster")
	pods := flag.Int("pods", 12, "pods of each node")
	token := flag.String("token", "", "token that the pages need")
	reviewed := flag.Bool("reviewed", false, "whether the pages need a token of Kubernetes: any, until the command refuse")
	flag.Parse()
	if err := run(*nodes, *pods, *token, *reviewed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(nodes, pods int, token string, reviewed bool) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	cluster := example.New(time.Now(), nodes, pods)
	p := place{address: "127.0.0.1:0"}
	o := web.Options{
		Source: cluster, Record: said{cluster}, Title: "example", Token: token,
		Planner: planner{cluster}, Meter: meter{cluster},
	}
	if reviewed {
		o.Tokens = &p.tokens
	}
	server := web.New(o)
	go server.Run(ctx)
	p.handler = server.Handler()
	if err := p.open(); err != nil {
		return err
	}
	fmt.Println("http://" + p.address)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		answer := "ok"
		if err := p.obey(cluster, lines.Text()); err != nil {
			answer = "error: " + err.Error()
		}
		fmt.Println(answer)
	}
	return nil
}

// said is the record of the example: what its events say, and one statement about everything.
type said struct{ *example.Cluster }

func (s said) About(_ context.Context, o record.Object) ([]record.Statement, error) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	out := []record.Statement{{
		About: o, Topic: record.TopicStay, Said: "stays", Why: "its pods fit nowhere for less",
		More: []string{"next best: m5.large at $0.107/h"}, From: at,
	}}
	for _, x := range s.Input().Statements {
		if x.About == o {
			out = append(out, x)
		}
	}
	return out, nil
}

// planner makes plans as the controller does.
type planner struct{ *example.Cluster }

func (p planner) Plan(context.Context) (page.Page, error) {
	s := p.Input().Snapshot
	made := decide.Decide(s, decide.Policy{}, decide.Usual(s))
	of := changes.Situation{Snapshot: s, Plan: made}
	return changes.Page(changes.Input{Medium: changes.WebPages, Situation: of}), nil
}

// meter has every pod use a third of its cpu and half of its memory.
type meter struct{ *example.Cluster }

func (m meter) Pods(context.Context, string) (map[cost.PodID]cost.Used, string, error) {
	out := map[cost.PodID]cost.Used{}
	s := m.Input().Snapshot
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			p := &s.Nodes[i].Pods[j]
			r := p.Takes()
			out[cost.Of(p)] = cost.Used{Samples: 1, CPU: r.CPU / 3, Memory: r.Memory / 2}
		}
	}
	return out, "", nil
}

// tokens are all good, until they are refused.
type tokens struct{ why atomic.Pointer[error] }

func (t *tokens) Review(context.Context, string) error {
	if why := t.why.Load(); why != nil {
		return *why
	}
	return nil
}

// place is where the pages are served, while they are.
type place struct {
	handler http.Handler
	address string
	server  *http.Server
	tokens  tokens
}

func (p *place) open() error {
	at, err := net.Listen("tcp", p.address)
	if err != nil {
		return err
	}
	p.address = at.Addr().String()
	p.server = &http.Server{Handler: p.handler, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = p.server.Serve(at) }() // it ends with cut
	return nil
}

// obey carries out a command.
func (p *place) obey(c *example.Cluster, line string) error {
	var node, n int
	now := time.Now()
	switch word, rest, _ := strings.Cut(line, " "); word {
	case "change":
		_, err := fmt.Sscan(rest, &n)
		c.Change(now, n)
		return err
	case "become": // become 3 draining why
		var status string
		if _, err := fmt.Sscan(rest, &node, &status); err != nil {
			return err
		}
		c.Become(now, node, view.Status(status), "2 nodes hold the pods of 3 for less")
	case "wait":
		c.Wait(now, view.Waiting{
			Namespace: "shop", Owner: "Deployment/" + rest, Pods: []string{rest + "-1"}, Count: 3, Since: now.Add(-90 * time.Second), Requests: "cpu: 500m, memory: 1Gi",
			Looked: true, Reason: "NodePool/batch: cpu limit reached: 16 of 20 used, m5.2xlarge needs 8 more",
		})
	case "place":
		c.Place(now)
	case "rename": // rename 3 NAME, with \n for a line
		if _, err := fmt.Sscan(rest, &node); err != nil {
			return err
		}
		_, name, _ := strings.Cut(rest, " ")
		c.Rename(now, node, strings.ReplaceAll(name, `\n`, "\n"), name)
	case "refuse": // refuse, for what has no valid token; refuse why
		why := web.ErrUnknown
		if rest != "" {
			why = fmt.Errorf("%w: %s", web.ErrForbidden, rest)
		}
		p.tokens.why.Store(&why)
	case "accept":
		p.tokens.why.Store(nil)
	case "cut":
		return p.server.Close()
	case "back":
		return p.open()
	default:
		return fmt.Errorf("unknown command %q", word)
	}
	return nil
}
