package simulate

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/daemok/daemok/test/sim"
)

// Measures of a chart, in the units of its view box.
const (
	chartWidth, chartHeight = 900.0, 240.0
	chartLeft, chartRight   = 52.0, 28.0
	chartTop, chartBottom   = 10.0, 26.0
	pointsMost              = 420 // of a line
)

// chart is a curve of each policy over time.
type chart struct {
	ID, Title   string
	Note        string // what is cut off; empty: nothing is
	Description string // what the curves show, for those who do not see them
	Lines       []line
	Ups, Across []tick // of the axes of values and of time
}

// line is one curve.
type line struct {
	Class string // of its colour
	Path  string // of SVG
}

// tick is a place on an axis with its label.
type tick struct {
	At    float64
	Label string
}

// series is the values of a curve, at equal distances.
type series struct {
	name   string
	values []float64
	drawn  []float64 // of each point
}

// quantity of a course that a chart shows.
type shown struct {
	id, title, format string
	of                func(sim.Moment) float64
	merge             func([]float64) float64 // what becomes of several values that share a point
	points            int                     // of a curve at most
	bound             bool                    // the lower bound is a curve too
}

// shownOf lists the charts of a page.
func shownOf() []shown {
	return []shown{
		{"cost", "Cost per hour", "$%.2f", func(m sim.Moment) float64 { return m.DollarsPerHour }, mean, pointsMost, true},
		{"nodes", "Nodes", "%.0f", func(m sim.Moment) float64 { return float64(m.Nodes) }, mean, pointsMost, false},
		{"pending", "Pending pods", "%.0f", func(m sim.Moment) float64 { return float64(m.Pending) }, mean, pointsMost / 7, false},
		{"evictions", "Evictions so far", "%.0f", func(m sim.Moment) float64 { return float64(m.Evictions) }, most, pointsMost, false},
	}
}

func mean(values []float64) (out float64) {
	for _, v := range values {
		out += v / float64(len(values))
	}
	return out
}

func most(values []float64) (out float64) {
	for _, v := range values {
		out = max(out, v)
	}
	return out
}

// charts draws the courses of all policies.
func (r Report) charts() (out []chart) {
	for _, what := range shownOf() {
		var all []series
		for _, name := range r.Order {
			one := series{name: name}
			for _, m := range r.Policies[name].Course {
				one.values = append(one.values, what.of(m))
			}
			all = append(all, one)
		}
		if what.bound && len(all) > 0 {
			all = append(all, series{name: "bound", values: boundMeans(r.Bound, len(all[0].values), r.For())})
		}
		out = append(out, draw(what, all, r.For()))
	}
	return out
}

// For is how long the simulated time is.
func (r Report) For() time.Duration { return time.Duration(r.Hours * float64(time.Hour)) }

// boundMeans is the mean of the bound in each of n equal parts of the time.
func boundMeans(levels []Level, n int, total time.Duration) []float64 {
	out := make([]float64, n)
	part := total.Seconds() / float64(n)
	for i, l := range levels {
		from, to := l.At.Seconds(), total.Seconds()
		if i+1 < len(levels) {
			to = levels[i+1].At.Seconds()
		}
		for k := int(from / part); k < n && float64(k)*part < to; k++ {
			shared := min(to, float64(k+1)*part) - max(from, float64(k)*part)
			out[k] += l.DollarsPerHour * max(0, shared) / part
		}
	}
	return out
}

// draw makes a chart of curves that share an axis.
func draw(what shown, all []series, total time.Duration) chart {
	size := max(1, (len(all[0].values)+what.points-1)/what.points)
	for i := range all {
		all[i].drawn = merged(all[i].values, size, what.merge)
	}
	highest, cut := highestOf(all, size)
	step, top := niceStep(highest)
	out := chart{ID: what.id, Title: what.title, Across: timeTicks(total)}
	var notes []string
	if each := time.Duration(size) * sim.RecordEvery; what.points < pointsMost && size > 1 {
		notes = append(notes, fmt.Sprintf("mean of each %g minutes", each.Minutes()))
	}
	if cut > 0 {
		notes = append(notes, fmt.Sprintf("up to "+what.format+" in the first %d minutes, cut off", cut, stabilizes))
	}
	out.Note = strings.Join(notes, "; ")
	for i := 0; float64(i)*step <= top*1.0001; i++ {
		value := float64(i) * step
		out.Ups = append(out.Ups, tick{chartY(value, top), fmt.Sprintf(valueFormat(what.format, step), value)})
	}
	var words []string
	for _, s := range all {
		out.Lines = append([]line{{s.name, curve(s.drawn, top)}}, out.Lines...) // the first is drawn above the others
		words = append(words, fmt.Sprintf("%s: mean "+what.format+", at most "+what.format+", "+what.format+" in the end", s.name, mean(s.values), most(s.values), last(s.values)))
	}
	out.Description = strings.Join(words, "; ")
	return out
}

// stabilizes is how many values at the beginning, when all pods are pending at once, may be cut off.
const stabilizes = 10

// highestOf is the highest value that a chart shows, where a point is of so many values. Where the beginning is much
// higher than the rest it is cut off, and its highest value is returned too.
func highestOf(all []series, size int) (highest, cut float64) {
	first, later := 0.0, 0.0
	for _, s := range all {
		highest, later = max(highest, most(s.drawn)), max(later, most(s.drawn[min((stabilizes+size-1)/size, len(s.drawn)):]))
		first = max(first, most(s.values))
	}
	if later > 0 && highest > 3*later {
		return later, first
	}
	return highest, 0
}

func last(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return values[len(values)-1]
}

// valueFormat leaves out decimals that all labels of an axis have alike, and adds those that distinguish
// them.
func valueFormat(format string, step float64) string {
	switch {
	case step == math.Trunc(step):
		return strings.Replace(format, "%.2f", "%.0f", 1)
	case format == "%.0f":
		return "%g"
	}
	return format
}

// merged is one value for each so many.
func merged(values []float64, size int, merge func([]float64) float64) (out []float64) {
	for i := 0; i < len(values); i += size {
		out = append(out, merge(values[i:min(i+size, len(values))]))
	}
	return out
}

// curve is a path of SVG in steps.
func curve(values []float64, top float64) string {
	var out strings.Builder
	width := (chartWidth - chartLeft - chartRight) / float64(max(1, len(values)))
	for i, v := range values {
		if i == 0 {
			fmt.Fprintf(&out, "M%.1f %.1f", chartLeft, chartY(v, top))
		} else if v != values[i-1] {
			fmt.Fprintf(&out, "V%.1f", chartY(v, top))
		}
		if i+1 == len(values) || values[i+1] != v {
			fmt.Fprintf(&out, "H%.1f", chartLeft+float64(i+1)*width)
		}
	}
	return out.String()
}

func chartY(value, top float64) float64 {
	return chartHeight - chartBottom - min(1, value/top)*(chartHeight-chartTop-chartBottom)
}

// niceStep is a round distance of labels, of which some four reach a value, and the highest of these.
func niceStep(value float64) (step, top float64) {
	if value <= 0 {
		return 1, 1
	}
	raw := value / 4
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step = 10 * power
	for _, n := range []float64{1, 2, 5} {
		if n*power >= raw {
			step = n * power
			break
		}
	}
	return step, step * math.Ceil(value/step)
}

// timeTicks labels the axis of time, at some six places.
func timeTicks(total time.Duration) (out []tick) {
	step := 7 * 24 * time.Hour
	for _, d := range []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour,
		6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour} {
		if total/d <= 8 {
			step = d
			break
		}
	}
	for at := time.Duration(0); at <= total; at += step {
		label := fmt.Sprintf("%g h", at.Hours())
		if step < time.Hour {
			label = fmt.Sprintf("%g min", at.Minutes())
		}
		out = append(out, tick{chartLeft + at.Seconds()/total.Seconds()*(chartWidth-chartLeft-chartRight), label})
	}
	return out
}
