package monitoring

import (
	"encoding/json"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// The grid of a dashboard is 24 units wide.
const (
	height = 8
	span   = 8
)

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
			Multi(true).IncludeAll(true).AllValue(".*").Current(dashboard.VariableOption{
			Text:  dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
			Value: dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
		}))
	}
	id := uint32(0)
	for _, row := range b.Rows {
		id++
		d.WithRow(dashboard.NewRowBuilder(row.Title).Id(id))
		for _, p := range row.Panels {
			id++
			d.WithPanel(p.builder(id))
		}
	}
	built, err := d.Build()
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(built, "", "  ")
	return append(text, '\n'), err
}

func (p Panel) builder(id uint32) cog.Builder[dashboard.Panel] {
	if p.Now {
		return p.newest(id)
	}
	out := timeseries.NewPanelBuilder().Id(id).Title(p.Title).Description(p.About).Unit(p.Unit).Datasource(source()).Height(height).Span(span).
		FillOpacity(10).AxisSoftMin(0).ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	if p.Stacked {
		out.Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	for i, q := range p.Queries {
		out.WithTarget(q.builder(i).Range())
	}
	return out
}

// newest shows the newest value of each series.
func (p Panel) newest(id uint32) cog.Builder[dashboard.Panel] {
	out := stat.NewPanelBuilder().Id(id).Title(p.Title).Description(p.About).Unit(p.Unit).Datasource(source()).Height(height).Span(span).
		ColorMode(common.BigValueColorModeNone).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
	for i, q := range p.Queries {
		out.WithTarget(q.builder(i).Instant())
	}
	return out
}

func (q Query) builder(i int) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().RefId(string(rune('A' + i))).Datasource(source()).Expr(q.Expr).LegendFormat(q.Legend)
}
