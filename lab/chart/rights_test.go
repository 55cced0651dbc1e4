package chart

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/deploy"
)

// rights are the objects of package deploy, but for the account, as release name in namespace has them.
func rights(t *testing.T, name, namespace string, manifests ...[]byte) string {
	t.Helper()
	var out []string
	for _, manifest := range manifests {
		for document := range strings.SplitSeq(string(manifest), "\n---\n") {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
				t.Fatal(err)
			}
			if o.GetKind() == "ServiceAccount" || o.GroupVersionKind().Group != "rbac.authorization.k8s.io" {
				continue
			}
			text := mustYAML(t, o.Object)
			text = strings.NewReplacer("name: karpenter", "name: "+name, "name: daemok-shadow", "name: "+name).Replace(text)
			if !strings.HasSuffix(o.GetName(), "-dns") {
				text = strings.ReplaceAll(text, "namespace: kube-system", "namespace: "+namespace)
			} else if o.GetKind() == "RoleBinding" {
				before, subject, _ := strings.Cut(text, "subjects:")
				text = before + "subjects:" + strings.ReplaceAll(subject, "namespace: kube-system", "namespace: "+namespace)
			}
			out = append(out, text)
		}
	}
	return strings.Join(sorted(out), "---\n")
}

// rendered are those that the chart renders, without labels, and but for the role of users.
func rendered(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	var out []string
	for _, o := range objects {
		if o.GroupVersionKind().Group != "rbac.authorization.k8s.io" || strings.HasSuffix(o.GetName(), "-admin") {
			continue
		}
		o.SetLabels(nil)
		out = append(out, mustYAML(t, o.Object))
	}
	return strings.Join(sorted(out), "---\n")
}

func mustYAML(t *testing.T, o any) string {
	t.Helper()
	text, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimLeft(text, "\n"))
}

// The chart gives the controller the rights of package deploy, under its own names, and no others.
func TestTheRightsAreThoseOfDeploy(t *testing.T) {
	render := load(t, Daemok)
	surge := map[string]any{"surge": true}
	exposed := map[string]any{"web": map[string]any{"enabled": true, "exposed": true}}
	without := map[string]any{"rbac": map[string]any{"steering": false}}
	tests := map[string]struct {
		release, namespace, name string
		values                   map[string]any
		want                     [][]byte
	}{
		"as deployed by hand": {"karpenter", "kube-system", "karpenter", nil, [][]byte{deploy.RBAC, deploy.SteeringRBAC}},
		"with surges":         {"karpenter", "kube-system", "karpenter", map[string]any{"rbac": surge}, [][]byte{deploy.RBAC, deploy.SurgeRBAC, deploy.SteeringRBAC}},
		"with nominations":    {"karpenter", "kube-system", "karpenter", map[string]any{"settings": map[string]any{"clusterName": "c", "nominatePods": true}}, [][]byte{deploy.RBAC, deploy.NominateRBAC, deploy.SteeringRBAC}},
		"with pages for others": {"karpenter", "kube-system", "karpenter", exposed,
			[][]byte{deploy.RBAC, deploy.WebRBAC, deploy.UsageRBAC, deploy.SteeringRBAC}},
		"with pages": {"karpenter", "kube-system", "karpenter", map[string]any{"web": map[string]any{"enabled": true}},
			[][]byte{deploy.RBAC, deploy.UsageRBAC, deploy.SteeringRBAC}},
		"without steering":                {"karpenter", "kube-system", "karpenter", without, [][]byte{deploy.RBAC}},
		"in shadow mode":                  {"daemok", "nodes", "daemok", map[string]any{"shadow": map[string]any{"enabled": true}}, [][]byte{deploy.ShadowRBAC}},
		"another name, another namespace": {"daemok", "nodes", "daemok", map[string]any{"rbac": surge}, [][]byte{deploy.RBAC, deploy.SurgeRBAC, deploy.SteeringRBAC}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			values := map[string]any{"settings": map[string]any{"clusterName": "c"}}
			for k, v := range tt.values {
				values[k] = v
			}
			got, err := render(Options{Release: tt.release, Namespace: tt.namespace, Values: values})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := rendered(t, got.Objects), rights(t, tt.name, tt.namespace, tt.want...); got != want {
				t.Errorf("rights\n got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// The right to patch pods comes with the policy that limits it, or not at all unless it is asked for: clusters before 1.30 do
// not serve the policy.
func TestTheRightToPatchPodsIsLimited(t *testing.T) {
	render := load(t, Daemok)
	tests := map[string]struct{ kubernetes, values, want string }{
		"by default":             {"v1.30.0-eks-abcdef", "rbac: {}", "right policy"},
		"an old cluster":         {"v1.29.4-eks-abcdef", "rbac: {}", ""},
		"asked for":              {"v1.30.0-eks-abcdef", "rbac: {steering: true}", "right policy"},
		"an old one, asked for":  {"v1.29.4-eks-abcdef", "rbac: {steering: true}", "right"},
		"not wanted":             {"v1.30.0-eks-abcdef", "rbac: {steering: false}", ""},
		"an old one, not wanted": {"v1.29.4-eks-abcdef", "rbac: {steering: false}", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := render(Options{Release: "nodes", Namespace: "autoscaling", Kubernetes: tt.kubernetes, Values: valuesOf(t, tt.values+"\n"+least)})
			if err != nil {
				t.Fatal(err)
			}
			var has []string
			for _, o := range got.Objects {
				switch text := mustYAML(t, o.Object); {
				case o.GetKind() == "ClusterRole" && o.GetName() == "nodes-daemok-steering":
					has = append(has, "right")
				case o.GetKind() == "ValidatingAdmissionPolicy" && strings.Contains(text, `"system:serviceaccount:autoscaling:nodes-daemok"`),
					o.GetKind() == "ValidatingAdmissionPolicyBinding" && strings.Contains(text, "policyName: nodes-daemok-steering\n"):
					has = append(has, "policy")
				}
			}
			if list := strings.Join(slices.Compact(has), " "); list != tt.want {
				t.Errorf("the chart has %q, want %q", list, tt.want)
			}
		})
	}
}

// Rules that the user adds come after them.
func TestMoreRules(t *testing.T) {
	render := load(t, Daemok)
	got, err := render(Options{Release: "karpenter", Namespace: "kube-system", Values: valuesOf(t, `
settings: {clusterName: c}
rbac: {surge: true}
additionalClusterRoleRules: [{apiGroups: [example.com], resources: [widgets], verbs: [get]}]
`)})
	if err != nil {
		t.Fatal(err)
	}
	var with []string
	for _, o := range got.Objects {
		if strings.Contains(mustYAML(t, o.Object), "widgets") {
			with = append(with, o.GetKind()+" "+o.GetName())
		}
	}
	if strings.Join(with, ", ") != "ClusterRole karpenter" {
		t.Errorf("rules are added to %q, want ClusterRole karpenter alone", with)
	}
}

// The lease that the controller is configured with is the one that it may write.
func TestTheRightsFollowTheLease(t *testing.T) {
	render := load(t, Daemok)
	got, err := render(Options{Release: "karpenter", Namespace: "karpenter", Values: valuesOf(t, `
settings: {clusterName: c, leaderElectionName: another, leaderElectionNamespace: leases}
`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range got.Objects {
		if o.GetKind() != "Role" || o.GetName() != "karpenter-lease" {
			continue
		}
		if text := mustYAML(t, o.Object); o.GetNamespace() != "leases" || !strings.Contains(text, "- another\n") || strings.Contains(text, "karpenter-leader-election") {
			t.Errorf("a lease leases/another is asked for, and the role is\n%s", text)
		}
		return
	}
	t.Error("no role karpenter-lease")
}

// Who does not elect writes no lease.
func TestWithoutElectionThereIsNoRightToALease(t *testing.T) {
	render := load(t, Daemok)
	got, err := render(Options{Release: "karpenter", Namespace: "karpenter", Values: valuesOf(t, `
settings: {clusterName: c, disableLeaderElection: true}
replicas: 1
strategy: {type: Recreate}
`)})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got.Text, "leases") {
		t.Errorf("a right to leases:\n%s", got.Text)
	}
}
