// Package gates reads feature gates as Karpenter's options write them:
// "Name=true,Name=false".
package gates

import (
	"fmt"
	"strconv"
	"strings"
)

// The gates that act.
const (
	SpotToSpot  = "SpotToSpotConsolidation" // of FEATURE_GATES: cheaper spot machines replace spot machines
	NodeRepair  = "NodeRepair"              // of FEATURE_GATES: unhealthy nodes are replaced
	Drift       = "Drift"                   // of FEATURE_GATES: nodes of Provisioners drift; those of NodePools do in any event
	Reserved    = "ReservedCapacity"        // of FEATURE_GATES, on unless it is false: capacity reservations that classes select are used
	Expressions = "NodeClassCEL"            // of AWS_FEATURE_GATES: kubelet settings may hold expressions
)

// Parse returns the switches of a list by name. Names are not checked: they
// may be those of another release. Spaces and empty parts do not matter, and
// the last of several switches counts. The error names the part that is none.
func Parse(list string) (map[string]bool, error) {
	switches := map[string]bool{}
	for _, gate := range strings.Split(list, ",") {
		if gate = strings.TrimSpace(gate); gate == "" {
			continue
		}
		name, value, found := strings.Cut(gate, "=")
		name = strings.TrimSpace(name)
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		if !found || err != nil || name == "" {
			return nil, fmt.Errorf("has %q: want Name=true or Name=false", gate)
		}
		switches[name] = on
	}
	return switches, nil
}
