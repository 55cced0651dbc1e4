package simulate

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable prints the report for people: a line of each policy.
func (r Report) WriteTable(out io.Writer) error {
	fmt.Fprintf(out, "%s\n\n", r.summary())
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	interruptions := ""
	if r.Spot != "" {
		interruptions = "INTERRUPTIONS\t"
	}
	fmt.Fprintln(table, "POLICY\tCOST\tOVER BOUND\tEVICTIONS\t"+interruptions+"PENDING P50\tPENDING P99\tNODES\tLAUNCHED\tCPU")
	for _, name := range r.Order {
		fmt.Fprintln(table, name+"\t"+strings.Join(r.cells(name), "\t"))
	}
	return table.Flush()
}

// summary says what was run.
func (r Report) summary() string {
	out := fmt.Sprintf("%d pods in %.4g h; lower bound of the cost: $%.2f, or $%.2f if every instance holds the same mix of pods", r.Pods, r.Hours, r.BoundDollars, r.MixedDollars)
	if r.TooLarge > 0 {
		out += fmt.Sprintf("; left out: %d pods that are larger than every instance type", r.TooLarge)
	}
	return out
}

// cells are the figures of a policy in the order of tables. Interruptions are among them where there may be any.
func (r Report) cells(policy string) []string {
	o, gap := r.Policies[policy], "-"
	if o.Gap != nil {
		gap = fmt.Sprintf("%.1f%%", 100**o.Gap)
	}
	out := []string{fmt.Sprintf("$%.2f", o.CostDollars), gap, fmt.Sprint(o.Evictions)}
	if r.Spot != "" {
		out = append(out, fmt.Sprint(o.Interruptions))
	}
	return append(out, fmt.Sprintf("%.0fs", o.PendingP50Seconds), fmt.Sprintf("%.0fs", o.PendingP99Seconds),
		fmt.Sprintf("%.1f", o.NodesMean), fmt.Sprint(o.Launched), fmt.Sprintf("%.1fs", o.CPUSeconds))
}
