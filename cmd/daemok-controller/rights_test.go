package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// SC-14: whoever has these rights can evict pods, and bind or create none.
func TestTheRightsDoNotAllowToBindPods(t *testing.T) {
	content, err := os.ReadFile("../../deploy/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	roles := 0
	for _, document := range strings.Split(string(content), "\n---\n") {
		var role rbacv1.ClusterRole // a Role's rules read the same
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			roles++
			writes := slices.ContainsFunc(rule.Verbs, func(v string) bool { return slices.Contains([]string{"create", "patch", "update", "*"}, v) })
			for _, resource := range rule.Resources {
				if writes && slices.Contains([]string{"pods", "bindings", "pods/binding", "pods/status", "*"}, resource) {
					t.Errorf("%s %s may %v %s", role.Kind, role.Name, rule.Verbs, resource)
				}
			}
		}
	}
	if roles == 0 {
		t.Error("no rule was read")
	}
}
