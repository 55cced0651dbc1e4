package admissiontest_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/daemok/daemok/kube/api/admissiontest"
	"github.com/daemok/daemok/kube/api/admit"
	"github.com/daemok/daemok/kube/api/crds"
)

// TestEveryRuleHasACase takes the rules for users out of the definitions one
// by one: if no case notices, the rule has none, or does nothing.
func TestEveryRuleHasACase(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute on a slow machine")
	}
	cases, err := admissiontest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	gate := gateOfAll(t)
	errors := map[string]string{}
	for _, c := range cases {
		errors[c.Name] = outcome(gate, c)
	}
	for _, definition := range definitions {
		refused := slices.DeleteFunc(slices.Clone(cases), func(c admissiontest.Case) bool {
			return c.Refused == "" || c.Object.GetKind() != definition.Spec.Names.Kind
		})
		t.Run(definition.Spec.Names.Kind, func(t *testing.T) {
			t.Parallel()
			everyRule(t, definition, refused, errors)
		})
	}
}

func everyRule(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition, refused []admissiontest.Case, errors map[string]string) {
	rules := 0
	for ; ; rules++ {
		weaker, rule, found := without(t, definition, rules)
		if !found {
			break
		}
		likely := func(c admissiontest.Case) int { return strings.Index(errors[c.Name], rule.clue) }
		slices.SortStableFunc(refused, func(a, b admissiontest.Case) int { // the likely ones first, which saves time
			return cmp.Compare(min(likely(b), 0), min(likely(a), 0))
		})
		if !noticed(weaker, refused) {
			t.Errorf("no case needs %s", rule.name)
		}
	}
	t.Logf("%d rules", rules)
}

// noticed reports whether a case that must be refused no longer is, or for
// another reason.
func noticed(definition *apiextensionsv1.CustomResourceDefinition, refused []admissiontest.Case) bool {
	gate, err := admit.New([]*apiextensionsv1.CustomResourceDefinition{definition})
	if err != nil {
		return true // an API server would not take the definition without it
	}
	return slices.ContainsFunc(refused, func(c admissiontest.Case) bool {
		return !strings.Contains(outcome(gate, c), c.Refused)
	})
}

// outcome is the text of the case's error, empty if there is none.
func outcome(gate *admit.Gate, c admissiontest.Case) string {
	stored, err := gate.Create(c.Object.Object)
	if c.Update != nil && err == nil {
		_, err = gate.Update(c.Update.Object, stored)
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// removal takes one rule out of a schema.
type removal struct {
	name  string
	clue  string // what errors about the rule are likely to have in them
	apply func()
}

// node is a schema as JSON, so that what is taken out of it is gone from the
// document it is part of.
type node = map[string]any

// removals lists the rules of a schema and of everything below it, but for
// those of quantities, which are Kubernetes' own, and those of the status,
// which users do not write.
func removals(path string, s node) []removal {
	if path == ".status" {
		return nil
	}
	var all []removal
	field := strings.TrimSuffix(path[strings.LastIndex(path, ".")+1:], "[]")
	for _, key := range []string{
		"pattern", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "x-kubernetes-list-type",
	} {
		_, quantity := s["x-kubernetes-int-or-string"]
		if value, there := s[key]; there && value != "atomic" && !quantity {
			all = append(all, removal{path + " " + key, field, func() { delete(s, key) }})
		}
	}
	fields, _ := s["properties"].(node)
	for _, key := range []string{"required", "x-kubernetes-validations"} {
		list, _ := s[key].([]any)
		for i, rule := range list {
			clue, named := rule.(string)
			if !named {
				clue = rule.(node)["message"].(string)
			} else if _, defaulted := fields[clue].(node)["default"]; defaulted {
				continue // it cannot be missing
			}
			all = append(all, removal{path + " " + key + " " + clue, clue, func() { s[key] = slices.Delete(slices.Clone(list), i, i+1) }})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		all = append(all, removals(path+"."+name, fields[name].(node))...)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if below, there := s[key].(node); there {
			all = append(all, removals(path+"[]", below)...)
		}
	}
	return all
}

// without returns the definition without its i-th rule, and the rule; false
// if there is none.
func without(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition, i int) (*apiextensionsv1.CustomResourceDefinition, removal, bool) {
	t.Helper()
	version := &definition.Spec.Versions[0]
	data, err := json.Marshal(version.Schema.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	var root node
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	all := removals("", root)
	if i >= len(all) {
		return nil, removal{}, false
	}
	all[i].apply()
	weaker := definition.DeepCopy()
	if data, err = json.Marshal(root); err != nil {
		t.Fatal(err)
	}
	schema := new(apiextensionsv1.JSONSchemaProps)
	if err := json.Unmarshal(data, schema); err != nil {
		t.Fatal(err)
	}
	weaker.Spec.Versions[0].Schema.OpenAPIV3Schema = schema
	return weaker, all[i], true
}
