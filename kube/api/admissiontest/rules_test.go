package admissiontest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/daemok/daemok/kube/api/admissiontest"
	"github.com/daemok/daemok/kube/api/admit"
	"github.com/daemok/daemok/kube/api/crds"
)

// TestEveryRuleHasACase takes the rules out of the definitions one by one: if
// no case notices, the rule has none, or does nothing.
func TestEveryRuleHasACase(t *testing.T) {
	cases, err := admissiontest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	rules := 0
	for _, definition := range definitions {
		refused := slices.DeleteFunc(slices.Clone(cases), func(c admissiontest.Case) bool {
			return c.Refused == "" || c.Object.GetKind() != definition.Spec.Names.Kind
		})
		for i := 0; ; i++ {
			weaker, rule, found := without(t, definition, i)
			if !found {
				break
			}
			rules++
			if !noticed(t, weaker, refused) {
				t.Errorf("%s: no case needs %s", definition.Spec.Names.Kind, rule)
			}
		}
	}
	t.Logf("%d rules", rules)
}

// noticed reports whether a case that must be refused no longer is, or for
// another reason.
func noticed(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition, refused []admissiontest.Case) bool {
	t.Helper()
	gate, err := admit.New([]*apiextensionsv1.CustomResourceDefinition{definition})
	if err != nil {
		return true // an API server would not take the definition without it
	}
	return slices.ContainsFunc(refused, func(c admissiontest.Case) bool {
		stored, err := gate.Create(c.Object.Object)
		if c.Update != nil && err == nil {
			_, err = gate.Update(c.Update.Object, stored)
		}
		return err == nil || !strings.Contains(err.Error(), c.Refused)
	})
}

// removal takes one rule out of a schema.
type removal struct {
	name  string
	apply func()
}

// node is a schema as JSON, so that what is taken out of it is gone from the
// document it is part of.
type node = map[string]any

// removals lists the rules of a schema and of everything below it, but for
// those that are Kubernetes' own: of conditions, and of quantities.
func removals(path string, s node) []removal {
	if strings.HasSuffix(path, ".conditions") {
		return nil
	}
	var all []removal
	for _, key := range []string{
		"pattern", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "x-kubernetes-list-type",
	} {
		_, quantity := s["x-kubernetes-int-or-string"]
		if value, there := s[key]; there && value != "atomic" && !quantity {
			all = append(all, removal{path + " " + key, func() { delete(s, key) }})
		}
	}
	for _, key := range []string{"required", "x-kubernetes-validations"} {
		list, _ := s[key].([]any)
		for i, rule := range list {
			all = append(all, removal{fmt.Sprint(path, " ", key, " ", rule), func() { s[key] = slices.Delete(slices.Clone(list), i, i+1) }})
		}
	}
	fields, _ := s["properties"].(node)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		all = append(all, removals(path+"."+name, fields[name].(node))...)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if below, there := s[key].(node); there {
			all = append(all, removals(path+"."+key, below)...)
		}
	}
	return all
}

// without returns the definition without its i-th rule and the rule's name;
// false if there is none.
func without(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition, i int) (*apiextensionsv1.CustomResourceDefinition, string, bool) {
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
		return nil, "", false
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
	return weaker, all[i].name, true
}
