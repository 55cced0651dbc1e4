// Package component runs one part of a Kubernetes control plane inside this process: the API server,
// the scheduler or the controller manager, exactly as its own program would.
//
// A component takes the whole process: it parses flags, installs signal handlers and registers metrics
// globally. So each runs in a child process of the lab, which this package does not start.
package component

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // the "json" log format
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics, as the real programs have
	_ "k8s.io/component-base/metrics/prometheus/version"  // version metric, as the real programs have
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// The components, by the names used for verbs and log files.
const (
	APIServer         = "apiserver"
	ControllerManager = "controller-manager"
	Scheduler         = "scheduler"
)

// Names returns the components in the order in which they start.
func Names() []string {
	return []string{APIServer, ControllerManager, Scheduler}
}

// Run runs the named component with its own flags until the process is asked to stop, and
// returns the exit code of its program.
func Run(name string, flags []string) (int, error) {
	command, err := command(name)
	if err != nil {
		return 1, err
	}
	command.SetArgs(flags)
	return cli.Run(command), nil
}

func command(name string) (*cobra.Command, error) {
	switch name {
	case APIServer:
		return apiserver.NewAPIServerCommand(), nil
	case ControllerManager:
		return controllermanager.NewControllerManagerCommand(), nil
	case Scheduler:
		return scheduler.NewSchedulerCommand(), nil
	}
	return nil, fmt.Errorf("no component %q: the lab runs %s", name, strings.Join(Names(), ", "))
}
