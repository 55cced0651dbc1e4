package simulate

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/daemok/daemok/simulate/policy"
)

//go:embed page.html
var pageText string

// page is what the template of the page shows.
type page struct {
	Summary  string
	Spot     bool // spot instances may be interrupted
	Facts    []fact
	Policies []pagePolicy
	Charts   []chart
	Measures map[string]float64
}

// fact is something about what was run.
type fact struct{ Name, Value string }

// pagePolicy is a row of the table.
type pagePolicy struct {
	Name, Summary string
	Cells         []string
	Cheapest      bool
}

// WriteHTML prints the report as a page of its own that loads nothing.
func (r Report) WriteHTML(out io.Writer) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("read the template of the page: %w", err)
	}
	return t.Execute(out, page{Summary: r.summary(), Spot: r.Spot != "", Facts: r.facts(), Policies: r.rows(), Charts: r.charts(), Measures: map[string]float64{
		"width": chartWidth, "height": chartHeight, "left": chartLeft, "right": chartWidth - chartRight, "bottom": chartHeight - chartBottom, "text": chartHeight - 8, "labels": chartLeft - 6,
	}})
}

// facts says what was run.
func (r Report) facts() []fact {
	o, source := r.Of, fact{"Services", r.Of.Services}
	if o.Pods != "" {
		source = fact{"Pods", o.Pods}
	}
	catalog := o.Catalog
	if catalog == "" {
		catalog = "400 made-up instance types"
	}
	limits := []fact{{"Capacity", cmp.Or(o.Capacity, "as the NodePools say")}, {"Budget", cmp.Or(o.Budget, "as the NodePools say")}}
	if len(o.Manifests) > 0 {
		limits = append([]fact{{"NodePools", strings.Join(r.Pools, ", ")}}, limits...)
	}
	if r.Spot != "" {
		limits = append(limits, fact{"Spot instances", r.Spot})
	}
	return slices.Concat([]fact{source, {"Seconds", fmt.Sprintf("%d to %d", r.From, r.From+int64(r.For().Seconds()))}, {"Instance types", catalog}}, limits, []fact{{"Seed", fmt.Sprint(o.Seed)}})
}

// rows are the policies, in order.
func (r Report) rows() (out []pagePolicy) {
	summaries, cheapest := map[string]string{}, r.Order[0]
	for _, p := range policy.All() {
		summaries[p.Name] = p.Summary
	}
	for _, name := range r.Order {
		if r.Policies[name].CostDollars < r.Policies[cheapest].CostDollars {
			cheapest = name
		}
	}
	for _, name := range r.Order {
		out = append(out, pagePolicy{name, summaries[name], r.cells(name), name == cheapest})
	}
	return out
}
