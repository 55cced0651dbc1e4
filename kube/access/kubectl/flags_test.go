package kubectl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/daemok/daemok/kube/access/kubectl"
)

const contexts = `apiVersion: v1
kind: Config
current-context: green
clusters:
  - {name: green, cluster: {server: "https://green.test"}}
  - {name: blue, cluster: {server: "https://blue.test"}}
contexts:
  - {name: green, context: {cluster: green, user: me}}
  - {name: blue, context: {cluster: blue, user: me, namespace: shop}}
users:
  - {name: me, user: {}}
`

// What kubectl's flags say goes before the file of KUBECONFIG, and the file of a flag
// before both.
func TestFlagsOfKubectl(t *testing.T) {
	folder := t.TempDir()
	named := filepath.Join(folder, "named")
	for name, text := range map[string]string{"named": contexts, "other": strings.ReplaceAll(contexts, "green", "red")} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		variable string
		flags    []string
		wants    string // host, user and namespace
		wrong    string // words of the error; empty: none
	}{
		"none, as the variable says":       {named, nil, "https://green.test  default", ""},
		"a context":                        {named, []string{"--context", "blue"}, "https://blue.test  shop", ""},
		"a namespace":                      {named, []string{"--context", "blue", "-n", "other"}, "https://blue.test  other", ""},
		"a user":                           {named, []string{"--as", "somebody"}, "https://green.test somebody default", ""},
		"a file goes before the variable":  {filepath.Join(folder, "other"), []string{"--kubeconfig", named}, "https://green.test  default", ""},
		"a file, whatever the variable is": {filepath.Join(folder, "none"), []string{"--kubeconfig", named}, "https://green.test  default", ""},
		"a server":                         {named, []string{"--server", "https://red.test"}, "https://red.test  default", ""},
		"a context that is not there":      {named, []string{"--context", "red"}, "", `context "red" does not exist: there are blue, green`},
		"a context that is misspelt":       {named, []string{"--context", "bleu"}, "", `context "bleu" does not exist`},
		"a context by another letter":      {named, []string{"--context", "greem"}, "", `context "greem" does not exist: did you mean green?`},
		"a file that is not there":         {named, []string{"--kubeconfig", filepath.Join(folder, "none")}, "", "none: no such file"},
		"a variable without a file":        {filepath.Join(folder, "none"), nil, "", "KUBECONFIG names no file that can be read"},
		"a time that is none":              {named, []string{"--request-timeout", "soon"}, "", "Invalid timeout value"},
		"nothing anywhere":                 {"", nil, "", "no cluster is named: set KUBECONFIG"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tt.variable)
			t.Setenv("HOME", folder)
			flags, set := kubectl.NewFlags(), pflag.NewFlagSet("", pflag.ContinueOnError)
			flags.AddTo(set)
			if err := set.Parse(tt.flags); err != nil {
				t.Fatal(err)
			}
			config, err := flags.Config()
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("got %v, want words %q", err, tt.wrong)
				}
				if _, err := flags.Namespace(); strings.Contains(tt.wrong, "does not exist") && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
					t.Errorf("of the namespace it says %v, want words %q", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			namespace, err := flags.Namespace()
			if got := config.Host + " " + config.Impersonate.UserName + " " + namespace; got != tt.wants || err != nil {
				t.Errorf("got %q (%v), want %q", got, err, tt.wants)
			}
		})
	}
}
