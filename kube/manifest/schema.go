package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/daemok/daemok/kube/api/crds"
)

// readSchemas are the schemas of Daemok's own kinds, which an API server would
// hold objects to.
func readSchemas() (map[string]*validate.SchemaValidator, error) {
	definitions, err := crds.All()
	if err != nil {
		return nil, err
	}
	out := map[string]*validate.SchemaValidator{}
	for _, d := range definitions {
		for i := range d.Spec.Versions {
			v := &d.Spec.Versions[i]
			one, err := readSchema(v.Schema)
			if err != nil {
				return nil, fmt.Errorf("schema of %s %s: %w", d.Name, v.Name, err)
			}
			kind := schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind}
			out[kind.String()] = validate.NewSchemaValidator(one, nil, "", strfmt.Default)
		}
	}
	return out, nil
}

func readSchema(from *apiextensionsv1.CustomResourceValidation) (*spec.Schema, error) {
	data, err := json.Marshal(from.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	out := &spec.Schema{}
	return out, json.Unmarshal(data, out)
}

// conforms finds what of a manifest breaks its schema.
func conforms(to *validate.SchemaValidator, data []byte) error {
	var object any
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	found := to.Validate(object)
	if found == nil || len(found.Errors) == 0 {
		return nil
	}
	var words []string
	for _, err := range found.Errors {
		words = append(words, strings.TrimPrefix(err.Error(), "."))
	}
	return errors.New(strings.Join(words, "; "))
}
