package main

import (
	"maps"
	"slices"
)

// Ways out for options that there are no more.
const (
	wayNoHooks  = "there are no webhooks: take it away"
	waySettings = " in ConfigMap karpenter-global-settings"
)

// olderOptions were flags and variables of Karpenter in its v1alpha5 API, and what
// stands in their place. They are taken, so that a set-up written for it starts.
var olderOptions = map[string]string{
	"aws-default-instance-profile": "set aws.defaultInstanceProfile" + waySettings,
	"aws-enable-pod-eni":           "set aws.enablePodENI" + waySettings,
	"aws-eni-limited-pod-density":  "set aws.enableENILimitedPodDensity" + waySettings,
	"aws-isolated-vpc":             "set ISOLATED_VPC",
	"aws-node-name-convention":     "nodes are found by their instances, whatever they are called: take it away",
	"disable-webhook":              wayNoHooks,
	"leader-elect":                 "set DISABLE_LEADER_ELECTION=true to run without a lease",
	"vm-memory-overhead":           "set VM_MEMORY_OVERHEAD_PERCENT",
	"webhook-metrics-port":         wayNoHooks,
	"webhook-port":                 wayNoHooks,
}

// defineOlder takes them as flags, which help does not name.
func (r *reader) defineOlder() {
	for _, flag := range slices.Sorted(maps.Keys(olderOptions)) {
		r.flags.String(flag, "", olderOptions[flag])
		r.flags.Lookup(flag).NoOptDefVal = "true"
		r.flags.Lookup(flag).Hidden = true
	}
}

// older lists those given, on the command line or in the environment.
func (r *reader) older() []string {
	var given []string
	for _, flag := range slices.Sorted(maps.Keys(olderOptions)) {
		if text, _ := r.value(flag); text != "" || r.flags.Changed(flag) {
			given = append(given, flag)
		}
	}
	return given
}
