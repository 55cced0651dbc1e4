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

	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/adopt"
)

func adoptCommand(open connector) *cobra.Command {
	at, yes := newTarget(), false
	cmd := &cobra.Command{
		Use:   "adopt [NODE ...]",
		Short: "List, and with --yes take over, nodes that have a pool and no NodeClaim",
		Long: `List the nodes that a Karpenter before 0.32 has made, which have no NodeClaims:
those whose label karpenter.sh/provisioner-name, or karpenter.sh/nodepool, names a
pool. With --yes the pools take them over: pods, nodes and machines stay. Without
it nothing is changed. Stop that Karpenter first, and let Daemok's controller run,
which does it and needs the right to tag the machines: see docs/adopt.md.

The command may be stopped and given again.`,
		Example: `  daemok adopt
  daemok adopt --yes
  daemok adopt ip-10-0-1-7.ec2.internal --yes`,
		RunE: func(cmd *cobra.Command, nodes []string) error {
			store, err := open(at)
			if err != nil {
				return err
			}
			return runAdopt(cmd.Context(), store, cmd.OutOrStdout(), nodes, yes)
		},
	}
	at.addTo(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "take over what is listed")
	return cmd
}

func runAdopt(ctx context.Context, store client.Client, out io.Writer, nodes []string, yes bool) error {
	serves, _, err := served(store)
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
	claims := map[string]string{} // nodes by their claims
	left := 0
	for _, o := range orphans {
		switch {
		case o.Why != "":
			left++
			fmt.Fprintf(out, "node %s stays as it is: %s\n", o.Node.Name, o.Why)
		case !yes && o.Claim != "":
			left++
			_, why, err := adopt.Stand(ctx, store, o.Claim)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "node %s is to be taken over by NodeClaim %s already: %s\n", o.Node.Name, o.Claim, cmp.Or(why, "the controller has not said anything of it yet"))
		case !yes:
			left++
			fmt.Fprintf(out, "node %s can be taken over by %s\n", o.Node.Name, o.ID)
		default:
			claim, err := adopt.Ask(ctx, store, o)
			if err != nil {
				return err
			}
			claims[claim] = o.Node.Name
		}
	}
	if !yes {
		_, err := fmt.Fprintf(out, "%d nodes have a pool and no NodeClaim; nothing was changed\n", left)
		return err
	}
	if len(orphans) == 0 {
		_, err := fmt.Fprintln(out, "no node has a pool and no NodeClaim: there is nothing to take over")
		return err
	}
	return awaitAdoption(ctx, store, out, claims)
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
func awaitAdoption(ctx context.Context, store client.Reader, out io.Writer, claims map[string]string) error {
	failed, silent := 0, 0
	for began := time.Now(); ; {
		var waiting []string
		for _, claim := range slices.Sorted(maps.Keys(claims)) {
			done, why, err := adopt.Stand(ctx, store, claim)
			switch {
			case ctx.Err() != nil:
				return errAdoptStopped
			case err != nil:
				return err
			case !done && why == "" && time.Since(began) < adoptFor:
				waiting = append(waiting, claim)
				continue
			case done:
				fmt.Fprintf(out, "node %s is that of NodeClaim %s\n", claims[claim], claim)
			case why != "":
				failed++
				fmt.Fprintf(out, "node %s stays as it is: %s; NodeClaim %s goes on trying until it is deleted\n", claims[claim], why, claim)
			default:
				silent++
			}
			delete(claims, claim)
		}
		if len(waiting) == 0 {
			break
		}
		if pause.For(ctx, time.Second) != nil {
			return errAdoptStopped
		}
	}
	switch {
	case silent > 0:
		return fmt.Errorf("the controller has said nothing of %s in %s: is it running, and has nobody else its lease?", counted(silent, "node"), adoptFor)
	case failed > 0:
		return fmt.Errorf("%s could not be taken over", counted(failed, "node"))
	}
	return nil
}
