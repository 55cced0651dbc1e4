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
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
)

func planCommand(read reader) *cobra.Command {
	var file, kubeconfig, output string
	var asked []string
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print what Daemok would do, and why, without doing it",
		Long: `Print what Daemok would do about a situation, and why, without doing it.
The situation is a file written by "daemok snapshot" ("-" reads standard input),
or that of the live cluster.

--what-if compares it with what Daemok would do if pools might buy something
else: words key=value with commas between them. pool=NAME stands for the
changes that follow it, without one they are for every pool. Changes are
add-family, add-type, drop-family, drop-type, capacity (on-demand, spot,
reserved or any), zone, arch (a value or any) and machine-cost.`,
		Example: `  daemok plan --snapshot situation.txt
  daemok plan --what-if pool=default,add-family=m8g --what-if pool=default,capacity=any`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return fmt.Errorf("output %q is unknown: use table or json", output)
			}
			questions, err := readQuestions(asked)
			if err != nil {
				return err
			}
			s, err := situation(cmd.Context(), cmd.InOrStdin(), file, kubeconfig, read)
			if err != nil {
				return err
			}
			others, err := suppose(s, questions)
			if err != nil {
				return err
			}
			p := planOf(s)
			p.Fewer = decide.Fewer(s, decide.Policy{}, decide.Usual(s), &p)
			return writePlan(cmd.OutOrStdout(), p, others, output)
		},
	}
	cmd.Flags().StringVar(&file, "snapshot", "", "file with the situation; default the live cluster")
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "the live cluster; default as kubectl")
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	cmd.Flags().StringArrayVar(&asked, "what-if", nil, "changes of pools to compare with, such as pool=default,add-family=m8g; may be repeated")
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

func writePlan(out io.Writer, p plan.Plan, others []supposition, output string) error {
	if output == "table" {
		if _, err := fmt.Fprint(out, p, p.Account()); err != nil {
			return err
		}
		return writeWhatIf(out, p, others)
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	view := planView(p)
	view.WhatIf = each(others, func(x supposition) whatIfJSON { return whatIfView(x, p) })
	return encoder.Encode(view)
}
