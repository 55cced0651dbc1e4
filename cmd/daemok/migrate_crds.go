package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/migrate/storage"
)

func migrateCRDsCommand() *cobra.Command {
	var m storage.Mover
	at := inspect.NewTarget()
	cmd := &cobra.Command{
		Use:   "crds --backup FOLDER",
		Short: "Move a live cluster's NodePools, NodeClaims and EC2NodeClasses from v1beta1 to v1",
		Long: `Move the NodePools, NodeClaims and EC2NodeClasses that a cluster stores as v1beta1 to v1,
without a conversion webhook; the definitions of v1 are not changed. Nodes, instances and
pods are not affected: NodeClaims stay the same objects, with their status and finalizers.

First everything is exported to the folder, in the version that is served, and checked.
What cannot be moved safely is listed with object, field and what to do, before anything is
written: what v1 would refuse, objects whose deletion waits for a controller, a controller
that runs, admission webhooks for these kinds. Then all objects are rewritten, and the
stored versions are trimmed.

After an interruption run it again with the same folder. Stop the controller first, and
start Daemok afterwards.`,
		Example: `  kubectl -n kube-system scale deployment karpenter --replicas=0
  daemok migrate crds --backup before-v1 --check
  daemok migrate crds --backup before-v1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if m.Folder == "" {
				return errors.New("say where everything is to be exported to before anything is changed: --backup FOLDER")
			}
			store, err := definitionsClient(at)
			if err != nil {
				return err
			}
			if m.Rules, err = storage.NewRules(); err != nil {
				return err
			}
			m.Store, m.Report, m.Now = store, cmd.OutOrStdout(), time.Now
			m.Lease = cmp.Or(m.Lease, os.Getenv("LEADER_ELECTION_NAME"))
			m.Wait = func(ctx context.Context) error { return pause.For(ctx, time.Second) }
			return m.Run(cmd.Context())
		},
	}
	output.Refuse(cmd.Flags(), "this reports each step while it takes it; what it has read is YAML in the folder of --backup")
	at.AddTo(cmd)
	cmd.Flags().StringVar(&m.Folder, "backup", "", "folder that everything is exported to, or was before an interruption")
	cmd.Flags().StringVar(&m.Role, "role", "", "IAM role of nodes, if no instance profile is named")
	cmd.Flags().StringVar(&m.Lease, "lease", "", "name of the lease that a controller of these kinds holds; default that of Karpenter")
	cmd.Flags().BoolVar(&m.Check, "check", false, "only export and check")
	return cmd
}

// definitionsClient is a client of the cluster that knows definitions; objects of our
// kinds are read by it without types.
func definitionsClient(at *inspect.Target) (client.Client, error) {
	config, err := at.Config()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register kinds: %w", err)
	}
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register definitions: %w", err)
	}
	return client.New(config, client.Options{Scheme: scheme})
}
