package mark_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
)

func TestRepair(t *testing.T) {
	const usual = "AcceleratedHardwareReady:False=10m0s ContainerRuntimeReady:False=30m0s KernelReady:False=30m0s NetworkingReady:False=30m0s Ready:False=30m0s Ready:Unknown=30m0s StorageReady:False=30m0s"
	tests := map[string]struct{ text, want, says string }{
		"SC-360 on is what is usual":       {"on", usual + " most=20%", ""},
		"off is nothing":                   {"off", "", ""},
		"a length for Ready is for both":   {"Ready=15m", strings.ReplaceAll(usual, "Ready:False=30m0s Ready:Unknown=30m0s", "Ready:False=15m0s Ready:Unknown=15m0s"), ""},
		"one status alone":                 {"Ready:Unknown=5m", strings.ReplaceAll(usual, "Ready:Unknown=30m0s", "Ready:Unknown=5m0s"), ""},
		"one status before both":           {"Ready:Unknown=5m, Ready=15m", strings.ReplaceAll(usual, "Ready:False=30m0s Ready:Unknown=30m0s", "Ready:False=15m0s Ready:Unknown=5m0s"), ""},
		"Never takes a rule away":          {"AcceleratedHardwareReady=Never", strings.TrimPrefix(usual, "AcceleratedHardwareReady:False=10m0s "), ""},
		"a condition where True is bad":    {"on,KernelDeadlock:True=10m", strings.Replace(usual, "KernelReady", "KernelDeadlock:True=10m0s KernelReady", 1), ""},
		"nodes that never start, and many": {"Initialized=20m, most=3", strings.Replace(usual, "KernelReady", "Initialized:False=20m0s KernelReady", 1) + " most=3", ""},
		"nothing":                          {" ", "", `metadata.annotations[daemok.sh/repair]: it is empty: want "on", "off", or words such as`},
		"off beside others":                {"off, Ready=5m", "", `"off" means nothing: want "on" or "off" alone`},
		"no length":                        {"Ready=soon", "", "Ready=soon: want a length of time of at least 1m0s, such as 30m, or Never"},
		"too short a length":               {"Ready=30s", "", "at least 1m0s"},
		"no condition":                     {"=5m", "", `"=5m" means nothing`},
		"an odd condition":                 {"a/b/c=5m", "", `"a/b/c" is no name of a condition`},
		"no status":                        {"Ready:Bad=5m", "", `"Bad" is no status: want True, False or Unknown`},
		"a status of Initialized":          {"Initialized:Unknown=5m", "", "want Initialized=5m"},
		"twice":                            {"Ready=5m,Ready=6m", "", "Ready is there twice"},
		"too few":                          {"most=0", "", `most=0: want a number of nodes, at least 1, or a share of them, 1% to 100%; "off" alone repairs none`},
		"more than all":                    {"most=101%", "", "1% to 100%"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := mark.Repair(map[string]string{api.AnnotationRepair: tt.text}, cluster.Repair{Most: 7})
			if !speaks(err, tt.says) || tt.says == "" && !strings.HasPrefix(words(got), tt.want) {
				t.Errorf("Repair(%q) = %s, %v; want %s, error with %q", tt.text, words(got), err, tt.want, tt.says)
			}
		})
	}
	if got, err := mark.Repair(nil, mark.UsualRepair()); err != nil || !reflect.DeepEqual(got, mark.UsualRepair()) {
		t.Errorf("where nothing is said: %s, %v", words(got), err)
	}
}

// words prints rules as the annotation would.
func words(r cluster.Repair) string {
	var out []string
	for _, x := range r.Rules {
		out = append(out, fmt.Sprintf("%s:%s=%s", x.Condition, x.Status, x.After))
	}
	if percent := map[bool]string{true: "%"}[r.Percent]; r.Most > 0 {
		out = append(out, fmt.Sprintf("most=%d%s", r.Most, percent))
	}
	return strings.Join(out, " ")
}
