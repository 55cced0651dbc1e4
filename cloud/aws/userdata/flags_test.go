package userdata

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// A kubelet takes a flag before its configuration: a user's flag wins over settings that
// are written later.
func TestFlagsThatWinOverWhatIsWritten(t *testing.T) {
	const head = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config: {maxPods: 20}\n    flags:\n"
	taints := head + "    - --register-with-taints=net.example.org/agent-not-ready=true:NoExecute\n    - --node-labels=team=blue\n"
	tests := map[string]struct {
		family nodeclass.Family
		text   string
		want   []string // words; none: nothing is said
	}{
		"taints by a flag":           {nodeclass.AL2023, taints, []string{"kubelet flag --register-with-taints", "startupTaints"}},
		"in a MIME document":         {nodeclass.AL2023, mimeHead + taints + "\n--//--\n", []string{"kubelet flag --register-with-taints"}},
		"pods by a flag":             {nodeclass.AL2023, head + "    - --max-pods=20\n", []string{"--max-pods", "spec.kubelet.maxPods"}},
		"labels alone, which add up": {nodeclass.AL2023, head + "    - --node-labels=team=blue\n", nil},
		"a script":                   {nodeclass.AL2023, "#!/bin/bash\necho --max-pods=20\n", nil},
		"another family":             {nodeclass.AL2, taints, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Overrides(tt.family, tt.text)
			if (got == "") != (len(tt.want) == 0) || strings.Contains(got, "node-labels") {
				t.Errorf("Overrides = %q, want %q", got, tt.want)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("Overrides = %q; want it to say %q", got, want)
				}
			}
		})
	}
}
