package main

import (
	"strings"
	"testing"
)

func TestOlderKubernetesIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ is, least, want string }{
		"any will do where nothing is said": {"1.20", "", ""},
		"newer than the least":              {"1.36", "1.26.0-0", ""},
		"the least itself":                  {"1.26", "v1.26.3", ""},
		"older":                             {"1.25", "1.26.0-0", "the API server is of Kubernetes 1.25, and KUBERNETES_MIN_VERSION asks for 1.26: update"},
		"by number, not by letter":          {"1.9", "1.26", "is of Kubernetes 1.9"},
		"a version that is none":            {"1.36", "new", `KUBERNETES_MIN_VERSION is "new": want a version such as 1.26.0`},
	} {
		t.Run(name, func(t *testing.T) {
			least, err := leastKubernetes(tt.least)
			if err == nil {
				err = newEnough(tt.is, least)
			}
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Kubernetes %s, least %q: %v; want %q", tt.is, tt.least, err, tt.want)
			}
		})
	}
}
