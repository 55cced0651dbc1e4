package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/deploy"
	"github.com/daemok/daemok/kube/api"
)

// forbidden is what a holder of the controller's token must not write: with it pods could be bound
// or created, and so the cluster be taken over.
var forbidden = []string{"*", "pods", "bindings", "pods/binding", "pods/status", "pods/exec", "pods/ephemeralcontainers", "deployments", "statefulsets",
	"replicasets", "daemonsets", "replicationcontrollers", "jobs", "cronjobs", "secrets", "serviceaccounts/token", "clusterroles", "clusterrolebindings", "roles", "rolebindings"}

// Beside these rights there is that to patch pods, which binds and creates none, with a policy that limits it.
func TestTheRightsOfSteeringAreToPatchPods(t *testing.T) {
	var role rbacv1.ClusterRole
	documents := strings.Split(string(deploy.SteeringRBAC), "\n---\n")
	if err := yaml.Unmarshal([]byte(documents[2]), &role); err != nil || !strings.Contains(documents[0], "\nkind: ValidatingAdmissionPolicy\n") {
		t.Fatalf("%v; want the policy first, then its binding and the role:\n%s", err, documents[0])
	}
	want := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"patch"}}}
	if !reflect.DeepEqual(role.Rules, want) {
		t.Errorf("the rules are %v, want %v", role.Rules, want)
	}
}

// Shadow mode reads, but for the one ConfigMap that keeps its history.
func TestTheRightsOfShadowModeAreToRead(t *testing.T) {
	for _, document := range strings.Split(string(deploy.ShadowRBAC), "\n---\n") {
		var role rbacv1.ClusterRole // a Role's rules read the same
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				history := role.Kind == "Role" && slices.Equal(rule.Resources, []string{"configmaps"}) && (verb == "create" || slices.Equal(rule.ResourceNames, []string{api.ConfigMapShadow}))
				if !slices.Contains([]string{"get", "list", "watch"}, verb) && !history || slices.Contains(rule.Resources, "secrets") {
					t.Errorf("%s %s may %s %v", role.Kind, role.Name, verb, rule.Resources)
				}
			}
		}
	}
}

// SC-14: a holder of these rights can evict pods, and bind or create none, nor change what
// workloads run.
func TestTheRightsDoNotAllowToRunPods(t *testing.T) {
	roles := 0
	for _, document := range strings.Split(string(deploy.RBAC)+"\n---\n"+string(deploy.SurgeRBAC), "\n---\n") {
		var role rbacv1.ClusterRole // a Role's rules read the same
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			roles++
			writes := slices.ContainsFunc(rule.Verbs, func(v string) bool { return slices.Contains([]string{"create", "patch", "update", "*"}, v) })
			for _, resource := range rule.Resources {
				if writes && slices.Contains(forbidden, resource) {
					t.Errorf("%s %s may %v %s", role.Kind, role.Name, rule.Verbs, resource)
				}
			}
		}
	}
	if roles == 0 {
		t.Error("no rule was read")
	}
}
