package main

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/daemok/daemok/kube/access/kubectl"
)

// target is the cluster that a command is about: at Kubernetes by kubectl's flags, and at
// AWS by its name and region. newTarget makes one.
type target struct {
	*kubectl.Flags
	clusterName, region string
}

func newTarget() *target { return &target{Flags: kubectl.NewFlags()} }

// addTo lets a command be told which cluster is meant.
func (t *target) addTo(cmd *cobra.Command) {
	of := pflag.NewFlagSet("", pflag.ContinueOnError)
	t.Flags.AddTo(of)
	of.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{ofKubectl: {"true"}} })
	cmd.Flags().AddFlagSet(of)
}

// ofKubectl marks flags that are kubectl's, which help lists by themselves.
const ofKubectl = "kubectl"

// addAWS lets a command be told which one it is at AWS.
func (t *target) addAWS(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.clusterName, "cluster-name", "", "name of the cluster in EKS; default CLUSTER_NAME, as for the controller")
	cmd.Flags().StringVar(&t.region, "region", "", "AWS region of the cluster; default as the AWS SDK finds it")
}

// eksName is the name of the cluster at AWS; empty: nobody said.
func (t *target) eksName() string { return cmp.Or(t.clusterName, os.Getenv("CLUSTER_NAME")) }
