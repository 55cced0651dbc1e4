package main

import (
	"reflect"
	"testing"

	"github.com/daemok/daemok/cloud/aws"
)

// Plans on a live cluster are made with the settings that its controller has.
func TestPlansHaveTheControllersSettings(t *testing.T) {
	tests := map[string]struct {
		env   map[string]string
		want  aws.Options
		wrong string
	}{
		"nothing said": {want: aws.Options{MemoryOverhead: 0.075}},
		"all": {env: map[string]string{"VM_MEMORY_OVERHEAD_PERCENT": "0.05", "RESERVED_ENIS": "1", "ISOLATED_VPC": "true", "ENABLE_ZONAL_SHIFT": "true",
			"SURPLUS_CREDITS": "false", "FEATURE_GATES": "ReservedCapacity=false"},
			want: aws.Options{MemoryOverhead: 0.05, ReservedENIs: 1, IsolatedVPC: true, ZonalShift: true, NoSurplusCredits: true, NoReservedCapacity: true}},
		"other gates":       {env: map[string]string{"FEATURE_GATES": "NodeRepair=true"}, want: aws.Options{MemoryOverhead: 0.075}},
		"all of the memory": {env: map[string]string{"VM_MEMORY_OVERHEAD_PERCENT": "1"}, wrong: `VM_MEMORY_OVERHEAD_PERCENT is "1": want a share from 0 to below 1`},
		"no number":         {env: map[string]string{"RESERVED_ENIS": "one"}, wrong: `RESERVED_ENIS is "one": want 0 or more`},
		"less than none":    {env: map[string]string{"RESERVED_ENIS": "-1"}, wrong: `RESERVED_ENIS is "-1": want 0 or more`},
		"no truth":          {env: map[string]string{"ENABLE_ZONAL_SHIFT": "on"}, wrong: `ENABLE_ZONAL_SHIFT is "on": want true or false`},
		"no switch":         {env: map[string]string{"FEATURE_GATES": "NodeRepair"}, wrong: `FEATURE_GATES has "NodeRepair": want Name=true or Name=false`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := settingsOf(func(variable string) string { return tt.env[variable] })
			switch {
			case tt.wrong != "":
				if err == nil || err.Error() != tt.wrong {
					t.Errorf("got %v, want %s", err, tt.wrong)
				}
			case err != nil || !reflect.DeepEqual(got, tt.want):
				t.Errorf("got %+v and %v, want %+v", got, err, tt.want)
			}
		})
	}
}
