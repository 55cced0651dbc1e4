package costs

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cost"
)

// CSV writes the rows of each group, with a line of titles before. Costs are in US dollars an hour with six decimals,
// so that rows add up. A cell that begins as a formula does has an apostrophe before it, as spreadsheets need.
func CSV(out io.Writer, r *Report) error {
	w := csv.NewWriter(out)
	for _, g := range r.Groups {
		if err := w.Write(titles(g)); err != nil {
			return err
		}
		for i := range g.Rows {
			if err := w.Write(line(&g.Rows[i])); err != nil {
				return err
			}
		}
	}
	w.Flush()
	return w.Error()
}

func titles(g Group) []string {
	var out []string
	for _, by := range g.By {
		out = append(out, safe(by))
	}
	out = append(out, "idle_only", "cost_per_hour", "cost_per_month", "pods_cost", "daemons_cost", "idle_cost")
	for _, cause := range cost.Causes() {
		out = append(out, "idle_"+strings.ReplaceAll(string(cause), "-", "_"))
	}
	return append(out, "pods", "nodes", "unpriced_nodes")
}

func line(r *Row) []string {
	var out []string
	for _, v := range r.Values {
		out = append(out, safe(v))
	}
	out = append(out, strconv.FormatBool(r.NoPods), r.Cost.exact(), strconv.FormatFloat(r.Cost.Month(), 'f', 4, 64),
		r.Pods.exact(), r.Daemons.exact(), r.Unused.exact())
	for _, cause := range cost.Causes() {
		out = append(out, r.ByCause[cause].exact())
	}
	return append(out, strconv.Itoa(r.PodCount), strconv.Itoa(r.Nodes), strconv.Itoa(r.Unpriced))
}

// exact has all decimals that a price has.
func (d Dollars) exact() string { return strconv.FormatFloat(float64(d), 'f', 6, 64) }

// safe is a cell that no spreadsheet takes for a formula.
func safe(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
