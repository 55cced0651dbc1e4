package simulate

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteTable prints the report for people: a line of each policy.
func (r Report) WriteTable(out io.Writer) error {
	fmt.Fprintf(out, "%s\n\n", r.summary())
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "POLICY\tCOST\tOVER BOUND\tEVICTIONS\tINTERRUPTIONS\tPENDING P50\tPENDING P99\tNODES\tLAUNCHED\tCPU")
	for _, name := range r.Order {
		fmt.Fprint(table, name)
		for _, cell := range r.Policies[name].cells() {
			fmt.Fprint(table, "\t", cell)
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// summary says what was run.
func (r Report) summary() string {
	out := fmt.Sprintf("%d pods in %.4g h; no instances for them can cost less than $%.2f", r.Pods, r.Hours, r.BoundDollars)
	if r.TooLarge > 0 {
		out += fmt.Sprintf("; left out: %d pods that are larger than every instance type", r.TooLarge)
	}
	return out
}

// cells are the figures in the order of tables.
func (o Outcome) cells() []string {
	gap := "-"
	if o.Gap != nil {
		gap = fmt.Sprintf("%.1f%%", 100**o.Gap)
	}
	return []string{fmt.Sprintf("$%.2f", o.CostDollars), gap, fmt.Sprint(o.Evictions), fmt.Sprint(o.Interruptions), fmt.Sprintf("%.0fs", o.PendingP50Seconds), fmt.Sprintf("%.0fs", o.PendingP99Seconds),
		fmt.Sprintf("%.1f", o.NodesMean), fmt.Sprint(o.Launched), fmt.Sprintf("%.1fs", o.CPUSeconds)}
}
