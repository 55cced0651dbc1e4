package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/daemok/daemok/kube/api/admit"
	"github.com/daemok/daemok/kube/api/crds"
)

// definitions are what an API server holds objects of Daemok's own kinds to: their schemas, and the rules of these in
// CEL.
type definitions struct {
	all   map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition
	gates map[schema.GroupKind]*admit.Gate // of kinds of which there was an object: rules take a while to compile
}

func readDefinitions() (definitions, error) {
	list, err := crds.All()
	if err != nil {
		return definitions{}, err
	}
	d := definitions{map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}, map[schema.GroupKind]*admit.Gate{}}
	for _, one := range list {
		d.all[schema.GroupKind{Group: one.Spec.Group, Kind: one.Spec.Names.Kind}] = one
	}
	return d, nil
}

// allow finds what of a manifest an API server would refuse. Rules that compare an object with the one that it replaces
// are left out. Manifests of kinds that are not Daemok's own are allowed.
func (d definitions) allow(kind schema.GroupVersionKind, data []byte) error {
	definition := d.all[kind.GroupKind()]
	if definition == nil {
		return nil
	}
	gate := d.gates[kind.GroupKind()]
	if gate == nil {
		var err error
		if gate, err = admit.New([]*apiextensionsv1.CustomResourceDefinition{definition}); err != nil {
			return fmt.Errorf("read its schema: %w", err)
		}
		d.gates[kind.GroupKind()] = gate
	}
	if !gate.Knows(kind) {
		return nil
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	_, err := gate.Create(object)
	var several utilerrors.Aggregate
	if !errors.As(err, &several) {
		return err
	}
	var words []string
	for _, one := range several.Errors() {
		words = append(words, one.Error())
	}
	slices.Sort(words) // rules of one object are evaluated in random order
	return errors.New(strings.Join(words, "; "))
}
