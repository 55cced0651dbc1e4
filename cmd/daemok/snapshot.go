package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/cmd/daemok/files"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/access/output"
)

func snapshotCommand(read inspect.Reader) *cobra.Command {
	at, redact := inspect.NewTarget(), false
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Print the state of the live cluster as text, for a replay or a bug report",
		Example: `  daemok snapshot --redact > situation.txt
  daemok plan --snapshot situation.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := read(cmd.Context(), at)
			if err != nil {
				return err
			}
			for _, line := range found.Unread {
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			}
			s := found.Snapshot
			if redact {
				s = scenario.Redact(s)
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), files.Stamp(scenario.Print(s), version.Get().Build()))
			return err
		},
	}
	output.Refuse(cmd.Flags(), "a snapshot is text that daemok plan --snapshot reads, and has no other form; daemok plan -o json prints the plan for it")
	at.AddTo(cmd)
	at.AddAWS(cmd)
	cmd.Flags().BoolVar(&redact, "redact", false, "replace names, equal ones by equal ones; amounts and prices stay")
	return cmd
}
