package podspec

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const zonal = `
podTopologySpread:
  defaultConstraints:
    - {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, minDomains: 3}
    - {topologyKey: kubernetes.io/hostname, maxSkew: 2, whenUnsatisfiable: ScheduleAnyway}
`

func TestDefaultSpreadsAreRead(t *testing.T) {
	tests := map[string]struct {
		config string
		keys   string
		err    string
	}{
		"nothing":                     {"", "", ""},
		"SC-155 zone and host":        {zonal, "topology.kubernetes.io/zone kubernetes.io/hostname", ""},
		"the scheduler's own file":    {"kind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: other\n  pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}}]\n- schedulerName: default-scheduler\n  pluginConfig: [{name: NodeAffinity, args: {}}, {name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}}]", "zone", ""},
		"SC-405 what is no YAML":      {"podTopologySpread: [", "", "read scheduler configuration"},
		"SC-405 no key":               {"podTopologySpread: {defaultConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}", "", "no topologyKey"},
		"SC-405 no skew":              {"podTopologySpread: {defaultConstraints: [{topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}", "", "maxSkew 0"},
		"SC-405 another word":         {"podTopologySpread: {defaultConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: Perhaps}]}", "", "want DoNotSchedule or ScheduleAnyway"},
		"SC-405 a selector":           {"podTopologySpread: {defaultConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}", "", "leave it out"},
		"SC-405 the same thing twice": {"podTopologySpread: {defaultConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}, {topologyKey: a, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]}", "", "repeats DoNotSchedule for a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := DefaultSpreads(tt.config)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error = %v, want %q", err, tt.err)
			}
			var keys []string
			for _, c := range list {
				keys = append(keys, c.TopologyKey)
			}
			if got := strings.Join(keys, " "); tt.err == "" && got != tt.keys {
				t.Errorf("keys = %q, want %q", got, tt.keys)
			}
		})
	}
}

func TestDefaultSpreadsCountWhomServicesAndOwnerChoose(t *testing.T) {
	defaults := must(DefaultSpreads(zonal))
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"hash": "1"}}
	tests := map[string]struct {
		services []map[string]string
		owner    *metav1.LabelSelector
		want     string
	}{
		"SC-156 neither: not spread":       {nil, nil, ""},
		"SC-156 an empty service is none":  {[]map[string]string{{}}, nil, ""},
		"SC-156 a service":                 {[]map[string]string{{"app": "web"}}, nil, "app in web"},
		"SC-156 services are merged":       {[]map[string]string{{"app": "web"}, {"tier": "front"}}, nil, "app in web; tier in front"},
		"SC-156 an owner":                  {nil, own, "hash in 1"},
		"SC-156 services and owner":        {[]map[string]string{{"app": "web"}}, own, "app in web; hash in 1"},
		"SC-156 an owner that chooses all": {nil, &metav1.LabelSelector{}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rules := RulesOf(&corev1.Pod{})
			spread := rules.WithSpreads(defaults, tt.services, tt.owner)
			got := shapeOf(spread).Spread
			if tt.want == "" {
				if len(got) != 0 {
					t.Errorf("Spread = %+v, want none", got)
				}
				return
			}
			want := fmt.Sprintf("[{Key:topology.kubernetes.io/zone Selector:{Requirements:%s Nothing:false} MaxSkew:1 MinDomains:3 Soft:false IgnoreNodeTerms:false HonourTaints:false Among:[]}"+
				" {Key:kubernetes.io/hostname Selector:{Requirements:%s Nothing:false} MaxSkew:2 MinDomains:0 Soft:true IgnoreNodeTerms:false HonourTaints:false Among:[]}]", tt.want, tt.want)
			if text := fmt.Sprintf("%+v", got); text != want {
				t.Errorf("SC-155: Spread = %s\nwant %s", text, want)
			}
			if rules.SpreadsItself() {
				t.Error("the rules without defaults were changed")
			}
		})
	}
}
