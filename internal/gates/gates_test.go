package gates_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/daemok/daemok/internal/gates"
)

func TestGates(t *testing.T) {
	tests := map[string]struct {
		list    string
		on      []featuregate.Feature // of all
		unknown []string
	}{
		"nothing":                              {"", []featuregate.Feature{gates.Reserved}, nil},
		"two switches":                         {"NodeRepair=true,ReservedCapacity=false", []featuregate.Feature{gates.NodeRepair}, nil},
		"spaces and an empty part":             {" NodeRepair = true ,, ", []featuregate.Feature{gates.NodeRepair, gates.Reserved}, nil},
		"the last of several counts":           {"Drift=true,Drift=false", []featuregate.Feature{gates.Reserved}, nil},
		"truth in other words":                 {"Drift=1,SpotToSpotConsolidation=T", []featuregate.Feature{gates.SpotToSpot, gates.Drift, gates.Reserved}, nil},
		"all of Karpenter's chart":             {"ReservedCapacity=true,SpotToSpotConsolidation=false,NodeRepair=false,NodeOverlay=false,StaticCapacity=false,CapacityBuffer=false", []featuregate.Feature{gates.Reserved}, nil},
		"one of another release":               {"Foo=false,NodeRepair=true", []featuregate.Feature{gates.NodeRepair, gates.Reserved}, []string{"Foo is not known"}},
		"one that is misspelt":                 {"NodeRepairs=true", []featuregate.Feature{gates.Reserved}, []string{"NodeRepairs is not known, did you mean NodeRepair?"}},
		"one of the other option":              {"NodeClassCEL=true", []featuregate.Feature{gates.Reserved}, []string{"NodeClassCEL is of AWS_FEATURE_GATES"}},
		"those of Kubernetes switch on nobody": {"AllAlpha=true,AllBeta=false", []featuregate.Feature{gates.Reserved}, []string{"AllAlpha is not known", "AllBeta is not known"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g, err := gates.Core(tt.list)
			if err != nil {
				t.Fatal(err)
			}
			var on []featuregate.Feature
			for _, f := range []featuregate.Feature{gates.SpotToSpot, gates.NodeRepair, gates.Drift, gates.Reserved} {
				if g.On(f) {
					on = append(on, f)
				}
			}
			if !slices.Equal(on, tt.on) || !slices.Equal(g.Unknown(), tt.unknown) {
				t.Errorf("of %q are on %q, and unknown %q; want %q and %q", tt.list, on, g.Unknown(), tt.on, tt.unknown)
			}
		})
	}
	for list, want := range map[string]string{
		"NodeRepair":       `has "NodeRepair": want Name=true or Name=false`,
		"NodeRepair=maybe": `has "NodeRepair=maybe": want Name=true or Name=false`,
		"Foo":              `has "Foo": want`,
		"Foo=maybe":        `has "Foo=maybe": want`,
		"=true":            `has "=true": want`,
	} {
		if _, err := gates.Core("Drift=true," + list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Core(%q) = %v; want %q", list, err, want)
		}
	}
}

// Features whose objects somebody has to apply are on by default.
func TestFeaturesOfObjectsAreOn(t *testing.T) {
	for list, on := range map[string]bool{"": true, "NodeOverlay=false,StaticCapacity=false,CapacityBuffer=false": false} {
		g, err := gates.Core(list)
		if err != nil || g.On(gates.Overlay) != on || g.On(gates.Static) != on || g.On(gates.Buffers) != on {
			t.Errorf("with %q the gates are %v and %v, %v; want %v", list, g.On(gates.Overlay), g.On(gates.Static), err, on)
		}
	}
}

// Whether a list says something of a gate is distinguished from what it is by default.
func TestAGateThatWasSaid(t *testing.T) {
	g, err := gates.Core("Drift=false")
	if err != nil || !g.Said(gates.Drift) || g.Said(gates.Reserved) {
		t.Errorf("%v: said are Drift %t, ReservedCapacity %t", err, g.Said(gates.Drift), g.Said(gates.Reserved))
	}
	a, err := gates.AWS("NodeClassCEL=true,Drift=true")
	if err != nil || !a.On(gates.Expressions) || !slices.Equal(a.Unknown(), []string{"Drift is of FEATURE_GATES"}) {
		t.Errorf("%v: NodeClassCEL is on %t, unknown are %q", err, a.On(gates.Expressions), a.Unknown())
	}
}

// Gates are read again whenever settings change: that leaves no series behind.
func TestGatesHaveNoMetrics(t *testing.T) {
	for range 2 {
		if _, err := gates.Core("NodeRepair=true"); err != nil {
			t.Fatal(err)
		}
	}
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "kubernetes_feature_enabled" {
			t.Errorf("there is a series of gates: %v", f)
		}
	}
}
