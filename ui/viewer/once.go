package viewer

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// Once writes one screen without a terminal's functions: the header, what is wrong, all nodes, and the
// pods that wait. On a terminal it is
// as wide as that, else nothing is cut off.
func Once(p *text.Printer, c *view.Cluster, o Options) error {
	o = o.WithUsual()
	width := p.Width()
	for _, t := range c.Troubles { // whole, not cut off as in a line of the screen
		p.Line(text.Say(text.Warn, "%s", t))
	}
	well := *c
	well.Troubles = nil
	for _, l := range header(&well, &o, width, unlimited) {
		p.Raw(l)
	}
	if !p.Terminal() {
		width = unlimited
	}
	for _, which := range []int{problemSheet, nodeSheet, waitingSheet} {
		writeSheet(p, sheetOf(which, c, look{Options: o}), width, c.At)
	}
	return p.Err()
}

// writeSheet writes all rows of a sheet, if there are any.
func writeSheet(p *text.Printer, s sheet, width int, now time.Time) {
	rows, _ := s.size()
	if rows == 0 {
		return
	}
	columns := s.columns()
	lines := make([][]cell, rows)
	for row := range rows {
		lines[row] = s.cells(row, now)
	}
	for i := range columns { // the last column is as wide as it needs to be
		if columns[i].most == unlimited {
			w := widest{columns[i].least, unlimited}
			for _, l := range lines {
				w.see(l[i].Text)
			}
			columns[i].most = w.least
		}
	}
	widths := fit(columns, width, 2)
	titles := make([]cell, len(columns))
	for i, c := range columns {
		titles[i] = say(text.Faint, "%s", c.title)
	}
	p.Gap()
	for _, cells := range append([][]cell{titles}, lines...) {
		p.Raw(line(columns, widths, cells, 2, false))
	}
}

// CSV writes a line of each node with all that is known of it, with a line of titles above. Moments are RFC
// 3339 in UTC, amounts are numbers: of cpu in cores, of memory in bytes. A text that a spreadsheet would take
// for a formula has an apostrophe before it.
func CSV(out io.Writer, c *view.Cluster, o Options) error {
	o = o.WithUsual()
	w := csv.NewWriter(out)
	titles := []string{"name", "nodeclaim", "instance", "status", "reason", "until", "owner", "type", "zone",
		"capacity_type", "arch", "dollars_per_hour", "list_price", "created", "expires", "pods", "stays"}
	for _, r := range o.Resources {
		titles = append(titles, r+"_requested", r+"_allocatable", r+"_used")
	}
	w.Write(harmless(append(titles, o.Labels...))) //nolint:errcheck // Flush has the error
	s := newNodes(c, look{Options: o})
	for row := range s.rows {
		n := s.node(row)
		price := ""
		if n.Cost.Known {
			price = strconv.FormatFloat(n.Cost.PerHour, 'f', -1, 64)
		}
		owner := n.Owner.String()
		if n.Owner.Kind == "" {
			owner = ""
		}
		fields := []string{n.Name, n.Claim, n.Instance, string(n.Status), n.Reason, rfc(n.Until), owner, n.Type, n.Zone,
			n.CapacityType, n.Arch, price, fmt.Sprint(n.Cost.Listed), rfc(n.Created), rfc(n.Expires),
			fmt.Sprint(len(n.Pods)), n.Stays}
		for _, r := range o.Resources {
			u, has := n.UseOf(r)
			if !has {
				fields = append(fields, "", "", "")
				continue
			}
			used := ""
			if u.Used != nil {
				used = amount(r, *u.Used)
			}
			fields = append(fields, amount(r, u.Requested), amount(r, u.Allocatable), used)
		}
		for _, l := range o.Labels {
			fields = append(fields, n.Labels[l])
		}
		w.Write(harmless(fields)) //nolint:errcheck // Flush has the error
	}
	w.Flush()
	return w.Error()
}

func rfc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// amount prints an amount as a number: cores, bytes or pieces.
func amount(resource string, n int64) string {
	if resource == quantity.NameCPU {
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64)
	}
	return strconv.FormatInt(n, 10)
}

// harmless are fields in none of which a spreadsheet finds a formula or a terminal a control sequence.
func harmless(fields []string) []string {
	for i, f := range fields {
		f = text.Clean(f)
		if f != "" && strings.ContainsRune("=+-@", rune(f[0])) {
			f = "'" + f
		}
		fields[i] = f
	}
	return fields
}
