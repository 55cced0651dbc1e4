package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	helmcmd "helm.sh/helm/v4/pkg/cmd"
	"helm.sh/helm/v4/pkg/kube"

	"github.com/daemok/daemok/lab/directory"
)

func helmCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "helm [--dir DIR] ARGUMENTS",
		Short:              "Run Helm against the lab",
		DisableFlagParsing: true, // all but a leading --dir are Helm's
		RunE: func(_ *cobra.Command, args []string) error {
			folder, rest, err := leadingFolder(args)
			if err != nil {
				return err
			}
			return helm(folder, rest)
		},
	}
}

// needsCluster are the verbs of Helm that talk to a cluster.
var needsCluster = []string{"install", "upgrade", "uninstall", "rollback", "list", "status", "get", "history", "test"}

// helm runs the real one in this process, with the settings of its user but those that name a cluster.
func helm(folder string, args []string) error {
	d, err := directory.At(folder)
	if err != nil {
		return err
	}
	if err := pointAt(d, "Helm", len(args) > 0 && slices.Contains(needsCluster, args[0]) && !asksForHelp(args)); err != nil {
		return err
	}
	for _, name := range []string{"HELM_KUBECONTEXT", "HELM_KUBEAPISERVER", "HELM_KUBETOKEN", "HELM_KUBECAFILE", "HELM_NAMESPACE"} {
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("point Helm at the lab: %w", err)
		}
	}
	kube.ManagedFieldsManager = "helm"
	command, err := helmcmd.NewRootCmd(os.Stdout, args, helmcmd.SetupLogging)
	if err != nil {
		return err
	}
	command.SilenceErrors = true // main prints them
	command.SetArgs(args)
	if err := command.Execute(); err != nil {
		if coded, ok := errors.AsType[helmcmd.CommandError](err); ok {
			return &exitError{err, coded.ExitCode}
		}
		return err
	}
	return nil
}
