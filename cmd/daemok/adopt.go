package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/migrate/adopt"
	"github.com/daemok/daemok/ui/progress"
)

func adoptCommand(open inspect.Connector) *cobra.Command {
	at, yes, form := inspect.NewTarget(), false, output.New()
	cmd := &cobra.Command{
		Use:   "adopt [NODE ...]",
		Short: "List, and with --yes take over, nodes of a NodePool without a NodeClaim",
		Long: `List the nodes that Karpenter before 0.32 launched, which have no NodeClaims: those whose
label karpenter.sh/provisioner-name, or karpenter.sh/nodepool, names a Provisioner or
NodePool. With --yes these take the nodes over: pods, nodes and instances stay. Without it
nothing is changed. Stop that Karpenter first, and keep Daemok's controller running: it
does the work, and needs the right to tag the instances: see docs/tasks/adopt.md.

You may stop the command and run it again.`,
		Example: `  daemok adopt
  daemok adopt --yes
  daemok adopt ip-10-0-1-7.ec2.internal --yes`,
		RunE: func(cmd *cobra.Command, nodes []string) error {
			store, err := open(at)
			if err != nil {
				return err
			}
			line := progress.Start(cmd.Context(), cmd.ErrOrStderr(), "reading nodes and NodeClaims, and waiting for the controller")
			defer line.Stop()
			return runAdopt(cmd.Context(), store, line.Over(cmd.OutOrStdout()), nodes, yes, form)
		},
	}
	at.AddTo(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "take over what is listed")
	form.AddTo(cmd.Flags())
	return cmd
}

// adoption is how far it is with the node of an orphan, as scripts read it.
type adoption struct {
	Node     string `json:"node"`
	Instance string `json:"machine,omitempty"` // its provider ID
	Pool     string `json:"pool,omitempty"`
	Claim    string `json:"claim,omitempty"` // that takes it over
	State    string `json:"state"`
	Why      string `json:"why,omitempty"` // it stays, or what the controller says of the claim
}

// States of an adoption.
const (
	adoptStays = "Kept" // as it is: it cannot be taken over
	adoptMay   = "Adoptable"
	adoptAsked = "Pending" // it was asked for, and the controller has not done it yet
	adoptDone  = "Adopted"
	adoptFails = "Failed" // and the controller goes on trying
)

// text is the adoption for people; wide: with the instance.
func (a adoption) text(wide bool) string {
	node := "node " + a.Node
	if wide && a.Instance != "" {
		node += " (" + a.Instance + ")"
	}
	switch a.State {
	case adoptMay:
		return node + " can be taken over by " + a.Pool
	case adoptAsked:
		return fmt.Sprintf("%s is to be taken over by NodeClaim %s already: %s", node, a.Claim, cmp.Or(a.Why, "the controller has not said anything of it yet"))
	case adoptDone:
		return fmt.Sprintf("%s is that of NodeClaim %s", node, a.Claim)
	case adoptFails:
		return fmt.Sprintf("%s stays as it is: %s; NodeClaim %s goes on trying until it is deleted", node, a.Why, a.Claim)
	}
	return node + " stays as it is: " + a.Why
}

// adoptions are those of a command, reported to people as they come, else in the end.
type adoptions struct {
	list []adoption
	form *output.Format
	out  io.Writer
}

func (as *adoptions) add(a adoption) {
	as.list = append(as.list, a)
	as.say("%s\n", a.text(as.form.Is(output.Wide)))
}

// say prints something for people.
func (as *adoptions) say(format string, args ...any) {
	if as.form.ForPeople() {
		fmt.Fprintf(as.out, format, args...)
	}
}

// end reports all where that is not done.
func (as *adoptions) end() error {
	if as.form.ForPeople() {
		return nil
	}
	a := output.Answer{Value: append([]adoption{}, as.list...)}
	for _, one := range as.list {
		a.Rows = append(a.Rows, output.Row{Object: output.ObjectOf("Node", one.Node), Value: one})
	}
	return as.form.Print(as.out, a)
}

func runAdopt(ctx context.Context, store client.Client, out io.Writer, nodes []string, yes bool, form *output.Format) error {
	serves, _, err := inspect.Served(store)
	if err != nil {
		return err
	}
	orphans, err := adopt.Find(ctx, store, serves)
	if err != nil {
		return err
	}
	if orphans, err = named(orphans, nodes); err != nil {
		return err
	}
	reported := &adoptions{form: form, out: out}
	asked := map[string]adoption{} // by their claims
	for _, o := range orphans {
		a := adoption{Node: o.Node.Name, Instance: o.Node.Spec.ProviderID, Pool: o.ID.String(), Claim: o.Claim}
		switch {
		case o.Why != "":
			a.State, a.Why = adoptStays, o.Why
			reported.add(a)
		case !yes && o.Claim != "":
			a.State = adoptAsked
			if _, a.Why, err = adopt.Stand(ctx, store, o.Claim); err != nil {
				return err
			}
			reported.add(a)
		case !yes:
			a.State = adoptMay
			reported.add(a)
		default:
			if a.Claim, err = adopt.Ask(ctx, store, o); err != nil {
				return err
			}
			asked[a.Claim] = a
		}
	}
	switch {
	case !yes:
		reported.say("%d nodes have a pool and no NodeClaim; nothing was changed\n", len(reported.list))
	case len(orphans) == 0:
		reported.say("no node has a pool and no NodeClaim: there is nothing to take over\n")
	}
	failed := awaitAdoption(ctx, store, reported, asked)
	if err := reported.end(); err != nil {
		return err
	}
	return failed
}

// named are the orphans that the user named, or all where none was.
func named(orphans []adopt.Orphan, nodes []string) ([]adopt.Orphan, error) {
	if len(nodes) == 0 {
		return orphans, nil
	}
	var out []adopt.Orphan
	for _, name := range nodes {
		i := slices.IndexFunc(orphans, func(o adopt.Orphan) bool { return o.Node.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("node %s cannot be taken over: it is not there, names no pool, or has its NodeClaim; daemok adopt lists those that can be", name)
		}
		out = append(out, orphans[i])
	}
	return out, nil
}

var errAdoptStopped = errors.New("stopped; the controller goes on, and so does the command when it is given again")

// adoptFor is how long the controller may take to say something of a claim.
const adoptFor = 2 * time.Minute

// awaitAdoption waits until the controller has taken all nodes over, or has said why not.
func awaitAdoption(ctx context.Context, store client.Reader, reported *adoptions, asked map[string]adoption) error {
	failed, silent := 0, 0
	for began := time.Now(); ; {
		waiting := 0
		for _, claim := range slices.Sorted(maps.Keys(asked)) {
			a := asked[claim]
			done, why, err := adopt.Stand(ctx, store, claim)
			switch {
			case ctx.Err() != nil:
				return errAdoptStopped
			case err != nil:
				return err
			case !done && why == "" && time.Since(began) < adoptFor:
				waiting++
				continue
			case done:
				a.State = adoptDone
				reported.add(a)
			case why != "":
				failed++
				a.State, a.Why = adoptFails, why
				reported.add(a)
			default:
				silent++
				a.State = adoptAsked
				reported.list = append(reported.list, a) // people see how many there are
			}
			delete(asked, claim)
		}
		if waiting == 0 {
			break
		}
		if pause.For(ctx, time.Second) != nil {
			return errAdoptStopped
		}
	}
	switch {
	case silent > 0:
		return fmt.Errorf("the controller has reported nothing about %s in %s: is it running, and does no other process hold its lease?", brief.Counted(silent, "node"), adoptFor)
	case failed > 0:
		return fmt.Errorf("%s could not be taken over", brief.Counted(failed, "node"))
	}
	return nil
}
