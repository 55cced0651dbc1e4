package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fieldsof "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Resource is a kind as it is served over HTTP.
type Resource struct {
	Kind       schema.GroupVersionKind
	Namespaced bool
}

// Resources are those of the kinds of objects.
func (s *Server) Resources(namespaced bool, kinds ...client.Object) (out []Resource) {
	for _, o := range kinds {
		if kind, err := s.kindOf(o); err == nil {
			out = append(out, Resource{kind, namespaced})
		}
	}
	return out
}

// Handler serves the resources as an API server of that minor version of Kubernetes 1
// does: discovery, lists with pages, watches with initial events, metadata alone, writes, merge patches,
// evictions, in JSON and in protobuf. It authenticates no caller. A watch that begins at a
// version before the last change of its kind answers 410, and its client lists again.
func (s *Server) Handler(minor string, resources ...Resource) http.Handler {
	h := &served{server: s, through: s.Connect(nil), codecs: newCodecs(s.scheme), resources: map[schema.GroupVersionResource]Resource{}}
	for _, r := range resources {
		plural, _ := meta(r.Kind)
		h.resources[plural] = r
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, version.Info{Major: "1", Minor: minor, GitVersion: "v1." + minor + ".0"})
	})
	mux.HandleFunc("GET /api", h.coreVersions)
	mux.HandleFunc("GET /apis", h.groups)
	mux.HandleFunc("/api/", h.serve)
	mux.HandleFunc("/apis/", h.serve)
	return mux
}

type served struct {
	server    *Server
	through   *Connection
	codecs    codecs
	resources map[schema.GroupVersionResource]Resource
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_ = json.NewEncoder(w).Encode(v) // the caller has gone otherwise
}

func (h *served) coreVersions(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions", APIVersion: "v1"}, Versions: []string{"v1"}})
}

func (h *served) groups(w http.ResponseWriter, _ *http.Request) {
	versions := map[string][]metav1.GroupVersionForDiscovery{}
	for of := range h.resources {
		v := metav1.GroupVersionForDiscovery{GroupVersion: of.GroupVersion().String(), Version: of.Version}
		if of.Group != "" && !slices.Contains(versions[of.Group], v) {
			versions[of.Group] = append(versions[of.Group], v)
		}
	}
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for group, of := range versions {
		list.Groups = append(list.Groups, metav1.APIGroup{Name: group, Versions: of, PreferredVersion: of[0]})
	}
	slices.SortFunc(list.Groups, func(a, b metav1.APIGroup) int { return strings.Compare(a.Name, b.Name) })
	writeJSON(w, list)
}

func (h *served) discover(w http.ResponseWriter, of schema.GroupVersion) {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: of.String()}
	for plural, r := range h.resources {
		if plural.GroupVersion() == of {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: plural.Resource, Namespaced: r.Namespaced, Kind: r.Kind.Kind,
				Verbs: metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"}})
		}
	}
	slices.SortFunc(list.APIResources, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
	if len(list.APIResources) == 0 {
		http.NotFound(w, nil)
		return
	}
	writeJSON(w, list)
}

// asked is what a path and its query name.
type asked struct {
	*http.Request
	kind         schema.GroupVersionKind
	key          types.NamespacedName
	sub          string
	labels       labels.Selector
	fields       fieldsof.Selector
	answer       answering
	atVersion    string
	metadataOnly bool
}

// split reads /api/v1/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE, and the same of groups.
func split(path string) (of schema.GroupVersion, namespace string, rest []string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 1:
		of.Version, rest = parts[1], parts[2:]
	case len(parts) > 2:
		of.Group, of.Version, rest = parts[1], parts[2], parts[3:]
	}
	if len(rest) > 2 && rest[0] == "namespaces" {
		namespace, rest = rest[1], rest[2:]
	}
	return of, namespace, rest
}

func (h *served) serve(w http.ResponseWriter, r *http.Request) {
	of, namespace, rest := split(r.URL.Path)
	if len(rest) == 0 {
		h.discover(w, of)
		return
	}
	resource, known := h.resources[of.WithResource(rest[0])]
	if !known {
		http.NotFound(w, r)
		return
	}
	a := &asked{Request: r, kind: resource.Kind, key: types.NamespacedName{Namespace: namespace}, atVersion: r.URL.Query().Get("resourceVersion")}
	if len(rest) > 1 {
		a.key.Name = rest[1]
	}
	if len(rest) > 2 {
		a.sub = rest[2]
	}
	if err := h.do(w, a); err != nil {
		h.refuse(w, a, err)
	}
}

func (h *served) do(w http.ResponseWriter, a *asked) (err error) {
	query := a.URL.Query()
	if a.labels, err = labels.Parse(query.Get("labelSelector")); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if a.fields, err = fieldsof.ParseSelector(query.Get("fieldSelector")); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if a.answer, a.metadataOnly, err = h.codecs.negotiate(a.Header.Get("Accept")); err != nil {
		return err
	}
	switch {
	case a.Method == http.MethodGet && query.Get("watch") != "":
		return h.watch(w, a)
	case a.Method == http.MethodGet && a.key.Name == "":
		return h.list(w, a)
	}
	o, err := h.server.scheme.New(a.kind)
	if err != nil {
		return err
	}
	object := o.(client.Object)
	object.SetNamespace(a.key.Namespace)
	object.SetName(a.key.Name)
	code := http.StatusOK
	switch a.Method {
	case http.MethodGet:
		err = h.through.Get(a.Context(), a.key, object)
	case http.MethodPost:
		object, err = h.create(a, object)
		code = http.StatusCreated
	case http.MethodPut:
		object, err = h.update(a)
	case http.MethodPatch:
		err = h.patch(a, object)
	case http.MethodDelete:
		return h.delete(w, a, object)
	default:
		err = apierrors.NewMethodNotSupported(resourceOf(a.kind), a.Method)
	}
	if err != nil {
		return err
	}
	return h.codecs.write(w, a.answer, code, object, a.kind.GroupVersion())
}

// refuse answers with an error as API servers report it.
func (h *served) refuse(w http.ResponseWriter, a *asked, err error) {
	status := apierrors.NewInternalError(err).Status()
	if reported, is := err.(apierrors.APIStatus); is { //nolint:errorlint // what the server returns is not wrapped
		status = reported.Status()
	}
	if a.answer.info == nil {
		a.answer = h.codecs.plain()
	}
	_ = h.codecs.write(w, a.answer, int(status.Code), &status, metav1.Unversioned)
}

func (h *served) body(a *asked) (runtime.Object, error) {
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	if len(text) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	o, _, err := h.codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return o, nil
}

func (h *served) create(a *asked, in client.Object) (client.Object, error) {
	body, err := h.body(a)
	if err != nil {
		return nil, err
	}
	if eviction, is := body.(*policyv1.Eviction); is {
		return eviction, h.through.SubResource(a.sub).Create(a.Context(), in, eviction)
	}
	o, is := body.(client.Object)
	if !is || a.sub != "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T cannot be created at %s", body, a.URL.Path))
	}
	o.SetNamespace(a.key.Namespace)
	if o.GetName() == "" && o.GetGenerateName() != "" {
		o.SetName(o.GetGenerateName() + strconv.FormatUint(h.server.Revision(), 36))
	}
	return o, h.through.Create(a.Context(), o)
}

func (h *served) update(a *asked) (client.Object, error) {
	body, err := h.body(a)
	if err != nil {
		return nil, err
	}
	o, is := body.(client.Object)
	if !is {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T cannot be updated", body))
	}
	return o, h.through.update(a.Context(), o, a.sub == "status")
}

// patch merges. A strategic patch is merged likewise where objects have no lists that such
// patches treat in another way: events.
func (h *served) patch(a *asked, o client.Object) error {
	how := types.PatchType(a.Header.Get("Content-Type"))
	if how != types.MergePatchType && (how != types.StrategicMergePatchType || a.kind.Kind != "Event") {
		return apierrors.NewBadRequest(fmt.Sprintf("patches of type %s are not supported here", how))
	}
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return fmt.Errorf("read the patch: %w", err)
	}
	return h.through.patch(a.Context(), o, client.RawPatch(types.MergePatchType, text), a.sub == "status")
}

func (h *served) delete(w http.ResponseWriter, a *asked, o client.Object) error {
	body, err := h.body(a)
	if err != nil {
		return err
	}
	how := &client.DeleteOptions{}
	if d, is := body.(*metav1.DeleteOptions); is {
		how.GracePeriodSeconds, how.Preconditions, how.PropagationPolicy = d.GracePeriodSeconds, d.Preconditions, d.PropagationPolicy
	}
	if err := h.through.Delete(a.Context(), o, how); err != nil {
		return err
	}
	return h.codecs.write(w, a.answer, http.StatusOK, &metav1.Status{Status: metav1.StatusSuccess}, metav1.Unversioned)
}

// chooses reports whether a list or a watch shows an object.
func (a *asked) chooses(o client.Object) bool {
	if a.key.Namespace != "" && a.key.Namespace != o.GetNamespace() || !a.labels.Matches(labels.Set(o.GetLabels())) {
		return false
	}
	if a.fields.Empty() {
		return true
	}
	have := fieldsof.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()}
	for key, value := range fieldsOf(o) {
		have[key] = value
	}
	return a.fields.Matches(have)
}

// list answers with all objects, or with a page: one goes on behind the object that its
// token names.
func (h *served) list(w http.ResponseWriter, a *asked) error {
	behind, err := base64.RawURLEncoding.DecodeString(a.URL.Query().Get("continue"))
	if err != nil {
		return apierrors.NewBadRequest("continue: " + err.Error())
	}
	limit, _ := strconv.Atoi(a.URL.Query().Get("limit"))
	have, revision := h.server.listed(a.kind)
	var chosen []runtime.Object
	next := ""
	for _, o := range have {
		at := o.GetNamespace() + "/" + o.GetName()
		if at <= string(behind) || !a.chooses(o) {
			continue
		}
		if limit > 0 && len(chosen) == limit {
			last := chosen[limit-1].(client.Object)
			next = base64.RawURLEncoding.EncodeToString([]byte(last.GetNamespace() + "/" + last.GetName()))
			break
		}
		chosen = append(chosen, o)
	}
	at := metav1.ListMeta{ResourceVersion: strconv.FormatUint(revision, 10), Continue: next}
	if a.metadataOnly {
		list := &metav1.PartialObjectMetadataList{ListMeta: at, Items: metadataOf(chosen)}
		list.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))
		for i := range list.Items {
			list.Items[i].SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
		}
		return h.codecs.write(w, a.answer, http.StatusOK, list, metav1.SchemeGroupVersion)
	}
	o, err := h.server.scheme.New(a.kind.GroupVersion().WithKind(a.kind.Kind + "List"))
	if err != nil {
		return err
	}
	list := o.(client.ObjectList)
	list.SetResourceVersion(at.ResourceVersion)
	list.SetContinue(at.Continue)
	if err := apimeta.SetList(list, chosen); err != nil {
		return err
	}
	return h.codecs.write(w, a.answer, http.StatusOK, list, a.kind.GroupVersion())
}
