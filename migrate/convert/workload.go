package convert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/daemok/daemok/kube/api"
)

// renamed are labels of nodes and taints that have another key now.
var renamed = map[string]string{
	api.LabelProvisioner: api.LabelNodePool,
	api.TaintDisruption:  api.TaintDisrupted,
}

// pod is a pod or a template of pods in a manifest.
type pod struct {
	path   string // of the object that metadata and spec are in; empty: the manifest's own
	fields fields
}

// podsIn are the pods and templates of pods in a manifest of whatever kind: all that has
// a spec with containers.
func podsIn(path string, in any) []pod {
	switch x := in.(type) {
	case fields:
		if containers, is := at(x, "spec")["containers"].([]any); is && len(containers) > 0 {
			return []pod{{path, x}}
		}
		var out []pod
		for _, name := range keys(x) {
			out = append(out, podsIn(strings.TrimPrefix(path+"."+name, "."), x[name])...)
		}
		return out
	case []any:
		var out []pod
		for i, one := range x {
			out = append(out, podsIn(fmt.Sprintf("%s[%d]", path, i), one)...)
		}
		return out
	}
	return nil
}

func keys(in fields) []string {
	var out []string
	for name := range in {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// workload reports what pods say in the words of an v1alpha5 API, and says it again where that is
// asked for.
func (c *converter) workload(s *subject) {
	object := fields{}
	if utiljson.Unmarshal(s.JSON, &object) != nil {
		return // no object: it has no pods
	}
	w := &workload{subject: s, rewrites: c.RewriteWorkloads}
	for _, p := range podsIn("", object) {
		w.pod(p)
	}
	if w.changed && w.rewrites {
		c.workloads = append(c.workloads, made{&unstructured.Unstructured{Object: object}, s, s.hidden})
	}
}

// workload is a manifest with pods while it is examined.
type workload struct {
	*subject
	rewrites, changed bool
}

// rename has a text say a newer key.
func (w *workload) rename(field, key, to string, set func(string)) {
	w.changed = true
	if w.rewrites {
		w.note(Changes, field, "%s becomes %s", key, to)
		set(to)
		return
	}
	w.note(Changes, field, "%s is %s now: write that", key, to)
}

func (w *workload) pod(p pod) {
	field := func(rest string) string { return strings.TrimPrefix(p.path+"."+rest, ".") }
	if annotations := at(p.fields, "metadata", "annotations"); annotations[api.AnnotationDoNotEvict] != nil {
		w.annotation(field("metadata.annotations["+api.AnnotationDoNotEvict+"]"), annotations)
	}
	spec := at(p.fields, "spec")
	if selector := at(spec, "nodeSelector"); selector != nil {
		for _, key := range keys(selector) {
			w.key(field("spec.nodeSelector["+key+"]"), key, func(to string) {
				selector[to] = selector[key]
				delete(selector, key)
			})
		}
	}
	w.keyed(field("spec.affinity"), spec["affinity"])
	w.keyed(field("spec.topologySpreadConstraints"), spec["topologySpreadConstraints"])
	for i, one := range listOf(spec["tolerations"]) {
		toleration, _ := one.(fields)
		if key, _ := toleration["key"].(string); key == api.TaintDisruption {
			w.rename(field(fmt.Sprintf("spec.tolerations[%d].key", i)), key, renamed[key], func(to string) {
				toleration["key"] = to
				if toleration["value"] == api.Disrupting { // the taint has none now
					delete(toleration, "value")
					delete(toleration, "operator")
					toleration["operator"] = "Exists"
				}
			})
		}
	}
}

func listOf(in any) []any {
	list, _ := in.([]any)
	return list
}

// annotation turns what protects a pod, which is understood in both forms.
func (w *workload) annotation(field string, in fields) {
	value := in[api.AnnotationDoNotEvict]
	if value != "true" {
		w.note(Loses, field, "%v protects nothing, only \"true\" does: remove it", value)
		return
	}
	w.changed = true
	if !w.rewrites {
		w.note(Changes, field, "is understood still; write %s", api.AnnotationDoNotDisrupt)
		return
	}
	w.note(Changes, field, "becomes %s", api.AnnotationDoNotDisrupt)
	delete(in, api.AnnotationDoNotEvict)
	if in[api.AnnotationDoNotDisrupt] == nil {
		in[api.AnnotationDoNotDisrupt] = "true"
	}
}

// keyed examines the keys of terms wherever they stand in a rule: those of nodes alone, as labels
// of pods are not ours.
func (w *workload) keyed(path string, in any) {
	switch x := in.(type) {
	case []any:
		for i, one := range x {
			w.keyed(fmt.Sprintf("%s[%d]", path, i), one)
		}
	case fields:
		for _, name := range keys(x) {
			text, is := x[name].(string)
			switch {
			case name == "labelSelector" || name == "namespaceSelector":
			case is && (name == "key" || name == "topologyKey"):
				w.key(path+"."+name, text, func(to string) { x[name] = to })
			default:
				w.keyed(path+"."+name, x[name])
			}
		}
	}
}

// key examines a label of nodes.
func (w *workload) key(field, key string, set func(string)) {
	switch {
	case renamed[key] != "":
		w.rename(field, key, renamed[key], set)
	case api.IsOfOlderAPI(key):
		w.note(Loses, field, "%s is on no node of a NodePool: request types or families instead", key)
	}
}

// Selecting are the Provisioners of which pods of the manifest need a node, by the label
// that these have; all: of any.
func (d Document) Selecting() (names []string, all bool) {
	object := fields{}
	if json.Unmarshal(d.JSON, &object) != nil {
		return nil, false
	}
	for _, p := range podsIn("", object) {
		spec := at(p.fields, "spec")
		if name, is := at(spec, "nodeSelector")[api.LabelProvisioner].(string); is {
			names = append(names, name)
		}
		required := at(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
		for _, term := range listOf(required["nodeSelectorTerms"]) {
			one, _ := term.(fields)
			for _, rule := range listOf(one["matchExpressions"]) {
				more, any := selecting(rule)
				names, all = append(names, more...), all || any
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), all
}

// selecting are the Provisioners that a rule allows; a rule that nodes without the label
// meet too needs none.
func selecting(rule any) (names []string, all bool) {
	r, _ := rule.(fields)
	if r["key"] != api.LabelProvisioner {
		return nil, false
	}
	if r["operator"] != "In" {
		return nil, r["operator"] == "Exists"
	}
	for _, value := range listOf(r["values"]) {
		if name, is := value.(string); is {
			names = append(names, name)
		}
	}
	return names, false
}
