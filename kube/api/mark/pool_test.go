package mark_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
)

func TestInstanceCost(t *testing.T) {
	tests := map[string]struct {
		annotations map[string]string
		want        quantity.MicroUSDPerHour
		says        string // of the error; empty for none
	}{
		"is the general one where the pool does not say": {nil, 7, ""},
		"is what the pool says":                          {map[string]string{api.AnnotationInstanceCost: "0.0125"}, 12500, ""},
		"may be nothing":                                 {map[string]string{api.AnnotationInstanceCost: "0"}, 0, ""},
		"is not less than nothing":                       {map[string]string{api.AnnotationInstanceCost: "-1"}, 0, `"-1" is no cost`},
		"is a number":                                    {map[string]string{api.AnnotationInstanceCost: "$1"}, 0, "metadata.annotations[daemok.sh/machine-cost]"},
		"is not left empty":                              {map[string]string{api.AnnotationInstanceCost: ""}, 0, "want US dollars an hour"},
		"is by the hour":                                 {map[string]string{api.AnnotationInstanceCost: "1e9"}, 0, "want US dollars an hour"},
		"is no infinity":                                 {map[string]string{api.AnnotationInstanceCost: "NaN"}, 0, "want US dollars an hour"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := mark.InstanceCost(tt.annotations, 7)
			if got != tt.want || !speaks(err, tt.says) {
				t.Errorf("MachineCost(%v) = %v, %v; want %v, error with %q", tt.annotations, got, err, tt.want, tt.says)
			}
		})
	}
}

func TestFloor(t *testing.T) {
	tests := map[string]struct {
		cpu, memory string
		want        string
		says        string
	}{
		"is none where nothing is said":     {"", "", "", ""},
		"has cores":                         {"4", "", "karpenter.k8s.aws/instance-cpu gte 4", ""},
		"has memory in the label's unit":    {"", "16Gi", "karpenter.k8s.aws/instance-memory gte 16384", ""},
		"may have both":                     {"2", "8Gi", "karpenter.k8s.aws/instance-cpu gte 2; karpenter.k8s.aws/instance-memory gte 8192", ""},
		"rounds up to whole cores":          {"1500m", "", "karpenter.k8s.aws/instance-cpu gte 2", ""},
		"is no word":                        {"large", "", "", `metadata.annotations[daemok.sh/min-machine-cpu]: "large" is no size: want cores`},
		"is not nothing":                    {"0", "", "", `"0" is no size`},
		"may be a fraction of a unit":       {"", "1.5Gi", "karpenter.k8s.aws/instance-memory gte 1536", ""},
		"has a unit":                        {"", "16", "", `metadata.annotations[daemok.sh/min-machine-memory]: "16" is no size: want an amount of memory as AWS lists the type, such as "16Gi"`},
		"is less than can be counted":       {"", "9e18Gi", "", `"9e18Gi" is no size`},
		"is an amount of memory, not words": {"", "16 gigs", "", `metadata.annotations[daemok.sh/min-machine-memory]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{}
			if tt.cpu != "" {
				annotations[api.AnnotationMinCPU] = tt.cpu
			}
			if tt.memory != "" {
				annotations[api.AnnotationMinMemory] = tt.memory
			}
			floor, err := mark.Floor(annotations, cluster.Room{})
			var words []string
			for _, r := range floor.Size {
				words = append(words, r.Key+" "+r.Set.String())
			}
			if got := strings.Join(words, "; "); got != tt.want || !speaks(err, tt.says) {
				t.Errorf("Floor(%v) = %q, %v; want %q, error with %q", annotations, got, err, tt.want, tt.says)
			}
		})
	}
}

func TestDeleteFirst(t *testing.T) {
	for text, says := range map[string]string{
		api.DeleteFirst: "", "delete": `metadata.annotations[daemok.sh/drift-at-limit]: "delete" means nothing: want "delete-first"`,
	} {
		first, err := mark.DeleteFirst(map[string]string{api.AnnotationDriftAtLimit: text})
		if first != (says == "") || !speaks(err, says) {
			t.Errorf("DeleteFirst(%q) = %v, %v; want error with %q", text, first, err, says)
		}
	}
	if first, err := mark.DeleteFirst(nil); first || err != nil {
		t.Errorf("where nothing is said: %v, %v", first, err)
	}
}

func TestDeleteFast(t *testing.T) {
	for text, says := range map[string]string{
		api.DeleteFast: "", "true": `metadata.annotations[daemok.sh/delete]: "true" means nothing: want "fast"`,
	} {
		fast, err := mark.DeleteFast(map[string]string{api.AnnotationDelete: text})
		if fast != (says == "") || !speaks(err, says) {
			t.Errorf("DeleteFast(%q) = %v, %v; want error with %q", text, fast, err, says)
		}
	}
	if fast, err := mark.DeleteFast(nil); fast || err != nil {
		t.Errorf("where nothing is said: %v, %v", fast, err)
	}
}

func TestRebalance(t *testing.T) {
	for text, says := range map[string]string{
		api.RebalanceIgnore: "", api.RebalanceCordon: "", api.RebalanceReplace: "",
		"drain": `metadata.annotations[daemok.sh/rebalance]: "drain" means nothing: want "ignore", "cordon" or "replace"`,
	} {
		want := text
		if says != "" {
			want = api.RebalanceIgnore
		}
		if got, err := mark.Rebalance(map[string]string{api.AnnotationRebalance: text}); got != want || !speaks(err, says) {
			t.Errorf("Rebalance(%q) = %q, %v; want %q, error with %q", text, got, err, want, says)
		}
	}
	if got, err := mark.Rebalance(nil); got != api.RebalanceIgnore || err != nil {
		t.Errorf("where nothing is said: %q, %v", got, err)
	}
}

func speaks(err error, says string) bool {
	if err == nil || says == "" {
		return err == nil && says == ""
	}
	var at *mark.Error
	return errors.As(err, &at) && strings.Contains(err.Error(), says)
}

func TestRoomForPods(t *testing.T) {
	usual := cluster.Room{Memory: quantity.GiB, System: 25}
	tests := map[string]struct {
		annotations map[string]string
		want        cluster.Room
		says        string
	}{
		"is as usual where nothing is said": {nil, usual, ""},
		"has memory of its own":             {map[string]string{api.AnnotationMinPodMemory: "512Mi"}, cluster.Room{Memory: 512 * quantity.MiB, System: 25}, ""},
		"has a share of its own":            {map[string]string{api.AnnotationMaxSystemMemory: "40%"}, cluster.Room{Memory: quantity.GiB, System: 40}, ""},
		"may be none":                       {map[string]string{api.AnnotationMinPodMemory: "0", api.AnnotationMaxSystemMemory: "100%"}, cluster.Room{System: 100}, ""},
		"is no word":                        {map[string]string{api.AnnotationMinPodMemory: "much"}, cluster.Room{}, `metadata.annotations[daemok.sh/min-pod-memory]: "much" is no memory for pods: want an amount, such as "1Gi"`},
		"has a unit":                        {map[string]string{api.AnnotationMinPodMemory: "2"}, cluster.Room{}, `"2" is no memory for pods`},
		"is per cent":                       {map[string]string{api.AnnotationMaxSystemMemory: "0.25"}, cluster.Room{}, `metadata.annotations[daemok.sh/max-system-memory]: "0.25" is no share of memory: want 1% to 100%`},
		"leaves something to the system":    {map[string]string{api.AnnotationMaxSystemMemory: "0%"}, cluster.Room{}, `"0%" is no share of memory`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			floor, err := mark.Floor(tt.annotations, usual)
			if floor.Room != tt.want || !speaks(err, tt.says) {
				t.Errorf("Floor(%v) keeps %v, %v; want %v, error with %q", tt.annotations, floor.Room, err, tt.want, tt.says)
			}
		})
	}
}
