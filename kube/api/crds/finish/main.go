// Command finish adds to generated CRDs the rules for fields whose Go types belong to Kubernetes,
// where our own markers cannot stand: taints, labels of a pool's template, amounts, and the conditions
// of a NodeClaim, which may lack fields that other conditions must have.
//
// go generate runs it with the directory of the CRDs. It promises to stop at the first field that it
// does not find, so that no rule is lost silently.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	qualifiedName = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	labelValue    = `^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
	wholeAmount   = `^[0-9]+([kMGTPE]|[KMGTPE]i)?$`
	anyReason     = `^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?)?$`
)

// edit sets keys of the schema of one field; a nil value removes the key.
type edit struct {
	file, field string
	set         map[string]any
}

func edits() []edit {
	const template = "spec.template.spec."
	all := slices.Concat(
		taintEdits("karpenter.sh_nodepools.yaml", template+"taints"),
		taintEdits("karpenter.sh_nodepools.yaml", template+"startupTaints"),
		taintEdits("karpenter.sh_nodeclaims.yaml", "spec.taints"),
		taintEdits("karpenter.sh_nodeclaims.yaml", "spec.startupTaints"),
	)
	all = append(all, provisionerEdits("karpenter.sh_provisioners.yaml")...)
	return append(all,
		edit{"karpenter.sh_nodepools.yaml", "spec.template.metadata.labels.*",
			map[string]any{"maxLength": 63, "pattern": labelValue}},
		edit{"autoscaling.x-k8s.io_capacityquotas.yaml", "spec.limits.resources.*",
			map[string]any{"minimum": 0, "pattern": wholeAmount}},
		edit{"karpenter.sh_nodeclaims.yaml", "status.conditions.[]",
			map[string]any{"required": []string{"lastTransitionTime", "status", "type"}}},
		edit{"karpenter.sh_nodeclaims.yaml", "status.conditions.[].reason",
			map[string]any{"minLength": nil, "pattern": anyReason, "description": "reason is why the condition has its status; it may be empty."}},
	)
}

// provisionerEdits are those of the v1alpha5 API. Its taints may have no
// effect.
func provisionerEdits(file string) []edit {
	var all []edit
	for _, list := range []string{"spec.taints", "spec.startupTaints"} {
		all = append(all,
			edit{file, list + ".[].key", map[string]any{"minLength": 1, "maxLength": 316, "pattern": qualifiedName}},
			edit{file, list + ".[].value", map[string]any{"pattern": "^$|" + qualifiedName}},
			edit{file, list + ".[].effect", map[string]any{"enum": append([]string{""}, effects...)}},
		)
	}
	for _, labels := range []string{"spec.labels.*", "spec.label.*"} {
		all = append(all, edit{file, labels, map[string]any{"maxLength": 63, "pattern": labelValue}})
	}
	return append(all,
		edit{file, "spec.limits.resources", map[string]any{"maxProperties": 30}},
		edit{file, "spec.kubeletConfiguration.systemReserved", map[string]any{"maxProperties": 4}},
		edit{file, "spec.kubeletConfiguration.kubeReserved", map[string]any{"maxProperties": 4}},
	)
}

var effects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

func taintEdits(file, field string) []edit {
	return []edit{
		{file, field + ".[].key", map[string]any{"minLength": 1, "pattern": qualifiedName}},
		{file, field + ".[].value", map[string]any{"pattern": qualifiedName}},
		{file, field + ".[].effect", map[string]any{"enum": effects}},
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: finish DIRECTORY")
		os.Exit(2)
	}
	if err := finish(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "finish:", err)
		os.Exit(1)
	}
}

// The pattern of amounts that generators write allows exponents that no Go program can
// read: "1e1.5" would be stored, and break every watch of its kind. Real ones have two
// digits at most.
const (
	anyExponent  = `([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))`
	realExponent = `([eE](\+|-)?[0-9]{1,2})`
)

// readable has amounts be those that Go can read, wherever a schema has any.
func readable(schema any) {
	switch node := schema.(type) {
	case map[string]any:
		if pattern, is := node["pattern"].(string); is {
			node["pattern"] = strings.ReplaceAll(pattern, anyExponent, realExponent)
		}
		for _, child := range node {
			readable(child)
		}
	case []any:
		for _, child := range node {
			readable(child)
		}
	}
}

// storedFirst puts the version that is stored before others, which have the same fields.
func storedFirst(crd map[string]any) error {
	versions, err := walk(crd, "spec", "versions")
	if err != nil {
		return err
	}
	slices.SortStableFunc(versions.([]any), func(a, b any) int {
		return strings.Compare(fmt.Sprint(b.(map[string]any)["storage"]), fmt.Sprint(a.(map[string]any)["storage"]))
	})
	return nil
}

func finish(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := rewrite(path, func(crd map[string]any) error { readable(crd); return storedFirst(crd) }); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, e := range edits() {
		path := filepath.Join(dir, e.file)
		if err := rewrite(path, func(crd map[string]any) error { return apply(crd, e) }); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func rewrite(path string, change func(map[string]any) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return err
	}
	if err := change(crd); err != nil {
		return err
	}
	out, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte("---\n"), out...), 0o644)
}

// apply changes the schema of one field of the version of the CRD that is stored.
func apply(crd map[string]any, e edit) error {
	schema, err := walk(crd, "spec", "versions", "0", "schema", "openAPIV3Schema")
	if err != nil {
		return err
	}
	for _, name := range strings.Split(e.field, ".") {
		if schema, err = walk(schema, steps(name)...); err != nil {
			return fmt.Errorf("field %s: %w", e.field, err)
		}
	}
	field := schema.(map[string]any)
	for key, value := range e.set {
		if value == nil {
			delete(field, key)
			continue
		}
		field[key] = value
	}
	return nil
}

// steps leads from a schema to that of the field: [] are the items of a
// list, * the values of a map.
func steps(name string) []string {
	switch name {
	case "[]":
		return []string{"items"}
	case "*":
		return []string{"additionalProperties"}
	}
	return []string{"properties", name}
}

func walk(at any, names ...string) (any, error) {
	for _, name := range names {
		switch node := at.(type) {
		case map[string]any:
			at = node[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(node) {
				return nil, fmt.Errorf("no item %s, adapt the path to the generated schema", name)
			}
			at = node[i]
		}
		if at == nil {
			return nil, fmt.Errorf("no %s, adapt the path to the generated schema", name)
		}
	}
	return at, nil
}
