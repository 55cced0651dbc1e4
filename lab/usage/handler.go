package usage

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

const root = "/apis/metrics.k8s.io/v1beta1"

// Source is where the handler finds what there is. What it returns is shared
// and not written.
type Source interface {
	Pods() []*corev1.Pod
	PodsOn(node string) []*corev1.Pod
}

// Handler returns an API of metrics.k8s.io/v1beta1 over pods and nodes, to be
// registered with the API server as an APIService.
func Handler(pods Source, nodes func() []*corev1.Node, now func() time.Time) http.Handler {
	a := api{pods: pods, nodes: nodes, now: now}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis", answer(groups))
	mux.HandleFunc("GET /apis/metrics.k8s.io", answer(group))
	mux.HandleFunc("GET "+root, answer(resources))
	mux.HandleFunc("GET "+root+"/nodes", a.listNodes)
	mux.HandleFunc("GET "+root+"/nodes/{name}", a.getNode)
	mux.HandleFunc("GET "+root+"/pods", a.listPods)
	mux.HandleFunc("GET "+root+"/namespaces/{namespace}/pods", a.listPods)
	mux.HandleFunc("GET "+root+"/namespaces/{namespace}/pods/{name}", a.getPod)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	return mux
}

type api struct {
	pods  Source
	nodes func() []*corev1.Node
	now   func() time.Time
}

func (a api) listPods(w http.ResponseWriter, r *http.Request) {
	selector, ok := selectorOf(w, r)
	if !ok {
		return
	}
	list := metrics.PodMetricsList{TypeMeta: kind("PodMetricsList"), Items: []metrics.PodMetrics{}}
	namespace := r.PathValue("namespace")
	for _, pod := range a.pods.Pods() {
		if namespace != "" && pod.Namespace != namespace || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if m, ok := ofPod(pod, a.now()); ok {
			list.Items = append(list.Items, m)
		}
	}
	slices.SortFunc(list.Items, func(x, y metrics.PodMetrics) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	write(w, http.StatusOK, list)
}

func (a api) getPod(w http.ResponseWriter, r *http.Request) {
	for _, pod := range a.pods.Pods() {
		if pod.Namespace != r.PathValue("namespace") || pod.Name != r.PathValue("name") {
			continue
		}
		if m, ok := ofPod(pod, a.now()); ok {
			m.TypeMeta = kind("PodMetrics")
			write(w, http.StatusOK, m)
			return
		}
	}
	notFound(w, r, "pods")
}

func (a api) listNodes(w http.ResponseWriter, r *http.Request) {
	selector, ok := selectorOf(w, r)
	if !ok {
		return
	}
	list := metrics.NodeMetricsList{TypeMeta: kind("NodeMetricsList"), Items: []metrics.NodeMetrics{}}
	for _, node := range a.nodes() {
		if !selector.Matches(labels.Set(node.Labels)) {
			continue
		}
		if m, ok := ofNode(node, a.pods.PodsOn(node.Name), a.now()); ok {
			list.Items = append(list.Items, m)
		}
	}
	slices.SortFunc(list.Items, func(x, y metrics.NodeMetrics) int { return cmp.Compare(x.Name, y.Name) })
	write(w, http.StatusOK, list)
}

func (a api) getNode(w http.ResponseWriter, r *http.Request) {
	for _, node := range a.nodes() {
		if node.Name != r.PathValue("name") {
			continue
		}
		if m, ok := ofNode(node, a.pods.PodsOn(node.Name), a.now()); ok {
			m.TypeMeta = kind("NodeMetrics")
			write(w, http.StatusOK, m)
			return
		}
	}
	notFound(w, r, "nodes")
}

// selectorOf reads the label selector of a request, or refuses the request.
func selectorOf(w http.ResponseWriter, r *http.Request) (labels.Selector, bool) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		write(w, http.StatusBadRequest, metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest, Message: err.Error(),
		})
		return nil, false
	}
	return selector, true
}

func kind(name string) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: name, APIVersion: metrics.SchemeGroupVersion.String()}
}

func notFound(w http.ResponseWriter, r *http.Request, what string) {
	resource := schema.GroupResource{Group: metrics.GroupName, Resource: what}
	write(w, http.StatusNotFound, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: resource.String() + " \"" + r.PathValue("name") + "\" not found",
		Details: &metav1.StatusDetails{Name: r.PathValue("name"), Group: resource.Group, Kind: what},
	})
}

func write(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client hung up: there is no one to report it to
}
