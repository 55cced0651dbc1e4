package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/lab/control"
)

func awsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "aws",
		Short: "Break the pretend account",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	folder := groupFolderFlag(cmd)
	cmd.AddCommand(
		roleCommand(folder, "unmap-role", false, "Keep machines of a role out of the cluster, as without an access entry"),
		roleCommand(folder, "map-role", true, "Let machines of a role into the cluster again"),
	)
	return cmd
}

func roleCommand(folder *string, verb string, mapped bool, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   verb + " ROLE",
		Short: short,
		Long: short + `.
Nodes that have joined stay; machines that were kept out join when their role is
mapped again. ROLE is the name of an IAM role, such as KarpenterNodeRole-lab.`,
		Args: cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withLab(cmd.Context(), *folder, func(ctx context.Context, lab *control.Client) error {
			if err := lab.MapRole(ctx, control.Role{Name: args[0], Mapped: mapped}); err != nil {
				return fmt.Errorf("%s: %w", verb, err)
			}
			return nil
		})
	}
	return cmd
}
