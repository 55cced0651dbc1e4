package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/access/kubectl"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/roll"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/progress"
)

// checkEvery is how often progress is examined.
const checkEvery = 5 * time.Second

type rollFlags struct {
	all, status, pause, resume, abort, noWait bool
	form                                      *output.Format
	namespace                                 string // of the controller
}

func rollCommand(open inspect.Connector) *cobra.Command {
	f := rollFlags{form: output.New()}
	at := inspect.NewTarget()
	cmd := &cobra.Command{
		Use:   "roll (nodepool|provisioner|nodeclass NAME | KIND/NAME)",
		Short: "Replace outdated nodes now, within budgets, and report the progress",
		Long: `Replace the nodes of a NodePool, or of all NodePools of a class, that no longer match
their NodePool and class; with --all replace every node that exists now. The controller
does it: it launches replacements before it removes nodes, within the budgets of the
NodePool and everything else that keeps nodes. It continues when this command ends. The
same command with another flag pauses, resumes or ends it: the request is in the
annotation daemok.sh/roll of each NodePool.

While it is paused, no node of the NodePool is replaced because of drift. After --abort
drifted nodes are replaced as they are without a roll.

Nodes of a Provisioner are outdated if they were made from an earlier spec of it, which
alone does not replace them.`,
		Example: `  daemok roll nodepool web
  daemok roll provisioner default
  daemok roll nodeclass default --all
  daemok roll nodepool web --pause
  daemok roll nodepool web --status -o json`,
		Args:      func(_ *cobra.Command, args []string) error { return rollable(kubectl.KindAndName(args)) },
		ValidArgs: []string{"nodepool", "provisioner", "nodeclass"},
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := open(at)
			if err != nil {
				return err
			}
			f.namespace = at.SystemNamespace()
			return runRoll(cmd.Context(), store, cmd.OutOrStdout(), kubectl.KindAndName(args), f)
		},
	}
	at.AddTo(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "replace every node that exists now, outdated or not")
	cmd.Flags().BoolVar(&f.status, "status", false, "report the progress, and change nothing")
	cmd.Flags().BoolVar(&f.pause, "pause", false, "replace no more nodes; those that are being replaced continue")
	cmd.Flags().BoolVar(&f.resume, "resume", false, "continue after --pause")
	cmd.Flags().BoolVar(&f.abort, "abort", false, "end it; nodes that were replaced stay replaced")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "do not wait until nothing is left to replace")
	f.form.AddTo(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("all", "status", "pause", "resume", "abort")
	return cmd
}

func rollable(args []string) error {
	switch {
	case len(args) != 2:
		return errors.New("say what to roll: nodepool, provisioner or nodeclass, and its name")
	case rolled(args[0]) == "":
		return fmt.Errorf("%q cannot be rolled: want nodepool, provisioner or nodeclass", args[0])
	case args[1] == "":
		return fmt.Errorf("name the %s to roll", args[0])
	}
	return nil
}

// rolled is what a word means that kubectl has for a kind: nodepool, provisioner or nodeclass; empty: no such kind is rolled.
func rolled(word string) string {
	switch word = strings.ToLower(word); {
	case inspect.KindOfClass(word) != "":
		return "nodeclass"
	case word == "nodepool" || word == "nodepools":
		return "nodepool"
	case word == "provisioner" || word == "provisioners":
		return "provisioner"
	}
	return ""
}

func runRoll(ctx context.Context, store client.Client, out io.Writer, args []string, f rollFlags) error {
	serves, _, err := inspect.Served(store)
	if err != nil {
		return err
	}
	pools, err := roll.Pools(ctx, store, serves, rolled(args[0]), args[1])
	if err != nil {
		return err
	}
	stop := f.noWait
	switch {
	case f.status:
		stop = true
	case f.pause:
		stop, err = true, roll.Pause(ctx, store, pools, time.Now())
	case f.abort:
		stop, err = true, roll.Abort(ctx, store, pools)
	case f.resume:
		err = roll.Resume(ctx, store, pools)
	default:
		err = roll.Start(ctx, store, pools, f.all, time.Now())
	}
	if err != nil {
		return err
	}
	return f.follow(ctx, store, out, pools, stop)
}

// follow prints for people how far it is whenever that changes, until nothing is left or,
// where it is to stop, once. In other forms it prints what is so in the end.
func (f rollFlags) follow(ctx context.Context, store client.Client, out io.Writer, pools []translate.PoolObject, stop bool) error {
	serves, _, err := inspect.Served(store)
	if err != nil {
		return err
	}
	began, last := time.Now(), ""
	line := progress.Start(ctx, os.Stderr, "reading how far the roll is")
	defer line.Stop()
	for {
		all, err := roll.Read(ctx, store, serves, pools, time.Now, f.namespace)
		if err != nil {
			return err
		}
		kept, _, err := record.Read(ctx, store, f.namespace)
		if err != nil {
			return err
		}
		done, text := true, ""
		for i := range all {
			all[i] = all[i].Keep(kept.Stays)
			done, text = done && all[i].Done(), text+rollText(all[i], f.form.Is(output.Wide))
		}
		if !f.form.ForPeople() && (stop || done) {
			line.Stop()
			return f.form.Print(out, progressOf(pools, all))
		}
		if f.form.ForPeople() && text != last {
			line.Step("waiting for the controller")
			if _, err := io.WriteString(out, text); err != nil {
				return err
			}
			last = text
		}
		switch {
		case stop:
			return nil
		case done:
			line.Stop()
			_, err := fmt.Fprintf(out, "done in %s\n", time.Since(began).Round(time.Second))
			return err
		}
		if err := pause.For(ctx, checkEvery); err != nil {
			return errors.New("the roll goes on without this command: --status shows how far it is, --abort ends it")
		}
	}
}

// rollText is how far a roll is for people; wide: with every node that is still to go.
func rollText(p roll.Progress, wide bool) string {
	text := p.String() + "\n"
	for i := 0; wide && i < len(p.Nodes); i++ {
		text += "  node " + p.Nodes[i] + " is to go\n"
	}
	return text
}

// rollJSON is how far the roll of a pool is, as scripts read it. Lists are never null.
type rollJSON struct {
	Pool         string          `json:"pool"`
	Done         bool            `json:"done"`
	ToGo         int64           `json:"toGo"`
	Going        int64           `json:"going"`
	Joining      int64           `json:"joining"` // instances that are to go once they have joined
	Allowed      int64           `json:"allowed"` // how many more may go now
	Because      string          `json:"because,omitempty"`
	Nodes        []string        `json:"nodes"` // still to go
	Kept         []rollStaysJSON `json:"kept"`
	LastsSeconds float64         `json:"lastsSeconds,omitempty"`
	Wrong        string          `json:"wrong,omitempty"` // why what was asked for cannot be read
}

// rollStaysJSON is a node that is to go and stays for now.
type rollStaysJSON struct {
	Node string `json:"node"`
	Why  string `json:"why"`
}

// progressOf is how far the rolls of pools are, in forms for scripts.
func progressOf(pools []translate.PoolObject, all []roll.Progress) output.Answer {
	var a output.Answer
	list := make([]rollJSON, len(all))
	for i, p := range all {
		list[i] = rollJSON{
			Pool: pools[i].ID.String(), Done: p.Done(), ToGo: p.Left, Going: p.Going, Joining: p.Coming, Allowed: p.Allowed, Because: p.Because,
			Nodes: append([]string{}, p.Nodes...), LastsSeconds: p.Lasts.Seconds(), Wrong: p.Wrong,
			Kept: output.Each(p.Kept, func(k roll.Kept) rollStaysJSON { return rollStaysJSON{k.Node, k.Why} }),
		}
		a.Rows = append(a.Rows, output.Row{Object: poolObject(pools[i].ID), Value: list[i]})
	}
	a.Value = list
	return a
}

func poolObject(id cluster.PoolID) output.Object { return output.Refer(id.String()) }
