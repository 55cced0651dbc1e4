// Package costcmd is the command `daemok cost`.
package costcmd

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/cmd/daemok/files"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/ui/costs"
	"github.com/daemok/daemok/ui/text"
)

// See reads a live cluster.
type See func(ctx context.Context, at *inspect.Target, askAWS bool) (*inspect.Seen, error)

// inCSV is a form that this command alone has.
const inCSV = "csv"

// usual are the groups of a screen where none is asked for, and those of CSV, which has one.
var (
	usual    = []string{"pool", "namespace"}
	usualCSV = []string{"pool,namespace,owner"}
)

// flags are what the command is asked.
type flags struct {
	at       *inspect.Target
	form     *output.Format
	by       []string
	file     string
	selector string
	askAWS   bool

	commitments string // a file
}

// Command is `daemok cost`.
func Command(see See) *cobra.Command {
	f := &flags{at: inspect.NewTarget().ForObjects(), form: output.New(output.Table, output.Wide, inCSV).WithoutNames()}
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Report what the cluster costs, for whom, and why the rest is idle",
		Long: `Report what nodes cost an hour and a month, divided among the pods that request their cpu, memory
and devices; what is idle, by cause; what to do about the largest cause; and, with
metrics-server, what pods request and do not use.

Prices are those that AWS reports to you. Without AWS credentials, and for nodes outside
NodePools, they are built-in list prices for Linux, and the report says which part of the
cost that is. Discounts and what is not a node (load balancers, data transfer, volumes of pods)
are not in it. Where Reserved Instances and Savings Plans are listed, in ConfigMap daemok-commitments
or by --commitments FILE, it also says what they leave to pay, and which of them are unused. A node
whose price is not known is named and not counted.

--by groups by pool, namespace, owner, label=KEY (of pods), capacity-type, zone, instance-type,
node-label=KEY, node or pod. Several with commas between make one group of their
combinations; --by may be repeated. Rows add up to the total.`,
		Example: `  daemok cost
  daemok cost --by namespace,owner -o wide
  daemok cost --by label=team -o csv > cost.csv
  daemok cost -n shop -l app=web --by owner
  daemok cost --snapshot situation.txt --by capacity-type`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := f.report(cmd, see)
			if err != nil {
				return err
			}
			return f.form.Print(cmd.OutOrStdout(), f.answer(report))
		},
	}
	f.at.AddTo(cmd)
	f.at.AddAWS(cmd)
	f.form.AddTo(cmd.Flags())
	set := cmd.Flags()
	set.StringArrayVar(&f.by, "by", nil,
		"what to group by, such as namespace or pool,label=team; may be repeated; default pool and namespace")
	set.StringVar(&f.file, "snapshot", "",
		"file written by daemok snapshot, - for standard input; default the live cluster")
	set.StringVarP(&f.selector, "selector", "l", "",
		"labels of the pods to report, as kubectl takes them; default all pods")
	set.StringVar(&f.commitments, "commitments", "",
		"YAML file of Reserved Instances and Savings Plans, - for standard input; default ConfigMap daemok-commitments")
	set.BoolVar(&f.askAWS, "aws", true, "ask AWS for prices; with --aws=false they are list prices")
	return cmd
}

// groups are what to group by.
func (f *flags) groups() (out [][]cost.Key, err error) {
	by := f.by
	switch {
	case len(by) > 0:
	case f.form.Is(inCSV):
		by = usualCSV
	default:
		by = usual
	}
	for _, text := range by {
		keys, err := cost.ParseKeys(text)
		if err != nil {
			return nil, err
		}
		out = append(out, keys)
	}
	return out, nil
}

func (f *flags) report(cmd *cobra.Command, see See) (*costs.Report, error) {
	groups, err := f.groups()
	if err != nil {
		return nil, err
	}
	chosen, err := f.chosen()
	if err != nil {
		return nil, err
	}
	var in costs.Input
	if f.file != "" {
		in, err = saved(cmd.InOrStdin(), f.file, groups, chosen)
	} else {
		in, err = f.live(cmd.Context(), see, groups, chosen)
	}
	if err != nil {
		return nil, err
	}
	given, err := files.Commitments(cmd.InOrStdin(), f.commitments)
	if err != nil {
		return nil, err
	}
	if f.commitments != "" {
		in.Commitments = &given
	}
	in.By = groups
	report := costs.Of(in)
	return &report, nil
}

// answer is the report in all forms: a row is one of its first group.
func (f *flags) answer(r *costs.Report) output.Answer {
	a := output.Answer{Value: r, None: "the cluster has no nodes"}
	for i := range r.Groups[0].Rows {
		a.Rows = append(a.Rows, output.Row{Value: named{r.Groups[0].By, &r.Groups[0].Rows[i]}.fields()})
	}
	a.Text = func(out io.Writer) error {
		if f.form.Is(inCSV) {
			return costs.CSV(out, r)
		}
		return costs.Write(text.New(out), r, f.form.Is(output.Wide))
	}
	return a
}

// named is a row with the names of its values.
type named struct {
	by  []string
	row *costs.Row
}

// fields are those of a row for columns, its values under the names that they are grouped by.
func (n named) fields() map[string]any {
	out := map[string]any{
		"cost": n.row.Cost, "pods": n.row.Pods, "daemons": n.row.Daemons, "idle": n.row.Unused,
		"podCount": n.row.PodCount, "nodes": n.row.Nodes,
	}
	for i, by := range n.by {
		out[strings.NewReplacer("=", "-", "/", "-", ".", "-").Replace(by)] = n.row.Values[i]
	}
	return out
}
