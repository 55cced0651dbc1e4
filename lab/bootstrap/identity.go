package bootstrap

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Identity is where package identity's webhook is served.
type Identity struct {
	Port     int    // on the loopback address, TLS
	CABundle []byte // authority of its certificate, PEM
}

// identityObject has the API server ask the webhook about new pods, under the name that EKS has for
// it. Pods of the service accounts named default are not asked about, so that thousands of them cost nothing.
func identityObject(i Identity) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
		"metadata": map[string]any{"name": "pod-identity-webhook"},
		"webhooks": []any{map[string]any{
			"name": "iam-for-pods.amazonaws.com", "sideEffects": "None", "admissionReviewVersions": []any{"v1"},
			"failurePolicy": "Ignore", "timeoutSeconds": int64(10),
			"clientConfig": map[string]any{
				"url":      fmt.Sprintf("https://localhost:%d/mutate", i.Port),
				"caBundle": base64.StdEncoding.EncodeToString(i.CABundle),
			},
			"rules": []any{map[string]any{
				"operations": []any{"CREATE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"pods"},
			}},
			"matchConditions": []any{map[string]any{
				"name": "own-account", "expression": "has(object.spec.serviceAccountName) && object.spec.serviceAccountName != 'default'",
			}},
		}},
	}}
}
