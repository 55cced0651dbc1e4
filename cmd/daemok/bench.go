package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/daemok/daemok/bench"
)

func benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure decisions: time, cost and distance from the least possible cost",
	}
	cmd.AddCommand(benchPlaceCommand(), benchPackCommand(), benchCarryCommand(), benchGrowthCommand(), benchDisruptionCommand(), benchTakeoverCommand(), benchTraceCommand(),
		benchFootprintCommand(), benchWaveCommand(), benchDayCommand())
	return cmd
}

func benchPlaceCommand() *cobra.Command {
	var o bench.Options
	cmd := &cobra.Command{
		Use:   "place",
		Short: "Measure the placing of pods by the exact rules; one JSON object on stdout",
		Long: `Measure the placing of pods by the exact rules; one JSON object on stdout.

Only the decision is timed, and the median of the runs counts. Every plan is
checked by counting before its figures are printed. With --seeds each figure is
the median over as many seeds, from --seed on, and those that may be bad are
printed once more with "Worst" at the end of their name.`,
		Example: `  daemok bench place --mix plain --pods 5000
  daemok bench place --mix diverse --pods 5000 --seeds 20
  daemok bench place --catalog types.json --generate realistic --pods 1000 --seed 42`,
		Args: cobra.NoArgs,
	}
	measures(cmd, &o)
	return cmd
}

// measures makes the command measure the work that its flags say.
func measures(cmd *cobra.Command, o *bench.Options) {
	seeds := 0
	addWork(cmd.Flags(), o)
	cmd.Flags().IntVar(&seeds, "seeds", 0, "measure as many seeds and print median and worst; 0: one seed alone")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkBench(*o); err != nil {
			return err
		}
		result, err := measurePlace(*o, seeds)
		if err != nil {
			return err
		}
		return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	}
}

func benchPackCommand() *cobra.Command {
	o := bench.Options{Pack: true}
	cmd := &cobra.Command{
		Use:   "pack",
		Short: "Measure the search for the cheapest instances, as the controller does it; one JSON object on stdout",
		Long: `Measure the search for the cheapest instances, as the controller does it; one
JSON object on stdout.

Only the decision is timed: placing by the exact rules with instances chosen one
after another, and once more with instances chosen together. The rest is as in
bench place.`,
		Example: `  daemok bench pack --catalog types.json --generate realistic --pods 1000 --seeds 20
  daemok bench pack --catalog types.json --capacity any --workload pods.json`,
		Args: cobra.NoArgs,
	}
	measures(cmd, &o)
	cmd.Flags().BoolVar(&o.Simulated, "settled", false, "choose the plan that is likely to be the cheapest once kube-scheduler has bound the pods, and print its cost")
	cmd.Flags().Int64Var(&o.Effort, "effort", 1, "how many times the steps of the controller's search to take")
	cmd.Flags().StringVar(&o.Best, "best", "", "file of the best costs known, to compare with: a JSON list such as bench/best.json")
	return cmd
}

func benchCarryCommand() *cobra.Command {
	var o bench.Options
	var joins bench.Joins
	seeds := 0
	cmd := &cobra.Command{
		Use:   "carry",
		Short: "Carry plans out in virtual time and compare what is paid with what was planned; one JSON object on stdout",
		Long: `Carry plans out in virtual time and compare what is paid with what was planned;
one JSON object on stdout.

Instances join at random moments, kube-scheduler puts pods where it likes, and
plans are made again for pods that are left, as the controller does it, until all
have a node. With --seeds each figure is the median, and those that may be bad are
printed once more with "Worst" at the end of their name.`,
		Example: `  daemok bench carry --catalog types.json --generate realistic --classes 43 --pods 1000 --seeds 20`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkBench(o); err != nil {
				return err
			}
			var out any
			var err error
			switch {
			case seeds < 0:
				err = fmt.Errorf("--seeds is %d: want 0 or more", seeds)
			case seeds > 0:
				out, err = bench.CarrySeeds(o, joins, seeds)
			default:
				out, err = bench.Carry(o, joins)
			}
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(out)
		},
	}
	addWork(cmd.Flags(), &o)
	cmd.Flags().IntVar(&seeds, "seeds", 0, "measure as many seeds and print median and worst; 0: one seed alone")
	cmd.Flags().DurationVar(&joins.Earliest, "earliest", 20*time.Second, "how long after its launch a node joins at the earliest")
	cmd.Flags().BoolVar(&o.Nominate, "nominate", false, "as with NOMINATE_PODS=true: nodes are nominated for pods")
	cmd.Flags().DurationVar(&joins.Latest, "latest", time.Minute, "and at the latest")
	return cmd
}

func benchDisruptionCommand() *cobra.Command {
	var o bench.DisruptionOptions
	cmd := &cobra.Command{
		Use:   "retire",
		Short: "Measure the search for nodes that may go; one JSON object on stdout",
		Long: `Measure the search for nodes that may go; one JSON object on stdout.

The cluster has been packed until no move is left. In the scenario steady that is
all: a pass finds nothing to do. In the scenario half every second pod leaves
before. Only the first pass is timed; then passes are carried out as planned, an
hour apart, until the cluster is idle: that is costAfter.`,
		Example: `  daemok bench retire --nodes 1000 --scenario steady
  daemok bench retire --catalog types.json --nodes 50 --scenario half --seed 42`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.Nodes < 1, o.PodsPerNode < 1, o.Pools < 1, o.Runs < 1:
				return fmt.Errorf("--nodes, --pods-per-node, --pools and --runs: want 1 or more")
			case !slices.Contains(bench.Scenarios(), o.Scenario):
				return fmt.Errorf("--scenario is %q: want one of %s", o.Scenario, strings.Join(bench.Scenarios(), ", "))
			}
			out, err := bench.Disruption(o)
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Catalog, "catalog", "", "file of instance types; 400 made-up ones without it")
	flags.IntVar(&o.Nodes, "nodes", 1000, "how many nodes there are before they are packed")
	flags.IntVar(&o.PodsPerNode, "pods-per-node", 20, "how many pods each has then")
	flags.IntVar(&o.Pools, "pools", 1, "how many equal pools there are")
	flags.StringVar(&o.Scenario, "scenario", "steady", "what happens to the cluster: "+strings.Join(bench.Scenarios(), ", "))
	flags.StringVar(&o.Capacity, "capacity", "on-demand", "on-demand, spot or any")
	flags.Uint64Var(&o.Seed, "seed", 42, "for chance")
	flags.IntVar(&o.Runs, "runs", 3, "how often to measure; the median counts")
	return cmd
}

func benchGrowthCommand() *cobra.Command {
	var o bench.Options
	of := ""
	cmd := &cobra.Command{
		Use:   "growth",
		Short: "Measure how time grows with pods, nodes, pools and instance types; one JSON object on stdout for each work",
		Example: `  daemok bench growth
  daemok bench growth --of pools --runs 9`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Runs < 1 {
				return fmt.Errorf("--runs is %d: want 1 or more", o.Runs)
			}
			out := json.NewEncoder(cmd.OutOrStdout())
			return bench.MeasureGrowth(o, of, func(g bench.Growth) error { return out.Encode(g) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&of, "of", "", "measure one alone: "+strings.Join(bench.GrowthOf(), ", "))
	addWorld(flags, &o)
	return cmd
}

// measurePlace returns a Summary where several seeds are asked for.
func measurePlace(o bench.Options, seeds int) (any, error) {
	if seeds < 0 {
		return nil, fmt.Errorf("--seeds is %d: want 0 or more", seeds)
	}
	if seeds > 0 {
		return bench.PlaceSeeds(o, seeds)
	}
	return bench.Place(o)
}

// addWork adds the flags that say what work to make.
func addWork(flags *pflag.FlagSet, o *bench.Options) {
	flags.StringVar(&o.Mix, "mix", "", "made-up pods: plain, diverse, antiaffinity, preferences, existing, chains, ports or strangers")
	flags.StringVar(&o.Workload, "workload", "", "file with pods")
	flags.StringVar(&o.Trace, "trace", "", "file of a recorded cluster: comma separated values with columns cpu_milli and memory_mib; the first --pods are taken")
	flags.IntVar(&o.Classes, "classes", 0, "how many different pods --generate draws at most; 0: no two need be alike")
	flags.StringVar(&o.Generate, "generate", "", "draw pods from a distribution: "+strings.Join(bench.Distributions(), ", "))
	flags.IntVar(&o.Pods, "pods", 1000, "how many pods to make")
	flags.IntVar(&o.Nodes, "nodes", 0, "how many nodes exist already")
	flags.IntVar(&o.Pools, "pools", 1, "how many equal pools")
	flags.IntVar(&o.Types, "types", 0, "how many instance types NodePools name, from the smallest to the largest; 0: none, and all may be launched")
	addWorld(flags, o)
}

// addWorld adds the flags that say what can be launched, and how to measure.
func addWorld(flags *pflag.FlagSet, o *bench.Options) {
	flags.StringVar(&o.Catalog, "catalog", "", "file with instance types; none: 400 made-up ones")
	flags.Uint64Var(&o.Seed, "seed", 42, "equal seeds make equal work")
	flags.StringVar(&o.Capacity, "capacity", "on-demand", "on-demand, spot or any")
	flags.StringVar(&o.Daemons, "daemons", "", "pods of DaemonSets on every node: cpu, memory of each, how many; such as 200m,300Mi,4")
	flags.IntVar(&o.Runs, "runs", 5, "how often to solve; the median counts")
}

// checkBench refuses amounts of work that are none.
func checkBench(o bench.Options) error {
	for _, flag := range []struct {
		name        string
		given, from int
	}{{"runs", o.Runs, 1}, {"pools", o.Pools, 1}, {"pods", o.Pods, 1}, {"nodes", o.Nodes, 0}, {"types", o.Types, 0}} {
		if flag.given < flag.from {
			return fmt.Errorf("--%s is %d: want %d or more", flag.name, flag.given, flag.from)
		}
	}
	return nil
}
