package access_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daemok/daemok/kube/access"
)

const file = `apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "https://127.0.0.1:6443"}}]
contexts: [{name: lab, context: {cluster: lab, user: me}}]
current-context: lab
users: [{name: me, user: {}}]
`

func TestConfig(t *testing.T) {
	folder := t.TempDir()
	good, empty, none := filepath.Join(folder, "good"), filepath.Join(folder, "empty"), filepath.Join(folder, "none")
	for name, text := range map[string]string{good: file, empty: ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		file, variable string
		wrong          string // words of the error; empty for none
	}{
		"the file of the variable":               {"", good, ""},
		"the file named":                         {good, none, ""},
		"one file of several":                    {"", none + string(filepath.ListSeparator) + good, ""},
		"a variable that names a file not there": {"", none, "KUBECONFIG names no file that can be read: open " + none},
		"a file not there":                       {none, good, none},
		"a file without a cluster":               {"", empty, "no cluster is named: set KUBECONFIG"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tt.variable)
			config, err := access.Config(tt.file)
			if tt.wrong == "" {
				if err != nil || config.Host != "https://127.0.0.1:6443" {
					t.Errorf("Config = %+v, %v; want the lab's", config, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.wrong) || strings.Contains(err.Error(), "KUBERNETES_MASTER") {
				t.Errorf("Config = %v; want it to say %q", err, tt.wrong)
			}
		})
	}
}
