package usage

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

func answer(body func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, body()) }
}

func theGroup() metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{
		GroupVersion: metrics.SchemeGroupVersion.String(), Version: metrics.SchemeGroupVersion.Version,
	}
	return metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"},
		Name:     metrics.GroupName,
		Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
	}
}

func group() any { return theGroup() }

func groups() any {
	return metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"},
		Groups:   []metav1.APIGroup{theGroup()},
	}
}

func resources() any {
	return metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: metrics.SchemeGroupVersion.String(),
		APIResources: []metav1.APIResource{
			{Name: "nodes", Kind: "NodeMetrics", Verbs: metav1.Verbs{"get", "list"}},
			{Name: "pods", Kind: "PodMetrics", Namespaced: true, Verbs: metav1.Verbs{"get", "list"}},
		},
	}
}
