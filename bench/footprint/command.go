package footprint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/daemok/daemok/bench/measured"
)

// Command is what one command of daemok took, beside the controller.
type Command struct {
	Arguments  string  `json:"arguments"`
	Seconds    float64 `json:"seconds"`    // from the start of its process to its end
	CPUSeconds float64 `json:"cpuSeconds"` // of this process alone, not of the API server that answers it
	Bytes      int     `json:"bytes"`      // that it printed
}

// snapshotFile stands in arguments for the file that "snapshot" printed last.
const snapshotFile = "SNAPSHOT"

// command runs one, without a terminal.
func (w *world) command(ctx context.Context, arguments string) (Command, error) {
	kubeconfig, err := w.kubeconfig()
	if err != nil {
		return Command{}, err
	}
	saved := filepath.Join(w.folder, "snapshot.txt")
	words := strings.Fields(strings.ReplaceAll(arguments, snapshotFile, saved))
	run := exec.CommandContext(ctx, w.options.CLI, words...)
	run.Env = measured.Environment(os.Environ(), w.variables(kubeconfig))
	var out, says bytes.Buffer
	run.Stdout, run.Stderr = &out, &says
	began := time.Now()
	if err := run.Run(); err != nil {
		return Command{}, fmt.Errorf("daemok %s: %w; it said:\n%s", arguments, err, says.String())
	}
	took := time.Since(began)
	if words[0] == "snapshot" {
		if err := os.WriteFile(saved, out.Bytes(), 0o600); err != nil {
			return Command{}, err
		}
	}
	c := Command{Arguments: arguments, Seconds: rounded(took.Seconds(), 100), Bytes: out.Len(),
		CPUSeconds: rounded((run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds(), 100)}
	w.options.Say("daemok %s: %.2f s", arguments, c.Seconds)
	return c, nil
}
