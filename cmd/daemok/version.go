package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/access/output"
)

func versionCommand() *cobra.Command {
	form := output.New().WithoutNames()
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version, commit and Go version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			is := version.Get()
			return form.Print(cmd.OutOrStdout(), output.Answer{
				Value: versionJSON{is.Version, is.Commit, is.Go}, Rows: []output.Row{{Value: versionJSON{is.Version, is.Commit, is.Go}}},
				Text: func(out io.Writer) error {
					_, err := fmt.Fprintln(out, "daemok", is)
					return err
				},
			})
		},
	}
	form.AddTo(cmd.Flags())
	return cmd
}

// versionJSON is which build this is, as scripts read it.
type versionJSON struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}
