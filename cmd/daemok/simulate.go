package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/daemok/daemok/cmd/daemok/files"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/translate/provisioner"
	"github.com/daemok/daemok/simulate"
	"github.com/daemok/daemok/simulate/policy"
	"github.com/daemok/daemok/simulate/spot"
	"github.com/daemok/daemok/ui/progress"
)

// inHTML is the form that is a page for browsers.
const inHTML = "html"

func simulateCommand() *cobra.Command {
	var o simulate.Options
	var manifests []string
	var commitments string
	form := output.New(output.Table, inHTML).WithoutNames()
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Run a recorded workload in virtual time and compare what policies cost",
		Long: `Run a recorded workload in virtual time and compare what policies cost.

--services PREFIX reads services whose numbers of replicas change: the files
PREFIX.deployments.csv and PREFIX.replicas.csv and, if it is there, PREFIX.jobs.csv.
--pods FILE reads single pods with the times of their creation and deletion.

-f reads NodePools, their classes and DaemonSets, as "daemok plan" does. They say which
instance types may be launched, how nodes may be disrupted, and how much nodes have for pods
beside what runs on each of them. If given, --capacity is a further requirement, and --budget
takes the place of their budgets.

Every policy meets the same pods, instance types and prices, and the same chance. Instances
take their time to boot, and kube-scheduler binds pods to the nodes with the highest score.
Spot instances are interrupted, two minutes after a warning, and their prices move; nothing
else fails. The cost is compared with a lower bound: what instances cost, in
fractions, for the pods that are wanted at each moment. -o html prints a page with curves over time, which
needs nothing else.

Policies: ` + policies() + `.`,
		Example: `  daemok simulate --services shop --catalog types.json
  daemok simulate --services shop --catalog types.json --from 0 --to 7200 --policy ours,karpenter
  daemok simulate --services shop --catalog types.json -f pools/
  daemok simulate --pods pods.csv --catalog types.json --capacity any --budget 20% -o html > report.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			objects, notes, err := files.Manifests(cmd.InOrStdin(), manifests, "default")
			if err != nil {
				return err
			}
			if o.Manifests, o.Older = objects, provisioner.Generation(); len(manifests) > 0 {
				leaveToPools(cmd.Flags(), &o)
			}
			if o.Commitments, err = files.Commitments(cmd.InOrStdin(), commitments); err != nil {
				return err
			}
			line := progress.Start(cmd.Context(), cmd.ErrOrStderr(), "reading the workload")
			o.Progress = func(name string) { line.Step("running policy %s", name) }
			report, err := simulate.Run(o)
			line.Stop()
			if err != nil {
				return err
			}
			for _, note := range append(notes, report.Notes...) {
				fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", note)
			}
			return form.Print(cmd.OutOrStdout(), printedReport(report, form.Is(inHTML)))
		},
	}
	addSimulation(cmd.Flags(), &o)
	cmd.Flags().StringVar(&o.Services, "services", "", "prefix of the files of a recorded workload of services")
	cmd.Flags().StringVar(&o.Pods, "pods", "", "file of recorded pods: comma-separated values with columns cpu_milli, memory_mib, creation_time and deletion_time")
	addSpot(cmd.Flags(), &o.Spot)
	cmd.Flags().StringSliceVar(&o.Policies, "policy", policy.Usual(), "policies to compare")
	cmd.Flags().StringArrayVarP(&manifests, "filename", "f", nil, "file or folder with NodePools, their classes and DaemonSets; may be repeated. Without it one NodePool may launch all instance types")
	cmd.Flags().StringVar(&commitments, "commitments", "",
		"YAML file of Reserved Instances and Savings Plans: costs are what they leave; see docs/tasks/commitments.md")
	form.AddTo(cmd.Flags())
	return cmd
}

// leaveToPools takes back the defaults of what NodePools say.
func leaveToPools(flags *pflag.FlagSet, o *simulate.Options) {
	if !flags.Changed("capacity") {
		o.Capacity = ""
	}
	if !flags.Changed("budget") {
		o.Budget = ""
	}
}

// policies describes all policies in a sentence.
func policies() string {
	var out []string
	for _, p := range policy.All() {
		out = append(out, p.Name+" ("+p.Summary+")")
	}
	return strings.Join(out, ",\n")
}

// addSimulation adds the flags that every simulation has.
func addSimulation(flags *pflag.FlagSet, o *simulate.Options) {
	flags.StringVar(&o.Catalog, "catalog", "", "file of instance types; 400 made-up ones without it")
	flags.StringVar(&o.Capacity, "capacity", "on-demand", "on-demand, spot or any")
	flags.Int64Var(&o.From, "from", 0, "where to begin, in seconds as in the files; neither this nor --to: all of the services, or the week in which most pods are created")
	flags.Int64Var(&o.To, "to", 0, "where to end; 0: at the end of the services, or a week later")
	flags.StringVar(&o.Budget, "budget", "10%", "how many nodes may be disrupted at once: a number or a share")
	flags.Uint64Var(&o.Seed, "seed", 42, "for chance: how long instances boot, and where kube-scheduler puts pods it likes equally")
}

// addSpot adds the flags of the spot market.
func addSpot(flags *pflag.FlagSet, o *spot.Options) {
	flags.StringVar(&o.Advisor, "spot-advisor", "", "file with how often spot instances are interrupted: comma-separated values with columns instance_type and interruption_bucket, the bands 0 to 4 of Spot Instance Advisor")
	flags.Float64Var(&o.InterruptionsPerHour, "interruptions-per-hour", spot.DefaultPerHour, "how often a spot instance is interrupted, in the mean, if --spot-advisor does not name its type; 0: never")
	flags.StringVar(&o.Prices, "spot-prices", spot.Moving, "moving: each spot price wanders around that of the catalogue; fixed: it stays")
}

// printedReport is the report in all forms: a row is a policy.
func printedReport(r simulate.Report, page bool) output.Answer {
	var rows []output.Row
	for _, name := range r.Order {
		rows = append(rows, output.Row{Value: policyRow{name, r.Policies[name]}})
	}
	return output.Answer{Value: r, Rows: rows, Text: func(out io.Writer) error {
		if page {
			return r.WriteHTML(out)
		}
		return r.WriteTable(out)
	}}
}

// policyRow is one policy in a list.
type policyRow struct {
	Policy string `json:"policy"`
	simulate.Outcome
}
