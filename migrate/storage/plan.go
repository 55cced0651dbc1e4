package storage

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/migrate/convert"
)

// target is an object as it is to be.
type target struct {
	kind
	name    string
	from    *unstructured.Unstructured // as it was exported; nil: it is made again
	spec    map[string]any
	status  map[string]any // nil: none
	without []string       // annotations that have done their work
}

// plan is what comes of an export; it follows from that alone.
type plan struct {
	targets []target // in the order to write them in
}

// plan turns everything that was exported, and refuses what cannot be.
func (m *Mover) plan(kept *export) (*plan, error) {
	made, report, err := m.turned(kept)
	if err != nil {
		return nil, err
	}
	var wrong []string
	for _, e := range report {
		for _, f := range e.Findings {
			switch f.Weight {
			case convert.Refuses:
				wrong = append(wrong, e.Object+": "+f.String())
			case convert.Changes, convert.Loses:
				m.report("%s: %s", e.Object, f)
			}
		}
	}
	out := &plan{}
	for _, k := range []kind{classes, pools} {
		for _, name := range slices.Sorted(maps.Keys(made[k])) {
			t := target{kind: k, name: name, spec: made[k][name].spec, without: made[k][name].without}
			if from := kept.named(k, name); from != nil {
				t.from = from
				t.status = status(k, from)
			}
			out.targets = append(out.targets, t)
		}
	}
	for _, o := range kept.objects[claims] {
		t, notes := claim(o, kept, made[pools])
		for _, n := range notes {
			m.report("NodeClaim %s: %s", t.name, n)
		}
		out.targets = append(out.targets, t)
	}
	for i := range out.targets {
		wrong = append(wrong, m.hold(kept, &out.targets[i])...)
	}
	return out, refusal(wrong)
}

// named is an exported object; nil: there was none.
func (e *export) named(k kind, name string) *unstructured.Unstructured {
	for _, o := range e.objects[k] {
		if o.GetName() == name {
			return o.Unstructured
		}
	}
	return nil
}

// hold fills in the defaults of v1, and reports what its rules refuse.
func (m *Mover) hold(kept *export, t *target) []string {
	try := func() (map[string]any, error) {
		o := map[string]any{"apiVersion": t.of(newer).GroupVersion().String(), "kind": t.Kind, "metadata": map[string]any{"name": t.name}, "spec": t.spec}
		if t.status != nil {
			o["status"] = t.status
		}
		return m.Rules.gate.Create(o)
	}
	filled, err := try()
	if err != nil && t.status != nil && t.kind != claims {
		t.status = nil // the controller finds it again
		filled, err = try()
	}
	if err != nil {
		file := t.plural + "/" + t.name + ".yaml"
		return []string{fmt.Sprintf("%s %s (%s): as %s it would be refused: %s", t.Kind, t.name, filepath.Join(m.Folder, file), newer, err)}
	}
	t.spec, _ = filled["spec"].(map[string]any)
	if t.status != nil {
		t.status, _ = filled["status"].(map[string]any)
	}
	return nil
}

// turned is what a pool or class comes to.
type turned struct {
	spec    map[string]any
	without []string
}

// turned converts pools and classes, which know of each other.
func (m *Mover) turned(kept *export) (map[kind]map[string]turned, []convert.Entry, error) {
	var sources []convert.Source
	for _, k := range []kind{classes, pools} {
		for _, o := range kept.objects[k] {
			o := o.DeepCopy()
			unstructured.RemoveNestedField(o.Object, "status")
			data, err := yaml.Marshal(o.Object)
			if err != nil {
				return nil, nil, err
			}
			sources = append(sources, convert.Source{Name: filepath.Join(m.Folder, k.plural, o.GetName()+".yaml"), Data: data, Verbatim: true})
		}
	}
	documents, err := convert.Read(sources)
	if err != nil {
		return nil, nil, err
	}
	result := m.Rules.converter.Convert(documents, convert.Options{Role: m.Role})
	out := map[kind]map[string]turned{classes: {}, pools: {}}
	for _, made := range result.Objects {
		o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(made)
		if err != nil {
			return nil, nil, err
		}
		k := classes
		if made.GetObjectKind().GroupVersionKind().Kind == pools.Kind {
			k = pools
		}
		t := turned{}
		t.spec, _ = o["spec"].(map[string]any)
		if from := kept.named(k, made.GetName()); from != nil {
			for _, key := range slices.Sorted(maps.Keys(from.GetAnnotations())) {
				if _, stays := made.GetAnnotations()[key]; !stays && strings.HasPrefix(key, convert.Compatibility) {
					t.without = append(t.without, key)
				}
			}
		}
		out[k][made.GetName()] = t
	}
	return out, result.Report, nil
}

// claim turns a NodeClaim, whose instance runs on: the settings of its kubelet were its pool's, and
// how old it may become is now its own.
func claim(o exported, kept *export, made map[string]turned) (target, []string) {
	t := target{kind: claims, name: o.GetName(), from: o.Unstructured, status: status(claims, o.Unstructured)}
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	t.spec = spec
	ref, _, _ := unstructured.NestedMap(spec, "nodeClassRef")
	if ref == nil {
		ref = map[string]any{}
	}
	pool := o.GetLabels()["karpenter.sh/nodepool"]
	if template, _, _ := unstructured.NestedMap(made[pool].spec, "template", "spec"); template != nil {
		// Where the pool's class was parted by kubelets the claim goes with the pool.
		if was := classOf(kept.named(pools, pool)); was != "" && was == ref["name"] {
			ref["name"], _, _ = unstructured.NestedString(template, "nodeClassRef", "name")
		}
	}
	if ref["group"] != nil {
		_ = unstructured.SetNestedMap(spec, ref, "nodeClassRef")
		return t, nil
	}
	version, _ := ref["apiVersion"].(string)
	group, _, _ := strings.Cut(version, "/")
	if group == "" {
		group = classes.Group
	}
	if kind, _ := ref["kind"].(string); kind == "" {
		ref["kind"] = classes.Kind
	}
	delete(ref, "apiVersion")
	ref["group"] = group
	spec["nodeClassRef"] = ref
	delete(spec, "kubelet")
	var notes []string
	spec["expireAfter"], notes = expiry(o.Unstructured, made[pool].spec, kept.At)
	return t, notes
}

// classOf is the name of the class that a pool refers to.
func classOf(pool *unstructured.Unstructured) string {
	if pool == nil {
		return ""
	}
	name, _, _ := unstructured.NestedString(pool.Object, "spec", "template", "spec", "nodeClassRef", "name")
	return name
}

// never is the age of instances that do not expire.
const never = "Never"

// expiry is how old an instance may become: as old as its pool says. One that is that old already
// has outlived it, for pods held it up: it would go by force at once, so it stays.
func expiry(claim *unstructured.Unstructured, pool map[string]any, now time.Time) (string, []string) {
	after, _, _ := unstructured.NestedString(pool, "template", "spec", "expireAfter")
	if after == "" || after == never {
		return never, nil
	}
	length, err := time.ParseDuration(after)
	if err == nil && now.Before(claim.GetCreationTimestamp().Add(length)) {
		return after, nil
	}
	return never, []string{fmt.Sprintf("is older than the %s that its pool allows, and would go by force now: its expireAfter is Never; replace it by daemok roll nodepool %s", after, claim.GetLabels()["karpenter.sh/nodepool"])}
}

// status is what was observed, in the form of v1; nil: nothing was.
func status(k kind, o *unstructured.Unstructured) map[string]any {
	out, _, _ := unstructured.NestedMap(o.Object, "status")
	conditions, _, _ := unstructured.NestedSlice(out, "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if condition == nil {
			continue
		}
		delete(condition, "severity")
		if reason, _ := condition["reason"].(string); reason == "" && k != claims {
			condition["reason"] = condition["type"]
		}
		if condition["message"] == nil {
			condition["message"] = ""
		}
		if condition["lastTransitionTime"] == nil {
			condition["lastTransitionTime"] = o.GetCreationTimestamp().UTC().Format(time.RFC3339)
		}
	}
	if len(conditions) > 0 {
		out["conditions"] = conditions
	}
	return out
}
