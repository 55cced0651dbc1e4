package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/bench/day"
	"github.com/daemok/daemok/cmd/daemok/files"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/simulate"
)

func benchDayCommand() *cobra.Command {
	var o day.Options
	form := output.New(output.Table).WithoutNames()
	cmd := &cobra.Command{
		Use:   "day",
		Short: "Run a compressed day of services through the product in a lab and through the simulator, and compare the bills",
		Long: `Run a compressed day of services through the product in a lab and through the
simulator, and compare the bills.

--services PREFIX reads a workload as "daemok simulate" does. Some of its Deployments are drawn, their
replicas and the number of jobs are scaled to a peak, and all times are divided by one factor. Pods start and instances
boot as slowly as ever. The whole product runs in a lab of its own, where a user scales the Deployments;
then the same workload, NodePool and instance types are simulated. The workload's files stay in
--dir, and "daemok simulate" takes them.`,
		Example: `  daemok bench day --services shop
  daemok bench day --services shop --for 5m --pods 60 -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := checkDay(&o); err != nil {
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
			o.Progress, o.Simulate = cmd.ErrOrStderr(), simulated(o.Compression, o.TimeScale)
			result, err := measureDay(cmd.Context(), o)
			if err != nil {
				return err
			}
			return form.Print(cmd.OutOrStdout(), output.Answer{Value: result, Text: result.WriteTable})
		},
	}
	flags := cmd.Flags()
	c := &o.Compression
	flags.StringVar(&c.Services, "services", "", "prefix of the files of a recorded workload of services")
	flags.Int64Var(&c.From, "from", 0, "where to begin, in seconds as in the files")
	flags.Int64Var(&c.To, "to", 86400, "where to end, in seconds as in the files")
	flags.IntVar(&c.Deployments, "deployments", 14, "how many Deployments to draw")
	flags.IntVar(&c.Pods, "pods", 250, "how many pods there are at the peak")
	flags.DurationVar(&c.For, "for", 25*time.Minute, "how long the compressed day lasts")
	flags.Uint64Var(&c.Seed, "seed", 1, "which Deployments and jobs are drawn, and of the emulated AWS and the simulator")
	flags.DurationVar(&o.ConsolidateAfter, "consolidate-after", 30*time.Second, "consolidateAfter of the NodePool")
	flags.BoolVar(&o.Steering, "steering", true, "whether the controller empties nodes by a taint and deletion costs; the simulator always does")
	flags.Float64Var(&o.TimeScale, "time-scale", 1, "how long instances of the lab take to boot; 1 as on EC2, 0 no time")
	flags.StringVar(&o.Folder, "dir", "", "folder for the workload's files (default: a new one, which is printed)")
	flags.StringVar(&o.Controller, "controller", "", "path of daemok-controller (default: beside this program, else on PATH)")
	form.AddTo(flags)
	return cmd
}

func checkDay(o *day.Options) error {
	c := o.Compression
	switch {
	case c.Services == "":
		return fmt.Errorf("--services is not given: want the prefix of the files of a workload")
	case c.Deployments < 1, c.Pods < 1:
		return fmt.Errorf("--deployments is %d and --pods %d: want 1 or more of each", c.Deployments, c.Pods)
	case c.From < 0 || c.To <= c.From:
		return fmt.Errorf("--from is %d and --to is %d: want 0 or more, and the latter to be more", c.From, c.To)
	case c.For < time.Minute:
		return fmt.Errorf("--for is %v: want 1m or more", c.For)
	case o.TimeScale < 0 || o.ConsolidateAfter < 0:
		return fmt.Errorf("--time-scale is %v and --consolidate-after %v: want 0 or more", o.TimeScale, o.ConsolidateAfter)
	}
	return nil
}

// measureDay runs both in a folder that is there.
func measureDay(ctx context.Context, o day.Options) (result day.Result, err error) {
	if o.Folder == "" {
		o.Folder, err = os.MkdirTemp("", "daemok-day-")
	} else {
		err = os.MkdirAll(o.Folder, 0o755)
	}
	if err != nil {
		return result, fmt.Errorf("make a folder for the workload: %w", err)
	}
	return day.Measure(ctx, o)
}

// simulated runs the controller's policy over the workload, as daemok simulate does, with instances that boot as those of
// the lab.
func simulated(c day.Compression, timeScale float64) func(prefix, catalogue, manifests string) (simulate.Outcome, error) {
	return func(prefix, catalogue, manifests string) (simulate.Outcome, error) {
		objects, _, err := files.Manifests(strings.NewReader(""), []string{manifests}, "default")
		if err != nil {
			return simulate.Outcome{}, err
		}
		const ours = "ours"
		report, err := simulate.Run(simulate.Options{Source: simulate.Source{Services: prefix, To: int64(c.For / time.Second)},
			Catalog: catalogue, Manifests: objects, Boots: day.Boots(timeScale), Seed: c.Seed, Policies: []string{ours}})
		return report.Policies[ours], err
	}
}
