package validate_test

import (
	"testing"

	"github.com/daemok/daemok/kube/api/validate"
)

// Manifests that are merely planned with pass no admission, so what that asks for is examined here
// too.
func TestDisruptionPolicy(t *testing.T) {
	const base = `spec: {windows: [{start: "22:00", duration: 6h}], payback: {podCost: "0.01", minSavings: 5%}, breaker: {nodes: "3", within: 30m}}`
	check(t, base, map[string]finding{
		"everything is right":                {``, ``},
		"a percentage of nodes is right":     {`spec: {breaker: {nodes: 100%}}`, ``},
		"what is left out is right":          {`spec: {payback: {podCost: null, minSavings: null}, breaker: {nodes: null}}`, ``},
		"nothing asked for is doubtful":      {`spec: {windows: null, payback: null, breaker: null}`, `warning: spec: nothing is asked for`},
		"a start that is no time is refused": {`spec: {windows: [{start: "24:00", duration: 6h}]}`, `spec.windows[0].start: "24:00" is no time of day`},
		"a duration of words is refused":     {`spec: {windows: [{start: "22:00", duration: long}]}`, `spec.windows[0].duration: "long" is no length of time`},
		"a cost with a currency is refused":  {`spec: {payback: {podCost: "$1"}}`, `spec.payback.podCost: "$1" is not understood, write an amount of US dollars`},
		"savings without a sign are refused": {`spec: {payback: {minSavings: "5"}}`, `spec.payback.minSavings: "5" is not understood, write a whole percentage`},
		"no node at all is refused":          {`spec: {breaker: {nodes: "0"}}`, `spec.breaker.nodes: "0" is not understood, write a number from "1" on`},
		"a time of days is refused":          {`spec: {breaker: {within: 1d}}`, `spec.breaker.within: "1d" is no length of time`},
	}, validate.DisruptionPolicy)
}
