package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// schedulerConfig is what is read of a scheduler's configuration: the whole
// file of kube-scheduler, or the arguments of its spreading plugin alone.
type schedulerConfig struct {
	PodTopologySpread spreadArgs `json:"podTopologySpread"`
	Profiles          []struct {
		SchedulerName string `json:"schedulerName"`
		PluginConfig  []struct {
			Name string     `json:"name"`
			Args spreadArgs `json:"args"`
		} `json:"pluginConfig"`
	} `json:"profiles"`
}

type spreadArgs struct {
	DefaultConstraints []corev1.TopologySpreadConstraint `json:"defaultConstraints"`
}

// DefaultSpreads reads the spreads of pods without any of their own from a
// scheduler's configuration, in YAML. The built-in defaults of kube-scheduler
// are none: they forbid nothing.
func DefaultSpreads(config string) ([]corev1.TopologySpreadConstraint, error) {
	var c schedulerConfig
	if err := yaml.Unmarshal([]byte(config), &c); err != nil {
		return nil, fmt.Errorf("read scheduler configuration: %w", err)
	}
	list := c.PodTopologySpread.DefaultConstraints
	for _, profile := range c.Profiles {
		if profile.SchedulerName != "" && profile.SchedulerName != corev1.DefaultSchedulerName {
			continue
		}
		for _, plugin := range profile.PluginConfig {
			if plugin.Name == "PodTopologySpread" {
				list = append(list, plugin.Args.DefaultConstraints...)
			}
		}
	}
	return list, checkDefaults(list)
}

// checkDefaults refuses what kube-scheduler would refuse to start with.
func checkDefaults(list []corev1.TopologySpreadConstraint) error {
	seen := sets.New[string]()
	for i, c := range list {
		where := fmt.Sprintf("defaultConstraints[%d]", i)
		switch {
		case c.TopologyKey == "":
			return fmt.Errorf("%s has no topologyKey", where)
		case c.MaxSkew <= 0:
			return fmt.Errorf("%s has maxSkew %d: want 1 or more", where, c.MaxSkew)
		case c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway:
			return fmt.Errorf("%s has whenUnsatisfiable %q: want DoNotSchedule or ScheduleAnyway", where, c.WhenUnsatisfiable)
		case c.LabelSelector != nil:
			return fmt.Errorf("%s has a labelSelector: leave it out, it follows from each pod's services and owner", where)
		case seen.Has(c.TopologyKey + "=" + string(c.WhenUnsatisfiable)):
			return fmt.Errorf("%s repeats %s for %s", where, c.WhenUnsatisfiable, c.TopologyKey)
		}
		seen.Insert(c.TopologyKey + "=" + string(c.WhenUnsatisfiable))
	}
	return nil
}

// SpreadsItself reports whether the rules hold a spread of the pod's own, so
// that defaults do not.
func (r *Rules) SpreadsItself() bool { return len(r.shape.Spread) > 0 }

// WithSpreads returns rules that also hold the given defaults, for a pod that its services and
// owner distinguish from others by selectors. A pod without such selectors is not spread.
func (r *Rules) WithSpreads(defaults []corev1.TopologySpreadConstraint, services []map[string]string, owner *metav1.LabelSelector) Rules {
	out := *r
	chosen := cluster.Selector{}
	for _, s := range services {
		for key, value := range s {
			chosen = also(chosen, key, constraint.Values(value))
		}
	}
	if owner != nil {
		if own, err := selector(owner); err == nil {
			chosen.Requirements = chosen.Requirements.AndAll(own.Requirements)
		}
	}
	if len(chosen.Requirements) == 0 {
		return out
	}
	out.shape.Spread = nil
	for i := range defaults {
		s, err := spread(&defaults[i], nil)
		if err != nil {
			continue // checked before
		}
		s.Selector = chosen
		out.shape.Spread = append(out.shape.Spread, s)
	}
	return out
}
