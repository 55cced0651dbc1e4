package main

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/daemok/daemok/deploy/monitoring/evaluate"
	"github.com/daemok/daemok/deploy/monitoring/recording"
)

// stat draws the newest value of each series, or its name, one below the other.
func stat(c draw.Canvas, p evaluate.Panel, shown []evaluate.Series) {
	each := (c.Max.Y - c.Min.Y) / vg.Length(len(shown))
	for i, s := range shown {
		value := format(p.Unit(), s.Last())
		if p.NamesOnly() {
			value = s.Name
		}
		big := style(min(30, each*0.6), true)
		if room := c.Max.X - c.Min.X; big.Width(value) > room {
			big.Font.Size *= room / big.Width(value) * 0.98
		}
		if of, coloured := thresholds[p.Color(s.Last())]; coloured {
			big.Color = of
		}
		center(c, big, value, c.Max.Y-each*(vg.Length(i)+0.5)-big.Font.Size/3)
	}
}

// thresholds are the colours that dashboards name.
var thresholds = map[string]color.RGBA{"green": palette[0], "red": palette[4]}

// bars draws the newest value of each series as a bar from 0 to 1.
func bars(c draw.Canvas, p evaluate.Panel, shown []evaluate.Series) {
	small := style(9, false)
	names := vg.Length(0)
	for _, s := range shown {
		names = max(names, small.Width(s.Name)+gap)
	}
	each := (c.Max.Y - c.Min.Y) / vg.Length(len(shown))
	left, right := c.Min.X+names, c.Max.X-45
	for i, s := range shown {
		low := c.Max.Y - each*vg.Length(i+1) + each*0.15
		bar := c
		bar.Min, bar.Max = vg.Point{X: left, Y: low}, vg.Point{X: right, Y: low + each*0.7}
		fill(bar, rule)
		bar.Max.X = left + (right-left)*vg.Length(min(1, max(0, s.Last())))
		fill(bar, thresholds[p.Color(s.Last())])
		write(c, small, s.Name, c.Min.X, low+each*0.35-3, names)
		write(c, small, format(p.Unit(), s.Last()), right+gap, low+each*0.35-3, 45)
	}
}

// timeSeries draws lines over the whole time of the recording, with a legend below.
func timeSeries(c draw.Canvas, p evaluate.Panel, shown []evaluate.Series, r *recording.Recording) {
	names := legend(c, shown)
	body := draw.Crop(c, 0, 0, names, 0)
	chart := plot.New()
	chart.BackgroundColor = color.Transparent
	chart.X.Min, chart.X.Max = float64(r.From.Unix()), float64(r.To().Unix())
	chart.Y.Min = 0
	lines := curves(shown, p.Stacked(), r.Every)
	for i, line := range lines {
		for _, part := range line {
			area(chart, part, colour(i), p.Opacity())
		}
	}
	highest(chart, lines)
	axes(chart, p.Unit())
	chart.Draw(body)
}

// curve is a part of a line without gaps, and what it stands on.
type curve struct {
	upper, lower plotter.XYs
}

// curves are the lines of all series, cut where a point is missing, and if need be one upon the other.
func curves(shown []evaluate.Series, stacked bool, every time.Duration) [][]curve {
	below := map[int64]float64{}
	out := make([][]curve, len(shown))
	for i, s := range shown {
		var part curve
		for j, point := range s.Points {
			if j > 0 && point.At.Sub(s.Points[j-1].At) > every*3/2 {
				out[i], part = append(out[i], part), curve{}
			}
			x, base := float64(point.At.Unix()), 0.0
			if stacked {
				base = below[point.At.Unix()]
				below[point.At.Unix()] += point.Value
			}
			part.upper = append(part.upper, plotter.XY{X: x, Y: base + point.Value})
			part.lower = append(part.lower, plotter.XY{X: x, Y: base})
		}
		out[i] = append(out[i], part)
	}
	return out
}

// area adds a part of a line and the colour below it; a single point is a dot.
func area(chart *plot.Plot, part curve, c color.RGBA, opacity float64) {
	if len(part.upper) == 1 {
		dot := &plotter.Scatter{XYs: part.upper, GlyphStyle: draw.GlyphStyle{Color: c, Radius: 1.5, Shape: draw.CircleGlyph{}}}
		chart.Add(dot)
		return
	}
	line := &plotter.Line{XYs: part.upper, LineStyle: draw.LineStyle{Color: c, Width: 1.2}}
	if opacity == 0 {
		chart.Add(line)
		return
	}
	outline := append(plotter.XYs{}, part.upper...)
	for i := len(part.lower) - 1; i >= 0; i-- {
		outline = append(outline, part.lower[i])
	}
	pale := color.NRGBA{R: c.R, G: c.G, B: c.B, A: uint8(255 * opacity)}
	chart.Add(&plotter.Polygon{XYs: []plotter.XYs{outline}, Color: pale}, line)
}

// highest leaves room above the highest point; where all are 0, up to 1.
func highest(chart *plot.Plot, lines [][]curve) {
	top, bottom := 0.0, 0.0
	for _, line := range lines {
		for _, part := range line {
			for _, xy := range part.upper {
				top, bottom = max(top, xy.Y), min(bottom, xy.Y)
			}
		}
	}
	if top == bottom {
		top = 1
	}
	chart.Y.Min, chart.Y.Max = bottom*1.08, top*1.08
}

// axes has times below and values in their unit on the left.
func axes(chart *plot.Plot, unit string) {
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = rule, rule
	chart.Add(grid)
	for _, axis := range []*plot.Axis{&chart.X, &chart.Y} {
		axis.LineStyle.Width = 0
		axis.Tick.LineStyle.Width, axis.Tick.Length = 0, 2
		axis.Padding = 3
		s := style(9, false)
		s.XAlign, s.YAlign = axis.Tick.Label.XAlign, axis.Tick.Label.YAlign
		axis.Tick.Label = s
	}
	chart.X.Tick.Marker = plot.TickerFunc(func(from, to float64) []plot.Tick {
		var out []plot.Tick
		for at := math.Ceil(from/180) * 180; at <= to; at += 180 {
			out = append(out, plot.Tick{Value: at, Label: time.Unix(int64(at), 0).UTC().Format("15:04")})
		}
		return out
	})
	chart.Y.Tick.Marker = plot.TickerFunc(func(from, to float64) []plot.Tick { return ticks(unit, from, to) })
}

// steps are the distances between values on an axis that are round in a unit.
func steps(unit string) []float64 {
	var out []float64
	switch unit {
	case "bytes":
		for step := 64.0; step < 1<<50; step *= 2 {
			out = append(out, step)
		}
		return out
	case "s":
		for step := 1e-9; step < 20; step *= 10 {
			out = append(out, step, 2*step, 5*step)
		}
		out = slices.DeleteFunc(out, func(step float64) bool { return step > 15 })
		return append(out, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400)
	}
	for step := 1e-6; step < 1e15; step *= 10 {
		out = append(out, step, 2*step, 5*step)
	}
	return out
}

// ticks are six values at most, round in their unit.
func ticks(unit string, from, to float64) []plot.Tick {
	all := steps(unit)
	step := all[len(all)-1]
	for _, s := range all {
		if (to-from)/s <= 5 {
			step = s
			break
		}
	}
	var out []plot.Tick
	for i := math.Ceil(from / step); i*step <= to; i++ {
		out = append(out, plot.Tick{Value: i * step, Label: format(unit, i*step)})
	}
	return out
}

// rows is how many lines of a legend there is room for.
const rows = 4

// legend writes the names of series from left to right, as many as there is room for, and returns
// its height. Grafana would scroll.
func legend(c draw.Canvas, shown []evaluate.Series) vg.Length {
	s := style(9, false)
	type entry struct {
		i    int
		x, y vg.Length
	}
	var entries []entry
	x, row, left := vg.Length(0), 0, 0
	for i, one := range shown {
		w := min(s.Width(one.Name)+24, c.Max.X-c.Min.X)
		if x+w > c.Max.X-c.Min.X && x > 0 {
			x, row = 0, row+1
		}
		if row >= rows {
			left = len(shown) - i
			break
		}
		entries = append(entries, entry{i, x, vg.Length(row) * 12})
		x += w
	}
	height := vg.Length(min(row+1, rows))*12 + 4
	for _, e := range entries {
		at := vg.Point{X: c.Min.X + e.x, Y: c.Min.Y + height - 12 - e.y}
		c.FillPolygon(colour(e.i), []vg.Point{{X: at.X, Y: at.Y + 2}, {X: at.X + 10, Y: at.Y + 2}, {X: at.X + 10, Y: at.Y + 4}, {X: at.X, Y: at.Y + 4}})
		write(c, s, shown[e.i].Name, at.X+14, at.Y, c.Max.X-at.X-14)
	}
	if left > 0 {
		more := fmt.Sprintf("and %d more", left)
		write(c, style(9, true), more, c.Max.X-style(9, true).Width(more), c.Min.Y-7, 100)
	}
	return height
}
