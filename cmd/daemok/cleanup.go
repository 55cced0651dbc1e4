package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/cloud/aws/leftover"
)

func cleanupCommand() *cobra.Command {
	var cluster, region string
	var yes bool
	cmd := &cobra.Command{
		Use:   "cleanup --cluster NAME",
		Short: "List, and with --yes remove, what a deleted cluster left behind at AWS",
		Long: `List what an autoscaler made for a cluster that is gone: instances, volumes that
outlived them, launch templates and instance profiles, and network interfaces of
its nodes that are attached to nothing. With --yes they are removed; without it
nothing is changed. Instances end within minutes: repeat it then, for what they
held.

A cluster that EKS still knows is refused. EKS does not know a cluster that was
made without it, alive or not: look at the list before --yes. What carries the tag of another
cluster is left alone, and so are node groups, and volumes that drivers made for
workloads. The command needs AWS credentials and no cluster.`,
		Example: `  daemok cleanup --cluster old
  daemok cleanup --cluster old --region eu-west-1 --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cluster == "" {
				return errors.New("say which cluster is gone: --cluster NAME")
			}
			sweeper, err := leftover.Open(cmd.Context(), cluster, region, "daemok-cli")
			if err != nil {
				return err
			}
			return cleanUp(cmd.Context(), sweeper, cmd.OutOrStdout(), cluster, yes)
		},
	}
	cmd.Flags().StringVar(&cluster, "cluster", "", "name of the cluster that is gone")
	cmd.Flags().StringVar(&region, "region", "", "where it was; default as the AWS SDK finds it")
	cmd.Flags().BoolVar(&yes, "yes", false, "remove what is listed")
	return cmd
}

func cleanUp(ctx context.Context, sweeper *leftover.Sweeper, out io.Writer, cluster string, yes bool) error {
	things, err := sweeper.Find(ctx)
	if err != nil {
		return err
	}
	for _, t := range things {
		fmt.Fprintln(out, t)
	}
	switch {
	case len(things) == 0:
		_, err := fmt.Fprintf(out, "nothing is left of cluster %s in %s\n", cluster, sweeper.Region())
		return err
	case !yes:
		_, err := fmt.Fprintf(out, "%d are left of cluster %s in %s; nothing was removed: repeat with --yes to remove them\n", len(things), cluster, sweeper.Region())
		return err
	}
	failed, err := sweeper.Remove(ctx, things, func(t leftover.Thing, err error) {
		if err != nil {
			fmt.Fprintf(out, "could not remove %s: %s\n", t, err)
			return
		}
		fmt.Fprintf(out, "removed %s\n", t)
	})
	if err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d could not be removed; repeating does no harm", failed, len(things))
	}
	return nil
}
