package shadow

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/daemok/daemok/observe/comparison"
)

//go:embed page.html
var pageText string

// Size of the chart in its own units.
const (
	chartWidth  = 900.0
	chartHeight = 180.0
)

// page is what the template reads.
type page struct {
	Headline, Period string
	Less             bool // it would have cost less
	Rows             []row
	Report           report
	Actual, Shadow   string // curves, as points of an SVG polyline
	Top              string
	From, Until      string
	Width, Height    float64
}

// writeHTML prints the report as a page of its own that loads nothing.
func (r report) writeHTML(out io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{"saves": saves}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("read the template of the page: %w", err)
	}
	p := page{
		Headline: r.headline(), Period: r.period(), Less: r.SavedPerMonthDollars >= 0, Rows: r.rows(), Report: r,
		Width: chartWidth, Height: chartHeight,
	}
	top := 0.0
	for _, h := range r.Levels {
		top = max(top, perHour(h.ActualDollars, h), perHour(h.ShadowDollars, h))
	}
	if n := len(r.Levels); n > 1 && top > 0 {
		p.Actual = curve(r.Levels, top, func(h comparison.Hour) float64 { return h.ActualDollars })
		p.Shadow = curve(r.Levels, top, func(h comparison.Hour) float64 { return h.ShadowDollars })
		const form = "Jan 2, 15:04"
		p.Top = fmt.Sprintf("$%.2f an hour", top)
		p.From, p.Until = r.Levels[0].At.UTC().Format(form), r.Levels[n-1].At.UTC().Format(form)
	}
	return t.Execute(out, p)
}

func perHour(dollars float64, h comparison.Hour) float64 {
	if h.Seconds <= 0 {
		return 0
	}
	return dollars / h.Seconds * 3600
}

// curve is the level of each hour that was watched, by its time.
func curve(hours []comparison.Hour, top float64, of func(comparison.Hour) float64) string {
	first, span := hours[0].At, hours[len(hours)-1].At.Sub(hours[0].At)
	var b strings.Builder
	for _, h := range hours {
		x := chartWidth * float64(h.At.Sub(first)) / float64(span)
		fmt.Fprintf(&b, "%.1f,%.1f ", x, chartHeight*(1-perHour(of(h), h)/top))
	}
	return strings.TrimSpace(b.String())
}
