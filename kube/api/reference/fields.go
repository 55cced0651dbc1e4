package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schema = apiextensionsv1.JSONSchemaProps

// fieldsPage lists the fields of a kind, depth first, by name.
func fieldsPage(d *apiextensionsv1.CustomResourceDefinition) (page, error) {
	version := d.Spec.Versions[0]
	root := version.Schema.OpenAPIV3Schema
	var b strings.Builder
	fmt.Fprintf(&b, "# Fields of %s\n\n%s`apiVersion: %s/%s`, %s. %s\n", d.Spec.Names.Kind, annotation, d.Spec.Group, version.Name,
		map[apiextensionsv1.ResourceScope]string{"Cluster": "of the cluster", "Namespaced": "of a namespace"}[d.Spec.Scope],
		strings.Join(strings.Fields(root.Description), " "))
	b.WriteString("\n[Status](../../status.md) says which fields act; [conditions](../conditions.md) lists those of `status.conditions`.\n")
	for _, part := range []string{"spec", "status"} {
		s, there := root.Properties[part]
		if !there {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n| Field | Type | Default | Description |\n|---|---|---|---|\n", part)
		if err := fields(&b, part, s); err != nil {
			return page{}, err
		}
	}
	return page{"fields/" + strings.ToLower(d.Spec.Names.Kind) + ".md", b.String()}, nil
}

// fields writes a row for each field below s.
func fields(b *strings.Builder, path string, s schema) error {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field, at := s.Properties[name], path+"."+name
		if field.Description == "" {
			return errors.New(at + " has no description")
		}
		kind := typeOf(field)
		if slices.Contains(s.Required, name) {
			kind += ", required"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", at, kind, defaultOf(field), cell(field.Description))
		if at == "status.conditions" {
			continue
		}
		if err := within(b, at, field); err != nil {
			return err
		}
	}
	return nil
}

// within writes the fields of a field: of an object, of the items of a list, or of the
// values of a map.
func within(b *strings.Builder, path string, s schema) error {
	switch {
	case s.Items != nil && s.Items.Schema != nil:
		return within(b, path+"[]", *s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return within(b, path+".*", *s.AdditionalProperties.Schema)
	}
	return fields(b, path, s)
}

// typeOf names a type as `kubectl explain` does, with the values of an enumeration.
func typeOf(s schema) string {
	var values []string
	for _, v := range s.Enum {
		values = append(values, "`"+cell(string(v.Raw))+"`")
	}
	switch {
	case len(values) > 0:
		return strings.Join(values, ", ")
	case s.Items != nil && s.Items.Schema != nil:
		return "list of " + typeOf(*s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(*s.AdditionalProperties.Schema)
	case s.XIntOrString:
		return "integer or string"
	case s.Type == "":
		return "any"
	}
	return s.Type
}

func defaultOf(s schema) string {
	if s.Default == nil {
		return ""
	}
	return "`" + cell(string(s.Default.Raw)) + "`"
}
