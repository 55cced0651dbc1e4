package userdata

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Two renderings that differ in one setting differ in one section, which is called by its path; a user's own script is
// one section of its own.
func TestSettingsOfUserDataAreComparedByTheirNames(t *testing.T) {
	tests := map[string]struct {
		family nodeclass.Family
		change func(*Input)
		want   string // names of the sections that differ
	}{
		"AL2023, more pods":                {nodeclass.AL2023, func(in *Input) { in.MaxPods = 20 }, "NodeConfig 2 spec.kubelet.config.maxPods"},
		"AL2023, another taint":            {nodeclass.AL2023, func(in *Input) { in.Taints = []Taint{{Key: "a", Effect: "NoExecute"}} }, "NodeConfig 2 spec.kubelet.config.registerWithTaints[a].effect"},
		"AL2023, local disks":              {nodeclass.AL2023, func(in *Input) { in.RAID0 = true }, "NodeConfig 2 spec.instance.localStorage.strategy"},
		"AL2023, the user's own script":    {nodeclass.AL2023, func(in *Input) { in.User = "#!/bin/bash\nfalse\n" }, "script 1"},
		"Bottlerocket, more pods":          {nodeclass.Bottlerocket, func(in *Input) { in.MaxPods = 20 }, "settings.kubernetes.max-pods"},
		"Bottlerocket, another label":      {nodeclass.Bottlerocket, func(in *Input) { in.Labels = map[string]string{"a.b/c": "d"} }, "settings.kubernetes.node-labels.a.b/c"},
		"AL2, more pods":                   {nodeclass.AL2, func(in *Input) { in.MaxPods = 20 }, "script 2"},
		"Windows, more pods":               {nodeclass.Windows2022, func(in *Input) { in.MaxPods = 20 }, "text"},
		"Custom, what the user has chosen": {nodeclass.Custom, func(in *Input) { in.User = "other" }, "text"},
		"nothing":                          {nodeclass.AL2023, func(*Input) {}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sections := func(change func(*Input)) map[string]string {
				in := Input{Family: tt.family, MaxPods: 10, Taints: []Taint{{Key: "a", Effect: "NoSchedule"}}, User: "#!/bin/bash\ntrue\n",
					Cluster: Cluster{Name: "c", Endpoint: "https://c", CA: "Q0E=", CIDR: "10.0.0.0/16"}}
				if tt.family == nodeclass.Bottlerocket {
					in.User = ""
				}
				change(&in)
				text, err := Render(in)
				if err != nil {
					t.Fatal(err)
				}
				return Sections(tt.family, text)
			}
			before, after := sections(func(*Input) {}), sections(tt.change)
			if got := strings.Join(differing(before, after), " "); got != tt.want {
				t.Errorf("these differ: %q, want %q; all are %v", got, tt.want, slices.Sorted(maps.Keys(after)))
			}
		})
	}
}

func differing(a, b map[string]string) (names []string) {
	for _, of := range []map[string]string{a, b} {
		for name := range of {
			if a[name] != b[name] && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// What is no document at all is one text, and nothing is lost.
func TestUserDataThatCannotBeReadIsOneText(t *testing.T) {
	for _, family := range []nodeclass.Family{nodeclass.AL2023, nodeclass.Bottlerocket} {
		const text = "[[[ = no TOML and no MIME"
		if got := Sections(family, text); len(got) != 1 || got["text"] != text {
			t.Errorf("%s: %s", family, fmt.Sprint(got))
		}
	}
}
