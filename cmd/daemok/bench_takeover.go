package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/bench/takeover"
)

// controllerProgram is the name of the controller's program.
const controllerProgram = "daemok-controller"

func benchTakeoverCommand() *cobra.Command {
	rounds := 0
	cmd := &cobra.Command{
		Use:   "takeover",
		Short: "Measure the time from the death of the leader to the first plan of the other controller; one JSON object on stdout",
		Long: `Measure the time from the death of the leader to the first plan of the other
controller; one JSON object on stdout.

Two controllers run in a lab of their own. The one that leads is killed without
warning, right after that comes a pod that no node has room for, and the first
NodeClaim for it is waited for. Then another controller starts, and the next round
begins. A round takes less than half a minute.`,
		Example: `  daemok bench takeover --rounds 10`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rounds < 1 {
				return fmt.Errorf("--rounds is %d: want 1 or more", rounds)
			}
			lab, err := findLab(ownFolder(), exec.LookPath)
			if err != nil {
				return err
			}
			controller, err := findController(ownFolder(), exec.LookPath)
			if err != nil {
				return err
			}
			out, err := takeover.Measure(cmd.Context(), takeover.Options{Lab: lab, Controller: controller, Rounds: rounds, Progress: cmd.ErrOrStderr()})
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(out)
		},
	}
	cmd.Flags().IntVar(&rounds, "rounds", 5, "how often to kill the leader; the median and the worst are printed")
	return cmd
}

// findController searches for the controller's program beside this one, then on PATH.
func findController(folder string, lookPath func(string) (string, error)) (string, error) {
	if beside, err := lookPath(filepath.Join(folder, controllerProgram)); err == nil {
		return beside, nil
	}
	onPath, err := lookPath(controllerProgram)
	if err != nil {
		return "", fmt.Errorf("there is no %s in %s and none on PATH: run make build in a checkout, or unpack a release's archives into one folder", controllerProgram, folder)
	}
	return onPath, nil
}
