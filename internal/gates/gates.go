// Package gates lists the feature gates, and reads them with component-base's featuregate.
//
// It promises to accept and list names that it does not know, since they may belong to another
// release, and to return an error for what is malformed. It registers no metric and logs nothing. What
// a gate does is up to its users.
package gates

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"github.com/daemok/daemok/internal/nearest"
)

// The gates that act.
const (
	SpotToSpot  featuregate.Feature = "SpotToSpotConsolidation" // of FEATURE_GATES: cheaper spot instances replace spot instances
	NodeRepair  featuregate.Feature = "NodeRepair"              // of FEATURE_GATES: unhealthy nodes are replaced
	Drift       featuregate.Feature = "Drift"                   // of FEATURE_GATES: nodes of Provisioners drift; those of NodePools do in any event
	Static      featuregate.Feature = "StaticCapacity"          // of FEATURE_GATES, on unless it is false: spec.replicas of NodePools acts
	Overlay     featuregate.Feature = "NodeOverlay"             // of FEATURE_GATES, on unless it is false: NodeOverlays act
	Buffers     featuregate.Feature = "CapacityBuffer"          // of FEATURE_GATES, on unless it is false: capacity is kept for CapacityBuffers
	Requests    featuregate.Feature = "ProvisioningRequest"     // likewise: capacity is found for ProvisioningRequests
	Quotas      featuregate.Feature = "CapacityQuota"           // likewise: CapacityQuotas limit what is launched
	Commitments featuregate.Feature = "Commitments"             // likewise: plans use commitments that are listed
	Reserved    featuregate.Feature = "ReservedCapacity"        // of FEATURE_GATES, on unless it is false: capacity reservations that classes select are used
	Expressions featuregate.Feature = "NodeClassCEL"            // of AWS_FEATURE_GATES: kubelet settings may hold expressions
)

// core are the gates of FEATURE_GATES, with their defaults.
func core() map[featuregate.Feature]featuregate.FeatureSpec {
	alpha, on := featuregate.FeatureSpec{PreRelease: featuregate.Alpha}, featuregate.FeatureSpec{Default: true, PreRelease: featuregate.Beta}
	return map[featuregate.Feature]featuregate.FeatureSpec{
		SpotToSpot: alpha, NodeRepair: alpha, Drift: alpha,
		Reserved: on, Static: on, Overlay: on, Buffers: on, Requests: on, Quotas: on, Commitments: on,
	}
}

// ofAWS are the gates of AWS_FEATURE_GATES.
func ofAWS() map[featuregate.Feature]featuregate.FeatureSpec {
	return map[featuregate.Feature]featuregate.FeatureSpec{Expressions: {PreRelease: featuregate.Alpha}}
}

// Gates are those of one option.
type Gates struct {
	known   featuregate.MutableVersionedFeatureGate
	unknown []string
}

// Core reads FEATURE_GATES. Spaces and empty parts do not matter, and the last of several
// switches counts. The error names the part that is wrong and the way out.
func Core(list string) (Gates, error) { return read(list, core(), ofAWS(), "AWS_FEATURE_GATES") }

// AWS reads AWS_FEATURE_GATES likewise.
func AWS(list string) (Gates, error) { return read(list, ofAWS(), core(), "FEATURE_GATES") }

func read(list string, specs, others map[featuregate.Feature]featuregate.FeatureSpec, option string) (Gates, error) {
	gate := featuregate.NewFeatureGate()
	if err := gate.Add(specs); err != nil {
		panic("gates: " + err.Error()) // they are written above
	}
	g := Gates{known: gate}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		_, known := specs[featuregate.Feature(name)]
		if !known {
			if _, err := strconv.ParseBool(strings.TrimSpace(value)); err != nil || name == "" {
				return Gates{}, unread(part)
			}
			g.unknown = append(g.unknown, unknownText(name, specs, others, option))
			continue
		}
		if err := gate.SetWithLogger(klog.Logger{}, part); err != nil {
			return Gates{}, unread(part)
		}
	}
	return g, nil
}

func unread(part string) error { return fmt.Errorf("has %q: want Name=true or Name=false", part) }

// unknownText reports a gate that is not known: the one probably meant, or the option that
// it is of.
func unknownText(name string, specs, others map[featuregate.Feature]featuregate.FeatureSpec, option string) string {
	if _, is := others[featuregate.Feature(name)]; is {
		return name + " is of " + option
	}
	var words []string
	for _, f := range slices.Sorted(maps.Keys(specs)) {
		words = append(words, string(f))
	}
	return name + " is not known" + nearest.DidYouMean(name, words)
}

// On reports whether a gate is on, by the list or by default.
func (g Gates) On(f featuregate.Feature) bool { return g.known.Enabled(f) }

// Said reports whether the list has a switch for a gate.
func (g Gates) Said(f featuregate.Feature) bool { return g.known.ExplicitlySet(f) }

// Unknown reports the switches that change nothing, in their order, a few words each.
func (g Gates) Unknown() []string { return g.unknown }
