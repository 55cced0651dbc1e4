package evaluate

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/daemok/daemok/deploy/monitoring/recording"
)

// Series is what a panel shows by one name of its legend.
type Series struct {
	Name   string
	Points []Point // in the order of their times; none is NaN
}

// Point is a value at a time.
type Point struct {
	At    time.Time
	Value float64
}

// Last is the newest value.
func (s Series) Last() float64 { return s.Points[len(s.Points)-1].Value }

// Evaluate returns the series that a panel shows, each with at least one point: in the order of
// its queries, and within one of their labels. What an instant query said at earlier times is
// among them: Now leaves it out.
func (p Panel) Evaluate(ctx context.Context, r *recording.Recording) ([]Series, error) {
	var out []Series
	for _, t := range p.Targets {
		matrix, err := r.Range(ctx, p.filled(t.Expr, r.Every, r.To().Sub(r.From)))
		if err != nil {
			return nil, fmt.Errorf("panel %s: %w", p.Title, err)
		}
		for _, s := range matrix {
			one := Series{Name: legend(t, s.Metric)}
			for _, f := range s.Floats {
				at := time.UnixMilli(f.T).UTC()
				if !math.IsNaN(f.F) {
					one.Points = append(one.Points, Point{at, f.F})
				}
			}
			if len(one.Points) > 0 {
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// Now are the series of a panel that shows what is now which have a value at the end.
func Now(shown []Series, r *recording.Recording) []Series {
	return slices.DeleteFunc(slices.Clone(shown), func(s Series) bool {
		return s.Points[len(s.Points)-1].At.Before(r.To())
	})
}

// filled is an expression with its variables filled in. Points are as far apart as scrapes, as on a
// screen that has room for all, and the rate interval is four scrapes.
func (p Panel) filled(expr string, every, lasting time.Duration) string {
	pairs := []string{"$__rate_interval", (4 * every).String(), "$__range", lasting.String()}
	for _, v := range p.variables {
		if v.AllValue != "" {
			pairs = append(pairs, "$"+v.Name, v.AllValue)
		}
	}
	return strings.NewReplacer(pairs...).Replace(expr)
}

// Metrics are the names of all metrics that the queries of dashboards select by name.
func Metrics(dashboards []Dashboard) (map[string]bool, error) {
	out, parse := map[string]bool{}, parser.NewParser(parser.Options{})
	for _, d := range dashboards {
		for _, p := range d.Panels {
			for _, t := range p.Targets {
				expr, err := parse.ParseExpr(p.filled(t.Expr, time.Minute, time.Hour))
				if err != nil {
					return nil, fmt.Errorf("dashboard %s, panel %s: %w", d.File, p.Title, err)
				}
				parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
					if v, ok := n.(*parser.VectorSelector); ok {
						out[v.Name] = true
					}
					return nil
				})
			}
		}
	}
	return out, nil
}

// placeholder is the name of a label in the format of a legend.
var placeholder = regexp.MustCompile(`\{\{\s*(.+?)\s*\}\}`)

// legend is the name of a series: a label that it lacks is empty, and without a format all labels count.
func legend(t Target, of labels.Labels) string {
	if t.Legend == "" {
		return of.String()
	}
	return placeholder.ReplaceAllStringFunc(t.Legend, func(found string) string {
		return of.Get(placeholder.FindStringSubmatch(found)[1])
	})
}
