package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/demo"
)

func demoCommand() *cobra.Command {
	options := demo.Options{Command: os.Args[0], Pods: 5, Now: time.Now}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a node being launched for pods and removed again, in a lab of its own",
		Example: `  daemok demo --once
  daemok demo --time-scale 1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := findLab(ownFolder(), exec.LookPath)
			if err != nil {
				return err
			}
			options.Lab, options.Out, options.Err = program, cmd.OutOrStdout(), cmd.ErrOrStderr()
			err = demo.Run(cmd.Context(), options)
			if errors.Is(err, context.Canceled) {
				return &exitError{errors.New("the demo was stopped before its story ended"), 130}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&options.Once, "once", false, "end after the story and remove the lab; else stay up until Ctrl-C")
	cmd.Flags().StringVar(&options.Dir, "dir", ".lab/demo", "folder of the demo's lab")
	cmd.Flags().Float64Var(&options.TimeScale, "time-scale", 0.2, "how long instances take to boot and terminate; 1 as on EC2, 0 no time")
	return cmd
}
