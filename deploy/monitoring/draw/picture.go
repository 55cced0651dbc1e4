package main

import (
	"bytes"
	"cmp"
	"context"
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/daemok/daemok/deploy/monitoring/evaluate"
	"github.com/daemok/daemok/deploy/monitoring/recording"
)

// Sizes in points: of a unit of the grid, and of what is between panels and round them.
const (
	wide   = 50
	high   = 27
	gap    = 6
	inside = 8
	head   = 46
)

var (
	ink    = color.RGBA{R: 0x24, G: 0x29, B: 0x2e, A: 0xff}
	pale   = color.RGBA{R: 0x6e, G: 0x77, B: 0x81, A: 0xff}
	rule   = color.RGBA{R: 0xe1, G: 0xe4, B: 0xe8, A: 0xff}
	ground = color.RGBA{R: 0xf6, G: 0xf8, B: 0xfa, A: 0xff}
	paper  = color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
)

// palette is the order in which Grafana gives colours to series.
var palette = []color.RGBA{
	{0x56, 0xa6, 0x4b, 0xff}, {0xe0, 0xb4, 0x00, 0xff}, {0x32, 0x74, 0xd9, 0xff}, {0xff, 0x78, 0x0a, 0xff}, {0xe0, 0x2f, 0x44, 0xff},
	{0x1f, 0x60, 0xc4, 0xff}, {0x8f, 0x3b, 0xb8, 0xff}, {0x70, 0x5d, 0xa0, 0xff}, {0x37, 0x87, 0x2d, 0xff}, {0x8a, 0x5a, 0x00, 0xff},
	{0x19, 0x73, 0x0e, 0xff}, {0x6e, 0xd0, 0xe0, 0xff}, {0xc4, 0x16, 0x2a, 0xff}, {0x7c, 0x2e, 0xa3, 0xff},
}

// colour is that of the series with a number.
func colour(i int) color.RGBA { return palette[i%len(palette)] }

// picture draws a dashboard with what its panels show, as SVG.
func picture(ctx context.Context, d evaluate.Dashboard, r *recording.Recording) ([]byte, error) {
	bottom := 0
	for _, p := range d.Panels {
		bottom = max(bottom, p.Grid.Y+p.Grid.H)
	}
	width, height := vg.Length(24*wide+gap), vg.Length(bottom*high+head+gap)
	drawn := vgsvg.New(width, height)
	whole := draw.New(drawn)
	fill(whole, ground)
	write(whole, style(17, true), d.Title, inside, height-24, width)
	write(whole, style(11, false), d.Description, inside, height-40, width)
	for _, p := range d.Panels {
		at := place(whole, p.Grid)
		if p.Kind == evaluate.Row {
			write(at, style(14, true), p.Title, at.Min.X, at.Min.Y+6, at.Max.X-at.Min.X)
			continue
		}
		shown, err := p.Evaluate(ctx, r)
		if err != nil {
			return nil, err
		}
		panel(at, p, shown, r)
	}
	var out bytes.Buffer
	if _, err := drawn.WriteTo(&out); err != nil {
		return nil, err
	}
	// Where the font is missing, one of the same widths takes its place.
	return bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), nil
}

// place is the part of the canvas that a place in the grid stands for.
func place(c draw.Canvas, g evaluate.Grid) draw.Canvas {
	left, top := vg.Length(g.X*wide+gap), c.Max.Y-vg.Length(g.Y*high+head)
	out := c
	out.Min = vg.Point{X: left, Y: top - vg.Length(g.H*high-gap)}
	out.Max = vg.Point{X: left + vg.Length(g.W*wide-gap), Y: top}
	return out
}

// panel draws one with its title.
func panel(c draw.Canvas, p evaluate.Panel, shown []evaluate.Series, r *recording.Recording) {
	fill(c, paper)
	room := c.Max.X - c.Min.X - 2*inside
	write(c, style(11, true), p.Title, c.Min.X+inside, c.Max.Y-16, room)
	body := draw.Crop(c, inside, -inside, inside, -24)
	if p.Kind != evaluate.TimeSeries {
		shown = evaluate.Now(shown, r)
	}
	switch {
	case len(shown) == 0:
		center(body, style(14, false), cmp.Or(p.FieldConfig.Defaults.NoValue, "No data"), (body.Min.Y+body.Max.Y)/2)
	case p.Kind == evaluate.Stat:
		stat(body, p, shown)
	case p.Kind == evaluate.BarGauge:
		bars(body, p, shown)
	default:
		timeSeries(body, p, shown, r)
	}
}

func fill(c draw.Canvas, with color.Color) {
	c.FillPolygon(with, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}

// style is that of text of a size in points.
func style(size vg.Length, bold bool) text.Style {
	f := font.From(plot.DefaultFont, size)
	f.Variant = "Sans"
	tint := pale
	if bold {
		f.Weight, tint = xfont.WeightBold, ink
	}
	return text.Style{Color: tint, Font: f, Handler: plot.DefaultTextHandler}
}

// write writes a line that begins at a point, cut to the room that it has.
func write(c draw.Canvas, s text.Style, line string, x, y, room vg.Length) {
	c.FillText(s, vg.Point{X: x, Y: y}, cut(s, line, room))
}

// cut is a line as far as there is room for it.
func cut(s text.Style, line string, room vg.Length) string {
	if s.Width(line) <= room {
		return line
	}
	runes := []rune(line)
	for len(runes) > 1 && s.Width(string(runes)+"…") > room {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// center writes a line in the middle.
func center(c draw.Canvas, s text.Style, line string, y vg.Length) {
	room := c.Max.X - c.Min.X
	line = cut(s, line, room)
	write(c, s, line, c.Min.X+(room-s.Width(line))/2, y, room+1)
}
