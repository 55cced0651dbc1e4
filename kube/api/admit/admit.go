// Package admit checks custom resources in process exactly as an API server
// does: unknown fields are pruned, defaults filled in, and the schema, list
// and CEL rules applied, transition rules and cost limits included.
//
// It uses the API server's own code, so that tests and tools can learn
// without a cluster what a cluster would say. It stores nothing, and it does
// not check metadata.
package admit

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Gate admits the objects of a set of CustomResourceDefinitions.
type Gate struct {
	kinds map[gvk.GroupVersionKind]*kind
}

type kind struct {
	structural *schema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// New returns a Gate for the served versions of the definitions. It refuses
// a definition that an API server would refuse, too expensive rules among others.
func New(definitions []*apiextensionsv1.CustomResourceDefinition) (*Gate, error) {
	gate := &Gate{kinds: map[gvk.GroupVersionKind]*kind{}}
	for _, definition := range definitions {
		if err := gate.add(definition); err != nil {
			return nil, fmt.Errorf("definition %s: %w", definition.Name, err)
		}
	}
	return gate, nil
}

func (g *Gate) add(definition *apiextensionsv1.CustomResourceDefinition) error {
	internal, err := internalDefinition(definition)
	if err != nil {
		return err
	}
	for _, version := range internal.Spec.Versions {
		props := version.Schema
		if props == nil {
			props = internal.Spec.Validation // one version: its schema is moved up
		}
		k, err := newKind(props.OpenAPIV3Schema)
		if err != nil {
			return fmt.Errorf("version %s: %w", version.Name, err)
		}
		g.kinds[gvk.GroupVersionKind{Group: internal.Spec.Group, Version: version.Name, Kind: internal.Spec.Names.Kind}] = k
	}
	return nil
}

// internalDefinition defaults, converts and validates as an API server does
// when a definition is created.
func internalDefinition(definition *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	external := definition.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinition(external)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	for _, version := range external.Spec.Versions {
		if version.Storage {
			external.Status.StoredVersions = []string{version.Name}
		}
	}
	internal := new(apiextensions.CustomResourceDefinition)
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(external, internal, nil)
	if err != nil {
		return nil, err
	}
	return internal, crdvalidation.ValidateCustomResourceDefinition(context.Background(), internal).ToAggregate()
}

func newKind(props *apiextensions.JSONSchemaProps) (*kind, error) {
	structural, err := schema.NewStructural(props)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, err
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	return &kind{structural: structural, schema: validator, rules: rules}, nil
}

// Knows reports whether there is a definition of the kind.
func (g *Gate) Knows(kind gvk.GroupVersionKind) bool {
	_, known := g.kinds[kind]
	return known
}

// Create returns the object as it would be stored, or the reasons why it is
// refused. The argument is not changed.
func (g *Gate) Create(object map[string]any) (map[string]any, error) {
	k, err := g.kindOf(object)
	if err != nil {
		return nil, err
	}
	stored := k.fill(object)
	errs := validation.ValidateCustomResource(nil, stored, k.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structural, stored)...)
	if !blocking(errs) && k.rules != nil {
		found, _ := k.rules.Validate(context.Background(), nil, k.structural, stored, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, found...)
	}
	return stored, errs.ToAggregate()
}

// Update is Create for an object that replaces another, which must be as it
// is stored. What was wrong before and is not touched stays accepted.
func (g *Gate) Update(object, old map[string]any) (map[string]any, error) {
	k, err := g.kindOf(object)
	if err != nil {
		return nil, err
	}
	stored := k.fill(object)
	both := common.NewCorrelatedObject(stored, old, &model.Structural{Structural: k.structural})
	errs := validation.ValidateCustomResourceUpdate(nil, stored, old, k.schema, validation.WithRatcheting(both))
	if len(listtype.ValidateListSetsAndMaps(nil, k.structural, old)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structural, stored)...)
	}
	if !blocking(errs) && k.rules != nil {
		found, _ := k.rules.Validate(context.Background(), nil, k.structural, stored, old,
			celconfig.RuntimeCELCostBudget, cel.WithRatcheting(both))
		errs = append(errs, found...)
	}
	return stored, errs.ToAggregate()
}

func (g *Gate) kindOf(object map[string]any) (*kind, error) {
	version, _ := object["apiVersion"].(string)
	name, _ := object["kind"].(string)
	k, ok := g.kinds[gvk.FromAPIVersionAndKind(version, name)]
	if !ok {
		return nil, fmt.Errorf("no definition of %s in %s, check apiVersion and kind", name, version)
	}
	return k, nil
}

func (k *kind) fill(object map[string]any) map[string]any {
	stored := runtime.DeepCopyJSON(object)
	pruning.Prune(stored, k.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(stored, k.structural)
	defaulting.Default(stored, k.structural)
	return stored
}

// blocking reports whether the schema found something that makes the CEL
// rules meaningless, so that an API server does not run them.
func blocking(errs field.ErrorList) bool {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong,
			field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}
