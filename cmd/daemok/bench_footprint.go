package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/bench/footprint"
)

// footprintSizes are the clusters that are measured where none is named: nodes and pods.
var footprintSizes = [][2]int{{0, 0}, {500, 15_000}, {5_000, 150_000}}

func benchFootprintCommand() *cobra.Command {
	var o footprint.Options
	cmd := &cobra.Command{
		Use:   "footprint",
		Short: "Measure memory, idle processor time and the start of the controller; one JSON object on stdout for each cluster",
		Long: `Measure memory, idle processor time and the start of the controller; one JSON
object on stdout for each cluster.

The program daemok-controller, which is looked for beside this one and then on PATH, runs
against an API server and an AWS account that this process serves. It first
launches up to 100 nodes, for pods that wait, the other nodes are copied from these,
and it is started again and measured.
Nodes report their status every 5 minutes, and metrics are read every minute, as Prometheus does by default.
Without --nodes and --pods three clusters are measured: an empty one, 500 nodes with
15,000 pods and 5,000 nodes with 150,000 pods, which needs 6 GiB of memory. The environment is handed on
to the controller. Linux only.

--command runs a command of daemok against the cluster after that, and measures its time.
SNAPSHOT in it is the file that an earlier "snapshot" printed.`,
		Example: `  daemok bench footprint
  daemok bench footprint --nodes 500 --pods 15000
  daemok bench footprint --nodes 500 --pods 15000 --changes 5 --shadow
  daemok bench footprint --nodes 1000 --pods 30000 --command snapshot --command status
  ENABLE_PROFILING=true daemok bench footprint --nodes 500 --pods 15000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.Controller == "" {
				if o.Controller, err = findController(ownFolder(), exec.LookPath); err != nil {
					return err
				}
			}
			if o.CLI, err = os.Executable(); err != nil {
				return err
			}
			o.Say = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", args...) }
			sizes := footprintSizes
			if cmd.Flags().Changed("nodes") || cmd.Flags().Changed("pods") {
				sizes = [][2]int{{o.Nodes, o.Pods}}
			}
			for _, size := range sizes {
				o.Nodes, o.Pods = size[0], size[1]
				result, err := footprint.Measure(cmd.Context(), o)
				if err != nil {
					return err
				}
				if err := json.NewEncoder(cmd.OutOrStdout()).Encode(result); err != nil {
					return err
				}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Nodes, "nodes", 0, "how many nodes the cluster has; without it and --pods: see above")
	flags.IntVar(&o.Pods, "pods", 0, "how many pods it has, those of DaemonSets among them; a multiple of the nodes")
	flags.StringArrayVar(&o.Commands, "command", nil, "arguments of daemok, such as \"view --once\": how long it takes; may be repeated")
	flags.BoolVar(&o.Shadow, "shadow", false, "measure shadow mode: daemok-controller --shadow")
	flags.Float64Var(&o.Changes, "changes", 0, "pods per second that end, and come again on the same node, after the first plan")
	flags.StringVar(&o.Controller, "controller", "", "the program to measure; looked for where it is empty")
	flags.DurationVar(&o.Stabilize, "settle", 4*time.Minute, "from the first plan until the measurement begins: a controller that has begun looks for what a crash may have left more often")
	flags.DurationVar(&o.Over, "over", time.Minute, "how long processor time is measured")
	return cmd
}
