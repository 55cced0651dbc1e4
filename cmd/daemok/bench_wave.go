package main

import (
	"encoding/json"
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/bench/wave"
)

func benchWaveCommand() *cobra.Command {
	work := bench.Options{Generate: "uniform"}
	var o wave.Options
	capacity := ""
	cmd := &cobra.Command{
		Use:   "wave",
		Short: "Measure what becomes of the plan for many pods at the same time in a lab; one JSON object on stdout",
		Long: `Measure what becomes of the plan for many pods at the same time in a lab; one
JSON object on stdout.

The whole product runs in a lab of its own. Pods of some Deployments, whose requests are drawn, wait before
the NodePool is created from which they get nodes. It is measured when they run,
how many nodes were planned, how many there are in the end and for what price, and how many pods did not run
on a node of the first plan. Nodes are not disrupted. It takes two to ten minutes.`,
		Example: `  daemok bench wave
  daemok bench wave --capacity any --seed 2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			switch {
			case work.Pods < 1, work.Classes < 1, o.VCPUMost < 1:
				return fmt.Errorf("--pods, --deployments and --vcpu-max: want 1 or more")
			case o.TimeScale < 0:
				return fmt.Errorf("--time-scale is %v: want 0 or more", o.TimeScale)
			}
			if o.Capacity, err = bench.CapacityTypes(capacity); err != nil {
				return err
			}
			if o.Lab, err = findLab(ownFolder(), exec.LookPath); err != nil {
				return err
			}
			if o.Controller == "" {
				if o.Controller, err = findController(ownFolder(), exec.LookPath); err != nil {
					return err
				}
			}
			work.Seed, o.Progress = o.Seed, cmd.ErrOrStderr()
			if o.Work, _, err = bench.Snapshot(work); err != nil {
				return err
			}
			result, err := wave.Measure(cmd.Context(), o)
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&work.Pods, "pods", 500, "how many pods to create")
	flags.IntVar(&work.Classes, "deployments", 20, "of how many Deployments")
	flags.StringVar(&capacity, "capacity", "on-demand", "on-demand, spot or any: what the NodePool allows")
	flags.IntVar(&o.VCPUMost, "vcpu-max", 32, "vCPUs of the largest instance type that the NodePool allows")
	flags.Float64Var(&o.TimeScale, "time-scale", 1, "how long instances take to boot; 1 as on EC2, 0 no time")
	flags.Uint64Var(&o.Seed, "seed", 1, "of the pods' requests and of the emulated AWS")
	flags.BoolVar(&o.Nominate, "nominate", false, "with NOMINATE_PODS=true: nodes are nominated for pods")
	flags.StringVar(&o.Controller, "controller", "", "path of daemok-controller (default: beside this program, else on PATH)")
	return cmd
}
