package main

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/settings"
	"github.com/daemok/daemok/observe"
)

// notes keeps what is reported and done about global settings.
type notes struct {
	reported []string
	starts   int
	why      error // the controller would not start
}

func (n *notes) Publish(e observe.Event) { n.reported = append(n.reported, e.Reason+": "+e.Message) }

func (n *notes) follow(began map[string]string) *global {
	return &global{account: &class.Account{}, drift: new(atomic.Bool), events: n, log: slog.New(slog.DiscardHandler), began: settings.Read(began).Variables,
		allowed: func(settings.Settings) error { return n.why }, restart: func() { n.starts++ }}
}

func TestGlobalSettingsAreFollowed(t *testing.T) {
	began := map[string]string{"batchIdleDuration": "1s", "aws.clusterName": "shop"}
	with := func(key, value string) map[string]string {
		return map[string]string{"batchIdleDuration": "1s", "aws.clusterName": "shop", key: value}
	}
	tests := map[string]struct {
		looks    []map[string]string
		why      error
		starts   int
		reported []string // what each begins with
	}{
		"nothing changes": {[]map[string]string{began, began}, nil, 0, nil},
		"what can takes effect without a new start":       {[]map[string]string{with("aws.defaultInstanceProfile", "p"), with("aws.tags", `{"a":"b"}`)}, nil, 0, nil},
		"the rest has the controller restart the program": {[]map[string]string{with("batchIdleDuration", "2s")}, nil, 1, nil},
		"a value that cannot be read changes nothing":     {[]map[string]string{with("batchMaxDuration", "soon"), with("batchMaxDuration", "soon")}, nil, 0, []string{"SettingsInvalid: data.batchMaxDuration"}},
		"what means nothing is told once":                 {[]map[string]string{with("aws.nodeNameConvention", "resource-name"), with("aws.nodeNameConvention", "resource-name")}, nil, 0, []string{"SettingsWarning: data.aws.nodeNameConvention"}},
		"what it would not start with changes nothing, and is told once": {[]map[string]string{with("batchIdleDuration", "1h"), with("batchIdleDuration", "1h")}, errors.New("idle is longer than max"), 0,
			[]string{"SettingsInvalid: idle is longer than max; the settings of before hold"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			n := &notes{why: tt.why}
			g := n.follow(began)
			for _, data := range tt.looks {
				g.take(settings.Read(data))
			}
			if n.starts != tt.starts || !slices.EqualFunc(n.reported, tt.reported, strings.HasPrefix) {
				t.Errorf("%d new starts, told %q", n.starts, n.reported)
			}
		})
	}
}

func TestFlagsAndVariablesGoBeforeGlobalSettings(t *testing.T) {
	s := settings.Read(map[string]string{"aws.clusterName": "of-the-map", "batchMaxDuration": "20s", "batchIdleDuration": "2s"})
	env := func(name string) string { return map[string]string{"BATCH_MAX_DURATION": "30s"}[name] }
	o, err := readOptions([]string{"--cluster-name=of-the-flag"}, behindEnv(env, s))
	if err != nil {
		t.Fatal(err)
	}
	if o.clusterName != "of-the-flag" || o.batchMax.String() != "30s" || o.batchIdle.String() != "2s" {
		t.Errorf("cluster %s, batches of %v and %v", o.clusterName, o.batchMax, o.batchIdle)
	}
}

// Nodes of Provisioners drift as the settings say at the moment, unless a flag or a
// variable says it.
func TestWhetherNodesOfProvisionersDrift(t *testing.T) {
	for name, tt := range map[string]struct {
		gate     driftGate
		settings string
		want     bool
	}{
		"nobody says so":                    {driftGate{}, "", false},
		"the settings do":                   {driftGate{}, "true", true},
		"a flag goes before them":           {driftGate{said: true}, "true", false},
		"a flag does, and they say nothing": {driftGate{said: true, is: true}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := (&notes{}).follow(nil)
			tt.gate.settings = g.drift
			g.take(settings.Read(map[string]string{"featureGates.driftEnabled": tt.settings}))
			if got := tt.gate.on(); got != tt.want {
				t.Errorf("they drift: %v, want %v", got, tt.want)
			}
		})
	}
}
