package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/scenario"
)

func planCommand(read reader) *cobra.Command {
	var file, kubeconfig, output string
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print what Daemok would do, and why, without doing it",
		Long: `Print what Daemok would do about a situation, and why, without doing it.
The situation is a file written by "daemok snapshot" ("-" reads standard input),
or that of the live cluster.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return fmt.Errorf("output %q is unknown: use table or json", output)
			}
			s, err := situation(cmd.Context(), cmd.InOrStdin(), file, kubeconfig, read)
			if err != nil {
				return err
			}
			return writePlan(cmd.OutOrStdout(), s, output)
		},
	}
	cmd.Flags().StringVar(&file, "snapshot", "", "file with the situation; default the live cluster")
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "the live cluster; default as kubectl")
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	return cmd
}

// situation reads the file, or the live cluster when none is named.
func situation(ctx context.Context, stdin io.Reader, file, kubeconfig string, read reader) (*cluster.Snapshot, error) {
	if file == "" {
		return read(ctx, kubeconfig)
	}
	text, name, err := saved(stdin, file)
	if err != nil {
		return nil, fmt.Errorf("read the situation: %w", err)
	}
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("the situation in %s is empty: write one with `daemok snapshot`", name)
	}
	s, err := scenario.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the situation in %s: %w", name, err)
	}
	return s, nil
}

// saved reads the file, or standard input for "-", and names it for people.
func saved(stdin io.Reader, file string) (text, name string, err error) {
	var data []byte
	if name = file; file == "-" {
		name = "standard input"
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(file)
	}
	return string(data), name, err
}

func writePlan(out io.Writer, s *cluster.Snapshot, output string) error {
	p := decide.Decide(s, decide.Policy{}, decide.Usual(len(s.Waiting)))
	if output == "table" {
		_, err := fmt.Fprint(out, p, p.Account())
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(planView(p))
}
