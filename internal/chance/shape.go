package chance

import (
	"fmt"
	"math/rand/v2"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

func shape(r *rand.Rand, z size) *cluster.Shape {
	s := &cluster.Shape{Namespace: "d", Priority: int32(r.IntN(2) * 100), Requests: quantity.Resources{
		CPU: quantity.MilliCPU(50 * r.IntN(z.milliCPU/50)), Memory: quantity.Bytes(r.IntN(z.memory)) * quantity.MiB, Pods: 1}}
	if r.IntN(3) == 0 {
		s.Tolerations = []constraint.Toleration{{Key: "dedicated", Exists: true}}
	}
	for range r.IntN(3) {
		s.NodeTerms = append(s.NodeTerms, term(r))
	}
	s.Labels = constraint.NewLabels(map[string]string{"app": fmt.Sprint(r.IntN(4))})
	lookAtOthers(r, s, z.rare)
	useHosts(r, s, z.rare)
	return s
}

func term(r *rand.Rand) constraint.Requirements {
	var out constraint.Requirements
	if r.IntN(2) == 0 {
		out = out.And(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values(zones[r.IntN(3)], zones[r.IntN(3)])})
	}
	if r.IntN(3) == 0 {
		out = out.And(constraint.Requirement{Key: cluster.LabelArch, Set: constraint.Values("arm64")})
	}
	if r.IntN(4) == 0 {
		not, _ := constraint.NewSet(constraint.NotIn, fmt.Sprint(r.IntN(3)))
		out = out.And(constraint.Requirement{Key: "team", Set: not})
	}
	return out
}

// lookAtOthers gives some shapes rules about other pods, and preferences.
func lookAtOthers(r *rand.Rand, s *cluster.Shape, rare bool) {
	choosing := func() cluster.Selector {
		return cluster.Selector{Requirements: constraint.NewRequirements(constraint.Requirement{Key: "app", Set: constraint.Values(fmt.Sprint(r.IntN(4)))})}
	}
	key := func() string {
		return []string{cluster.LabelZone, cluster.LabelHostname, cluster.LabelCapacityType}[r.IntN(3)]
	}
	if r.IntN(4) == 0 {
		spread := cluster.Spread{Key: key(), MaxSkew: 1 + r.Int32N(3), Selector: choosing(), Soft: r.IntN(3) == 0}
		if rare {
			spread.MinDomains = r.Int32N(3)
		}
		s.Spread = append(s.Spread, spread)
	}
	if r.IntN(4) == 0 {
		s.Neighbours = append(s.Neighbours, cluster.Neighbours{Apart: r.IntN(2) == 0, Key: key(), Selector: choosing(), Namespaces: []string{"d"}, Weight: 50 * r.Int32N(2)})
	}
	if r.IntN(6) == 0 {
		s.Preferences = []cluster.Preference{{Weight: 10, Term: constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values("b")})}}
	}
}

// useHosts gives some shapes ports, volumes or devices.
func useHosts(r *rand.Rand, s *cluster.Shape, rare bool) {
	if r.IntN(8) == 0 {
		s.Ports = []cluster.Port{{Protocol: "TCP", Number: 8000 + r.Int32N(2)}}
	}
	if r.IntN(10) == 0 {
		s.Volumes = []cluster.Volume{{Driver: "disk"}}
		s.VolumeTerms = []constraint.Requirements{constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values("a", "c")})}
	} else if rare && r.IntN(12) == 0 {
		s.Volumes = []cluster.Volume{{Driver: "disk", Claim: fmt.Sprintf("d/shared%d", r.IntN(2)), Exclusive: r.IntN(3) == 0}}
	}
	if rare && r.IntN(20) == 0 {
		s.Requests = s.Requests.With("example.com/gpu", 1)
	}
}
