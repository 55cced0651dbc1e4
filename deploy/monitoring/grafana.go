package monitoring

import (
	"encoding/json"
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// height is how high a panel is; the grid of a dashboard is 24 units wide.
const height = 8

// source is the data source that the dashboard's user chooses.
func source() common.DataSourceRef {
	return common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}
}

// JSON is the dashboard as Grafana imports it, ending in a newline.
func (b Board) JSON() ([]byte, error) {
	d := dashboard.NewDashboardBuilder(b.Title) //nolint:staticcheck // older versions of Grafana cannot import the newer schema
	d.Uid(b.File).Description(b.About).Tags([]string{"daemok"}).
		Refresh("1m").Time("now-6h", "now").Timezone("browser").Tooltip(dashboard.DashboardCursorSyncCrosshair).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"))
	if b.Pools {
		d.WithVariable(dashboard.NewQueryVariableBuilder("nodepool").Label("NodePool").Datasource(source()).
			Query(dashboard.StringOrMap{String: cog.ToPtr("label_values(karpenter_nodepools_usage, nodepool)")}).
			Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc).
			Multi(true).IncludeAll(true).AllValue(".+").Current(dashboard.VariableOption{
			Text:  dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
			Value: dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
		}))
	}
	id := uint32(0)
	for _, row := range b.Rows {
		id++
		d.WithRow(dashboard.NewRowBuilder(row.Title).Id(id))
		sizes := row.sizes()
		for i, p := range row.Panels {
			id++
			d.WithPanel(p.builder(id, sizes[i]))
		}
	}
	built, err := d.Build()
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(built, "", "  ")
	return append(text, '\n'), err
}

// size is how large a panel is, in units of the grid.
type size struct{ height, span uint32 }

// sizes are those of the panels of a row, each line as wide as the dashboard: at most three in a
// line, or four of half the height where some that need no more follow each other.
func (r Row) sizes() []size {
	var out []size
	for i := 0; i < len(r.Panels); {
		n, most, tall := r.low(i), 4, uint32(height/2)
		if n < 2 {
			most, tall = 3, height
			for n = 1; i+n < len(r.Panels) && r.low(i+n) < 2; {
				n++
			}
		}
		i += n
		for lines := (n + most - 1) / most; lines > 0; lines-- {
			in := (n + lines - 1) / lines
			n -= in
			out = append(out, slices.Repeat([]size{{tall, uint32(24 / in)}}, in)...)
		}
	}
	return out
}

// low is how many panels from one on need half the height, one after the other.
func (r Row) low(from int) int {
	n := 0
	for from+n < len(r.Panels) && r.Panels[from+n].Now && !r.Panels[from+n].Bars {
		n++
	}
	return n
}

func (p Panel) builder(id uint32, of size) cog.Builder[dashboard.Panel] {
	switch {
	case p.Bars:
		return p.bargauge(id, of)
	case p.Now:
		return p.newest(id, of)
	}
	out := timeseries.NewPanelBuilder().Id(id).Title(p.Title).Description(p.About).Unit(p.Unit).Datasource(source()).Height(of.height).Span(of.span).
		AxisSoftMin(0).ShowPoints(common.VisibilityModeAuto).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	if p.Stacked {
		out.FillOpacity(20).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	for i, q := range p.Queries {
		out.WithTarget(q.builder(i).Range())
	}
	return out
}

// newest shows the newest value of each series.
func (p Panel) newest(id uint32, of size) cog.Builder[dashboard.Panel] {
	out := stat.NewPanelBuilder().Id(id).Title(p.Title).Description(p.About).Unit(p.Unit).Datasource(source()).Height(of.height).Span(of.span).
		ColorMode(common.BigValueColorModeNone).GraphMode(common.BigValueGraphModeNone).ReduceOptions(lastValue())
	if p.Names {
		out.TextMode(common.BigValueTextModeName).NoValue("None")
	}
	if p.Alarm != (Alarm{}) {
		out.ColorMode(common.BigValueColorModeValue).Thresholds(p.Alarm.thresholds())
	}
	for i, q := range p.Queries {
		out.WithTarget(q.builder(i).Instant())
	}
	return out
}

// bargauge shows the newest value of each series as a bar up to 1.
func (p Panel) bargauge(id uint32, of size) cog.Builder[dashboard.Panel] {
	out := bargauge.NewPanelBuilder().Id(id).Title(p.Title).Description(p.About).Unit(p.Unit).Datasource(source()).Height(of.height).Span(of.span).
		Min(0).Max(1).Orientation(common.VizOrientationHorizontal).DisplayMode(common.BarGaugeDisplayModeBasic).
		Thresholds(p.Alarm.thresholds()).ReduceOptions(lastValue())
	for i, q := range p.Queries {
		out.WithTarget(q.builder(i).Instant())
	}
	return out
}

func lastValue() *common.ReduceDataOptionsBuilder {
	return common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})
}

// thresholds are what Grafana colours values by.
func (a Alarm) thresholds() *dashboard.ThresholdsConfigBuilder {
	below, at, from := "green", a.From, "red"
	if a.Below != 0 {
		below, at, from = "red", a.Below, "green"
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).
		Steps([]dashboard.Threshold{{Color: below}, {Value: &at, Color: from}})
}

func (q Query) builder(i int) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().RefId(string(rune('A' + i))).Datasource(source()).Expr(q.Expr).LegendFormat(q.Legend)
}
