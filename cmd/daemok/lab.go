package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/cmd/daemok/complete"
)

// labProgram is the name of the lab's own program. It is separate because it
// links a whole control plane.
const labProgram = "daemok-lab"

// exitNoLab is what shells answer for a program that is not there.
const exitNoLab = 127

func labCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lab [arguments of " + labProgram + "]",
		Short: "Run a real Kubernetes control plane with an emulated AWS on this host",
		Example: `  daemok lab up --detach
  daemok lab kubectl get nodes
  daemok lab down
  daemok lab --help`,
		DisableFlagParsing: true,
		ValidArgsFunction:  complete.From(func() (string, error) { return findLab(ownFolder(), exec.LookPath) }),
		RunE: func(_ *cobra.Command, args []string) error {
			program, err := findLab(ownFolder(), exec.LookPath)
			if err != nil {
				return err
			}
			// The lab takes this process over: its exit code and signals are ours.
			err = syscall.Exec(program, append([]string{labProgram}, args...), os.Environ())
			return fmt.Errorf("run %s: %w", program, err)
		},
	}
}

// findLab searches for the lab's program beside this one, then on PATH.
func findLab(folder string, lookPath func(string) (string, error)) (string, error) {
	beside := filepath.Join(folder, labProgram)
	if _, err := lookPath(beside); err == nil {
		return beside, nil
	}
	onPath, err := lookPath(labProgram)
	if err == nil {
		return onPath, nil
	}
	return "", &exitError{fmt.Errorf("there is neither %s nor a %s on PATH: unpack a release's archive %s, which has it beside daemok, or run make build in a checkout",
		beside, labProgram, labProgram), exitNoLab}
}

// ownFolder is where this program lies, links followed; "." where the system does not say.
func ownFolder() string {
	program, err := os.Executable()
	if err != nil {
		return "."
	}
	if resolved, err := filepath.EvalSymlinks(program); err == nil {
		program = resolved
	}
	return filepath.Dir(program)
}
