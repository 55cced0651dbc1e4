package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/leftover"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/access/kubectl"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/ui/progress"
)

func cleanupCommand() *cobra.Command {
	var cluster, region string
	var yes bool
	form := output.New()
	var uids []string
	at := kubectl.NewFlags()
	cmd := &cobra.Command{
		Use:   "cleanup --cluster NAME",
		Short: "List, and with --yes remove, what a deleted cluster left behind in AWS",
		Long: `List what an autoscaler made for a cluster that is gone: instances, volumes that were left
behind, launch templates, instance profiles, and unattached network interfaces of its
nodes. With --yes they are removed; without it nothing is changed. Instances terminate
within minutes: then repeat the command for what they used.

A cluster that EKS knows is refused. EKS does not know clusters that were made without it:
check the list before you use --yes. Each cluster has a UID, which is listed. If things of
several clusters of that name are left, or of the cluster that KUBECONFIG leads to, --uid
has to name the clusters that are gone ("none": things without a UID). So you can clean up
after an earlier cluster while another of the same name is in use. Things with the tag of
another cluster, node groups, and volumes that drivers made for workloads are left alone.
The command needs AWS credentials and no cluster.`,
		Example: `  daemok cleanup --cluster old
  daemok cleanup --cluster old --region eu-west-1 --yes
  daemok cleanup --cluster old --uid 0b1f5e0e-6a3f-4d0e-9b0e-3f1d7f1e2a11 --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cluster == "" {
				return errors.New("say which cluster is gone: --cluster NAME")
			}
			sweeper, err := leftover.Open(cmd.Context(), cluster, region, "daemok-cli")
			if err != nil {
				return err
			}
			alive, err := connectedTo(cmd.Context(), at)
			if err != nil && (cmd.Flags().Changed("context") || cmd.Flags().Changed("kubeconfig")) {
				return fmt.Errorf("find the cluster that is in use: %w", err)
			}
			sweeper.Select(leftover.Selection{UIDs: uids, Alive: alive})
			return cleanUp(cmd.Context(), sweeper, cmd.OutOrStdout(), cluster, yes, form)
		},
	}
	cmd.Flags().StringVar(&cluster, "cluster", "", "name of the cluster that is gone; also --cluster-name")
	cmd.Flags().StringVar(&cluster, "cluster-name", "", "the same")
	cobra.CheckErr(cmd.Flags().MarkHidden("cluster-name"))
	cmd.Flags().StringVar(&region, "region", "", "AWS region of the cluster; default as the AWS SDK finds it")
	cmd.Flags().StringSliceVar(&uids, "uid", nil, "UIDs of the clusters of that name that are gone; none: things without a UID")
	cmd.Flags().BoolVar(&yes, "yes", false, "remove what is listed")
	form.AddTo(cmd.Flags())
	addInUse(cmd, at)
	return cmd
}

// addInUse lets the user say which cluster is in use: by all flags of kubectl but --cluster, which names the one that
// is gone, and --namespace, of which nothing is asked.
func addInUse(cmd *cobra.Command, at *kubectl.Flags) {
	of := pflag.NewFlagSet("", pflag.ContinueOnError)
	at.AddTo(of)
	of.VisitAll(func(f *pflag.Flag) {
		if f.Name != "cluster" && f.Name != "namespace" {
			f.Annotations = map[string][]string{inspect.OfKubectl: {"true"}}
			cmd.Flags().AddFlag(f)
		}
	})
}

// aliveWithin is how long the cluster that KUBECONFIG leads to has for an answer. Without
// one there is none: the command needs no cluster.
const aliveWithin = 5 * time.Second

// connectedTo is the cluster that the user is connected to, if it answers. An error says why none is named.
func connectedTo(ctx context.Context, at *kubectl.Flags) (leftover.Alive, error) {
	config, err := at.Config()
	if err != nil {
		return leftover.Alive{}, err
	}
	if config.Timeout == 0 {
		config.Timeout = aliveWithin
	}
	store, err := client.New(config, client.Options{})
	if err != nil {
		return leftover.Alive{}, err
	}
	system := &corev1.Namespace{}
	if err := store.Get(ctx, client.ObjectKey{Name: "kube-system"}, system); err != nil {
		return leftover.Alive{}, fmt.Errorf("ask %s for its UID: %w", config.Host, err)
	}
	return leftover.Alive{UID: string(system.UID), Host: config.Host}, nil
}

// leftJSON is a thing that a cluster left behind, as scripts read it.
type leftJSON struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Note    string `json:"note,omitempty"`
	UID     string `json:"uid,omitempty"` // of the cluster
	Removed bool   `json:"removed"`
	Error   string `json:"error,omitempty"` // why it could not be removed
}

func cleanUp(ctx context.Context, sweeper *leftover.Sweeper, out io.Writer, cluster string, yes bool, form *output.Format) error {
	line := progress.Start(ctx, os.Stderr, "searching AWS for what is left of the cluster")
	things, err := sweeper.Find(ctx)
	line.Stop()
	if err != nil {
		return err
	}
	say := func(format string, args ...any) {
		if form.ForPeople() {
			fmt.Fprintf(out, format, args...)
		}
	}
	list := make([]leftJSON, len(things))
	for i, t := range things {
		say("%s\n", t)
		list[i] = leftJSON{Kind: string(t.Kind), Name: t.Name, Note: t.Note, UID: t.UID}
	}
	switch {
	case len(things) == 0:
		say("nothing is left of cluster %s in %s\n", cluster, sweeper.Region())
	case !yes:
		if err := sweeper.Unclear(things); err != nil {
			say("with --yes this is refused: %s\n", err)
		}
		say("%d are left of cluster %s in %s; nothing was removed: repeat with --yes to remove them\n", len(things), cluster, sweeper.Region())
	default:
		failed, err := sweeper.Remove(ctx, things, func(t leftover.Thing, err error) {
			is := &list[slices.Index(things, t)]
			if err != nil {
				is.Error = err.Error()
				say("could not remove %s: %s\n", t, err)
				return
			}
			is.Removed = true
			say("removed %s\n", t)
		})
		if err == nil && failed > 0 {
			err = fmt.Errorf("%d of %d could not be removed; repeating does no harm", failed, len(things))
		}
		return cmp.Or(reportLeft(out, list, form), err)
	}
	return reportLeft(out, list, form)
}

// reportLeft prints the list in forms for scripts; people saw it before.
func reportLeft(out io.Writer, list []leftJSON, form *output.Format) error {
	if form.ForPeople() {
		return nil
	}
	a := output.Answer{Value: list}
	for _, t := range list {
		a.Rows = append(a.Rows, output.Row{Object: output.ObjectOf(strings.ReplaceAll(t.Kind, " ", "-"), t.Name), Value: t})
	}
	return form.Print(out, a)
}
