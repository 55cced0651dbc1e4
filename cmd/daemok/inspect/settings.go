package inspect

import (
	"fmt"
	"strconv"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/internal/gates"
)

// OptionsOf are the controller's settings about what AWS has, by its environment
// variables and with its defaults. The error names the variable.
func OptionsOf(env func(string) string) (aws.Options, error) {
	out := aws.Options{MemoryOverhead: aws.UsualMemoryOverhead}
	credits := true
	share := func(text string) (err error) {
		out.MemoryOverhead, err = strconv.ParseFloat(text, 64)
		if err == nil && !(out.MemoryOverhead >= 0 && out.MemoryOverhead < 1) {
			err = strconv.ErrRange
		}
		return err
	}
	count := func(text string) (err error) {
		out.ReservedENIs, err = strconv.ParseInt(text, 10, 64)
		if err == nil && out.ReservedENIs < 0 {
			err = strconv.ErrRange
		}
		return err
	}
	truth := func(to *bool) func(string) error {
		return func(text string) (err error) {
			*to, err = strconv.ParseBool(text)
			return err
		}
	}
	for _, v := range []struct {
		name string
		read func(string) error
		want string
	}{
		{"VM_MEMORY_OVERHEAD_PERCENT", share, "a share from 0 to below 1"},
		{"RESERVED_ENIS", count, "0 or more"},
		{"ISOLATED_VPC", truth(&out.IsolatedVPC), "true or false"},
		{"ENABLE_ZONAL_SHIFT", truth(&out.ZonalShift), "true or false"},
		{"ACCOUNT_COMMITMENTS", truth(&out.Commitments), "true or false"},
		{"SURPLUS_CREDITS", truth(&credits), "true or false"},
	} {
		if text := env(v.name); text != "" && v.read(text) != nil {
			return out, fmt.Errorf("%s is %q: want %s", v.name, text, v.want)
		}
	}
	switches, err := gates.Core(env("FEATURE_GATES"))
	if err != nil {
		return out, fmt.Errorf("FEATURE_GATES %w", err)
	}
	out.Commitments = out.Commitments && switches.On(gates.Commitments)
	out.NoSurplusCredits, out.NoReservedCapacity = !credits, !switches.On(gates.Reserved)
	return out, nil
}

// PolicyOf are the controller's settings about how plans are made, by its environment
// variables and with its defaults. The error names the variable.
func PolicyOf(setting func(string) string) (p decide.Policy, err error) {
	p.PreferenceWorth = decide.Worth
	wrong := func(name, want string) (decide.Policy, error) {
		return p, fmt.Errorf("%s is %q: want %s", name, setting(name), want)
	}
	if text := setting("PREFERENCE_POLICY"); text != "" && p.Preferences.Set(text) != nil {
		return wrong("PREFERENCE_POLICY", "Weigh, Respect or Ignore")
	}
	if text := setting("PREFERENCE_WORTH"); text != "" {
		if p.PreferenceWorth, err = strconv.ParseFloat(text, 64); err != nil || !(p.PreferenceWorth > 0) {
			return wrong("PREFERENCE_WORTH", "a share above 0")
		}
	}
	if text := setting("NOMINATE_PODS"); text != "" {
		if p.Nominated, err = strconv.ParseBool(text); err != nil {
			return wrong("NOMINATE_PODS", "true or false")
		}
	}
	if text := setting("MIN_VALUES_POLICY"); text != "" && p.MinValues.Set(text) != nil {
		return wrong("MIN_VALUES_POLICY", "Strict or BestEffort")
	}
	switch setting("PAYBACK") {
	case "", "on":
	case "off":
		p.Disruption.EverySaving = true
	default:
		return wrong("PAYBACK", "on or off")
	}
	switches, err := gates.Core(setting("FEATURE_GATES"))
	if err != nil {
		return p, fmt.Errorf("FEATURE_GATES %w", err)
	}
	p.Disruption.SpotToSpot = switches.On(gates.SpotToSpot)
	p.IgnoreReplicas, p.IgnoreBuffers = !switches.On(gates.Static), !switches.On(gates.Buffers)
	p.IgnoreRequests = !switches.On(gates.Requests)
	return p, nil
}
