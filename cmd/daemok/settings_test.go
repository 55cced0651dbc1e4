package main

import (
	"reflect"
	"testing"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/provisioning"
)

// Plans on a live cluster are made with the settings that its controller has.
func TestPlansHaveTheControllersSettings(t *testing.T) {
	tests := map[string]struct {
		env   map[string]string
		want  aws.Options
		wrong string
	}{
		"nothing said": {want: aws.Options{MemoryOverhead: 0.075}},
		"all": {env: map[string]string{"VM_MEMORY_OVERHEAD_PERCENT": "0.05", "RESERVED_ENIS": "1",
			"ISOLATED_VPC": "true", "ENABLE_ZONAL_SHIFT": "true", "ACCOUNT_COMMITMENTS": "true",
			"SURPLUS_CREDITS": "false", "FEATURE_GATES": "ReservedCapacity=false"},
			want: aws.Options{MemoryOverhead: 0.05, ReservedENIs: 1, IsolatedVPC: true, ZonalShift: true,
				Commitments: true, NoSurplusCredits: true, NoReservedCapacity: true}},
		"other gates":       {env: map[string]string{"FEATURE_GATES": "NodeRepair=true"}, want: aws.Options{MemoryOverhead: 0.075}},
		"all of the memory": {env: map[string]string{"VM_MEMORY_OVERHEAD_PERCENT": "1"}, wrong: `VM_MEMORY_OVERHEAD_PERCENT is "1": want a share from 0 to below 1`},
		"no number":         {env: map[string]string{"RESERVED_ENIS": "one"}, wrong: `RESERVED_ENIS is "one": want 0 or more`},
		"less than none":    {env: map[string]string{"RESERVED_ENIS": "-1"}, wrong: `RESERVED_ENIS is "-1": want 0 or more`},
		"no truth":          {env: map[string]string{"ENABLE_ZONAL_SHIFT": "on"}, wrong: `ENABLE_ZONAL_SHIFT is "on": want true or false`},
		"no switch":         {env: map[string]string{"FEATURE_GATES": "NodeRepair"}, wrong: `FEATURE_GATES has "NodeRepair": want Name=true or Name=false`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { reads(t, inspect.OptionsOf, tt.env, tt.want, tt.wrong) })
	}
}

// A plan is made in the way that the controller's settings ask for.
func TestPlansAreMadeAsTheControllersSettingsAsk(t *testing.T) {
	is := func(change func(*decide.Policy)) decide.Policy {
		p := decide.Policy{PreferenceWorth: decide.Worth}
		change(&p)
		return p
	}
	tests := map[string]struct {
		env   map[string]string
		want  decide.Policy
		wrong string
	}{
		"nothing said":               {want: is(func(*decide.Policy) {})},
		"what is the default":        {env: map[string]string{"PREFERENCE_POLICY": "Weigh", "MIN_VALUES_POLICY": "Strict", "PAYBACK": "on"}, want: is(func(*decide.Policy) {})},
		"preferences do not count":   {env: map[string]string{"PREFERENCE_POLICY": "Ignore"}, want: is(func(p *decide.Policy) { p.Preferences = decide.Ignore })},
		"preferences are worth less": {env: map[string]string{"PREFERENCE_WORTH": "0.2"}, want: is(func(p *decide.Policy) { p.PreferenceWorth = 0.2 })},
		"fewer values will do":       {env: map[string]string{"MIN_VALUES_POLICY": "BestEffort"}, want: is(func(p *decide.Policy) { p.MinValues = provisioning.BestEffort })},
		"every saving counts":        {env: map[string]string{"PAYBACK": "off"}, want: is(func(p *decide.Policy) { p.Disruption.EverySaving = true })},
		"spot replaces spot":         {env: map[string]string{"FEATURE_GATES": "SpotToSpotConsolidation=true"}, want: is(func(p *decide.Policy) { p.Disruption.SpotToSpot = true })},
		"no policy":                  {env: map[string]string{"PREFERENCE_POLICY": "ignore"}, wrong: `PREFERENCE_POLICY is "ignore": want Weigh, Respect or Ignore`},
		"worth nothing":              {env: map[string]string{"PREFERENCE_WORTH": "0"}, wrong: `PREFERENCE_WORTH is "0": want a share above 0`},
		"no effort":                  {env: map[string]string{"MIN_VALUES_POLICY": "Loose"}, wrong: `MIN_VALUES_POLICY is "Loose": want Strict or BestEffort`},
		"no switch":                  {env: map[string]string{"PAYBACK": "true"}, wrong: `PAYBACK is "true": want on or off`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { reads(t, inspect.PolicyOf, tt.env, tt.want, tt.wrong) })
	}
}

// reads checks what is made of an environment: what is wanted, or where wrong says so an error.
func reads[T any](t *testing.T, read func(setting func(string) string) (T, error), env map[string]string, want T, wrong string) {
	t.Helper()
	got, err := read(func(variable string) string { return env[variable] })
	switch {
	case wrong != "":
		if err == nil || err.Error() != wrong {
			t.Errorf("got %v, want %s", err, wrong)
		}
	case err != nil || !reflect.DeepEqual(got, want):
		t.Errorf("got %+v and %v, want %+v", got, err, want)
	}
}
