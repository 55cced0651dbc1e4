package chart

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	admissionvalidation "k8s.io/kubernetes/pkg/apis/admissionregistration/validation"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/kubernetes/pkg/apis/rbac"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	rbacvalidation "k8s.io/kubernetes/pkg/apis/rbac/validation"
)

// refused is what the API server has against an object: fields that its Kind does not have, and values
// that it does not take. Kinds that are not Kubernetes' own are only to have a name.
func refused(t *testing.T, o *unstructured.Unstructured) []error {
	t.Helper()
	text, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if !legacyscheme.Scheme.Recognizes(o.GroupVersionKind()) {
		if o.GetName() == "" {
			return []error{fmt.Errorf("an object without a name: %s", text)}
		}
		return nil
	}
	object, err := runtime.Decode(serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder(), text)
	if err != nil {
		return []error{err}
	}
	var out []error
	for _, e := range validated(t, object) {
		out = append(out, e)
	}
	return out
}

func validated(t *testing.T, object runtime.Object) field.ErrorList {
	t.Helper()
	switch o := object.(type) {
	case *apps.Deployment:
		return appsvalidation.ValidateDeployment(o, corevalidation.PodValidationOptions{})
	case *core.Service:
		return corevalidation.ValidateServiceCreate(o)
	case *core.ServiceAccount:
		return corevalidation.ValidateServiceAccount(o)
	case *core.ConfigMap:
		return corevalidation.ValidateConfigMap(o)
	case *policy.PodDisruptionBudget:
		return policyvalidation.ValidatePodDisruptionBudget(o, policyvalidation.PodDisruptionBudgetValidationOptions{})
	case *networking.NetworkPolicy:
		return networkingvalidation.ValidateNetworkPolicy(o, networkingvalidation.NetworkPolicyValidationOptions{})
	case *admissionregistration.ValidatingAdmissionPolicy:
		return admissionvalidation.ValidateValidatingAdmissionPolicy(o)
	case *admissionregistration.ValidatingAdmissionPolicyBinding:
		return admissionvalidation.ValidateValidatingAdmissionPolicyBinding(o)
	case *rbac.ClusterRole:
		return rbacvalidation.ValidateClusterRole(o, rbacvalidation.ClusterRoleValidationOptions{})
	case *rbac.ClusterRoleBinding:
		return rbacvalidation.ValidateClusterRoleBinding(o)
	case *rbac.Role:
		return rbacvalidation.ValidateRole(o)
	case *rbac.RoleBinding:
		return rbacvalidation.ValidateRoleBinding(o)
	}
	t.Errorf("no validation is known of %T", object)
	return nil
}
