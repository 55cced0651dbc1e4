package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/charts"
	"github.com/daemok/daemok/kube/settings"
)

// chartOptions is files/options.yaml of the chart.
type chartOptions struct {
	Variables, ConfigMap []chartOption
	Gates                []struct{ Name string }
	Fixed                []string
}

type chartOption struct {
	Name, Value string
	Old         []string
}

func ofChart(t *testing.T) chartOptions {
	t.Helper()
	text, err := charts.FS.ReadFile("daemok/files/options.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var o chartOptions
	if err := yaml.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// The chart sets every option that there is, and none that there is not.
func TestTheChartHasAValueForEveryOption(t *testing.T) {
	o := ofChart(t)
	set := slices.Clone(o.Fixed)
	for _, v := range o.Variables {
		set = append(set, v.Name)
	}
	for _, g := range o.Gates {
		set = append(set, g.Name)
	}
	known := []string{"SYSTEM_NAMESPACE", "POD_NAME"} // read without a flag
	r := newReader(func(string) string { return "" })
	r.define(new(options))
	r.flags.VisitAll(func(f *pflag.Flag) {
		if _, older := olderOptions[f.Name]; older {
			return
		}
		name := envName(f.Name)
		known = append(known, name)
		if !slices.Contains(set, name) {
			t.Errorf("--%s: no value of the chart sets %s", f.Name, name)
		}
	})
	for _, name := range set {
		if !slices.Contains(known, name) {
			t.Errorf("the chart sets %s, which is no option", name)
		}
	}
}

// defaultSaid finds the controller's default at the end of a value's row in the README of the chart.
var defaultSaid = regexp.MustCompile("(?m)^\\| `([^`]+)` .*; controller: (\\S+) \\|$")

// What the chart says of defaults that are the controller's is true.
func TestTheChartReportsTheControllersDefaults(t *testing.T) {
	readme, err := charts.FS.ReadFile("daemok/README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, m := range defaultSaid.FindAllStringSubmatch(string(readme), -1) {
		said[m[1]] = m[2]
	}
	r := newReader(func(string) string { return "" })
	r.define(new(options))
	compared := 0
	for _, v := range ofChart(t).Variables {
		want, reports := said[v.Value]
		if !reports {
			continue
		}
		compared++
		is := r.flags.Lookup(strings.ReplaceAll(strings.ToLower(v.Name), "_", "-")).DefValue
		if a, err := time.ParseDuration(is); err == nil {
			if b, err := time.ParseDuration(want); err == nil && a == b {
				continue
			}
		}
		if is != want {
			t.Errorf("%s: the chart says that the controller's default is %s, it is %s", v.Value, want, is)
		}
	}
	if compared < 15 {
		t.Errorf("%d defaults are told, there are more: %v", compared, said)
	}
}

// Each key of ConfigMap karpenter-global-settings is a value, under the name that charts of that time gave it.
func TestTheChartTakesAllGlobalSettings(t *testing.T) {
	o := ofChart(t)
	taken := []string{"settings.featureGates.driftEnabled"} // one of the gates
	for _, option := range slices.Concat(o.Variables, o.ConfigMap) {
		taken = append(append(taken, option.Value), option.Old...)
	}
	for _, key := range settings.Keys() {
		if !slices.Contains(taken, "settings."+key) {
			t.Errorf("the chart does not take settings.%s", key)
		}
	}
	for _, option := range o.ConfigMap {
		if !slices.Contains(settings.Keys(), option.Name) {
			t.Errorf("ConfigMap %s of the chart: there is no key %s", "karpenter-global-settings", option.Name)
		}
	}
}
