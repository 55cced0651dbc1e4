package bootstrap

import (
	"encoding/base64"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// MetricsHost is the name under which the API server asks for metrics.
const MetricsHost = "metrics-server.kube-system.svc"

const metricsAPI = "v1beta1.metrics.k8s.io"

// metricsObjects lead requests for metrics.k8s.io to a port of this machine.
// The API server asks services alone, and a service may not have a loopback
// address; but it may be another name for localhost.
func metricsObjects(m Metrics) []*unstructured.Unstructured {
	service := map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": "metrics-server", "namespace": "kube-system"},
		"spec": map[string]any{
			"type": "ExternalName", "externalName": "localhost",
			"ports": []any{map[string]any{"name": "https", "port": int64(m.Port), "protocol": "TCP"}},
		},
	}
	api := map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": metricsAPI},
		"spec": map[string]any{
			"group": "metrics.k8s.io", "version": "v1beta1",
			"groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"caBundle": base64.StdEncoding.EncodeToString(m.CABundle),
			"service": map[string]any{
				"name": "metrics-server", "namespace": "kube-system", "port": int64(m.Port),
			},
		},
	}
	return []*unstructured.Unstructured{{Object: service}, {Object: api}}
}
