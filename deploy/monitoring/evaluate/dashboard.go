// Package evaluate computes what the panels of a Grafana dashboard show for a recording.
//
// It reads the dashboards in the form that users import, and evaluates their queries with Prometheus'
// own engine, as Grafana would: variables at their default, the rate interval from the interval of the
// scrapes, legends by their format. It implements only those features of Grafana that these dashboards
// use.
package evaluate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Kinds of panels.
const (
	Row        = "row" // a heading
	Stat       = "stat"
	BarGauge   = "bargauge"
	TimeSeries = "timeseries"
)

// Dashboard is one file.
type Dashboard struct {
	File        string  `json:"-"` // without its ending
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Panels      []Panel `json:"panels"`
	Templating  struct {
		List []variable `json:"list"`
	} `json:"templating"`
}

type variable struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	AllValue string `json:"allValue"`
}

// Panel is a heading, or shows what queries say.
type Panel struct {
	Kind        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Grid        Grid     `json:"gridPos"`
	Targets     []Target `json:"targets"`
	FieldConfig struct {
		Defaults Field `json:"defaults"`
	} `json:"fieldConfig"`
	Options struct {
		TextMode string `json:"textMode"`
	} `json:"options"`

	variables []variable
}

// Field is how values are shown.
type Field struct {
	Unit       string `json:"unit"`
	NoValue    string `json:"noValue"` // where there is no series
	Thresholds struct {
		Steps []Step `json:"steps"`
	} `json:"thresholds"`
	Custom struct {
		FillOpacity float64 `json:"fillOpacity"` // in percent
		Stacking    struct {
			Mode string `json:"mode"`
		} `json:"stacking"`
	} `json:"custom"`
}

// Step is the colour of values from a number on, until the next step.
type Step struct {
	Value *float64 `json:"value"` // nil for the first
	Color string   `json:"color"`
}

// Grid is a place in a grid that is 24 wide.
type Grid struct {
	X, Y int
	W, H int
}

// Target is one query.
type Target struct {
	Expr    string `json:"expr"`
	Legend  string `json:"legendFormat"`
	Instant bool   `json:"instant"`
}

// Unit is what Grafana calls the unit of the values.
func (p Panel) Unit() string { return p.FieldConfig.Defaults.Unit }

// Color is that of a value; "" if values have no colours.
func (p Panel) Color(v float64) string {
	out := ""
	for _, s := range p.FieldConfig.Defaults.Thresholds.Steps {
		if s.Value == nil || v >= *s.Value {
			out = s.Color
		}
	}
	return out
}

// NamesOnly says that names of series are shown, and not their values.
func (p Panel) NamesOnly() bool { return p.Options.TextMode == "name" }

// Opacity is that of the colour below lines, from 0 to 1.
func (p Panel) Opacity() float64 { return p.FieldConfig.Defaults.Custom.FillOpacity / 100 }

// Stacked says that series are drawn one upon the other.
func (p Panel) Stacked() bool { return p.FieldConfig.Defaults.Custom.Stacking.Mode == "normal" }

// Dashboards reads all dashboards of a folder, in the order of their names.
func Dashboards(folder string) ([]Dashboard, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []Dashboard
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			return nil, err
		}
		d := Dashboard{File: strings.TrimSuffix(filepath.Base(path), ".json")}
		if err := json.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("read the dashboard %s: %w", path, err)
		}
		for i := range d.Panels {
			d.Panels[i].variables = d.Templating.List
		}
		out = append(out, d)
	}
	return out, nil
}
