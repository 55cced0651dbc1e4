package up

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/lab/bootstrap"
	"github.com/daemok/daemok/lab/process"
)

// controllerProgram is the product itself.
const controllerProgram = "daemok-controller"

// controllerGrace covers a graceful shutdown, which ends launches under way.
const controllerGrace = 15 * time.Second

// findController searches beside the lab's own program, then on PATH.
func findController(labProgram string, lookPath func(string) (string, error)) (string, error) {
	folder := filepath.Dir(labProgram)
	if path, err := lookPath(filepath.Join(folder, controllerProgram)); err == nil {
		return path, nil
	}
	path, err := lookPath(controllerProgram)
	if err != nil {
		return "", fmt.Errorf("%s is neither in %s nor on PATH: take it from the release that the lab is of, run make build in a checkout, or run your own with the variables of lab.env",
			controllerProgram, folder)
	}
	return filepath.Abs(path)
}

// startController runs the product as a cluster would: with the rights of its
// service account, and nothing of this user's own AWS settings.
func (l *Lab) startController() error {
	path, err := findController(l.options.Program, exec.LookPath)
	if err != nil {
		l.options.Say("going on without the controller: %v", err)
		return nil
	}
	k, err := process.Keep(process.Program{
		Name: ControllerComponent, Path: path, Grace: controllerGrace,
		Env: merged(os.Environ(), l.controllerVariables()),
		Log: l.directory.Log(ControllerComponent),
	}, l.onExit)
	if err != nil {
		return err
	}
	l.record.change(func(r *running) { r.supervisors = append(r.supervisors, k) })
	return nil
}

func (l *Lab) controllerVariables() []variable {
	return append(slices.Clone(l.environment),
		variable{"KUBECONFIG", l.directory.ControllerKubeconfig()},
		variable{"AWS_ACCESS_KEY_ID", controllerKey},
		variable{"SYSTEM_NAMESPACE", bootstrap.ControllerNamespace},
		variable{"METRICS_PORT", strconv.Itoa(l.identity.Ports.ControllerMetrics)},
		variable{"HEALTH_PROBE_PORT", strconv.Itoa(l.identity.Ports.ControllerHealth)},
	)
}
