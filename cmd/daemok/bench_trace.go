package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/bench"
)

func benchTraceCommand() *cobra.Command {
	var o bench.TraceOptions
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Run the pods of a recorded cluster in virtual time and print what the instances cost; one JSON object on stdout",
		Long: `Run the pods of a recorded cluster in virtual time and print what the instances
cost; one JSON object on stdout.

Pods come and go as they did. The cost is compared with the least that any instances
can cost that hold the pods at every moment (boundDollars, gap), with a
decider that knows two plain rules (plain: a node goes if its pods fit on
others, or if a cheaper instance holds them), and with one that lets only empty
nodes go (untouched), from which savedDollars are counted.`,
		Example: `  daemok bench trace --trace pods.csv --catalog types.json
  daemok bench trace --trace pods.csv --catalog types.json --from 86400 --to 172800 --budget 20%`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := bench.Trace(o)
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Trace, "trace", "", "file of a recorded cluster: comma separated values with columns cpu_milli, memory_mib, creation_time and deletion_time")
	flags.StringVar(&o.Catalog, "catalog", "", "file of instance types; 400 made-up ones without it")
	flags.Int64Var(&o.From, "from", 0, "where to begin, in seconds as in the trace; neither this nor --to: the week in which most pods were created")
	flags.Int64Var(&o.To, "to", 0, "where to end; 0: a week later")
	flags.StringVar(&o.Budget, "budget", "10%", "how many nodes may go at once: a number or a share")
	flags.StringVar(&o.Capacity, "capacity", "on-demand", "on-demand, spot or any")
	flags.Uint64Var(&o.Seed, "seed", 42, "for chance: how long instances boot, and where kube-scheduler puts pods it likes equally")
	return cmd
}
