package v1

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// typedKubelet has the fields of Kubelet without its methods.
type typedKubelet Kubelet

// UnmarshalJSON reads the typed fields and keeps the further ones as written.
func (k *Kubelet) UnmarshalJSON(data []byte) error {
	var typed typedKubelet
	if err := json.Unmarshal(data, &typed); err != nil {
		return fmt.Errorf("read kubelet: %w", err)
	}
	further := map[string]apiextensionsv1.JSON{}
	if err := json.Unmarshal(data, &further); err != nil {
		return fmt.Errorf("read kubelet: %w", err)
	}
	for _, name := range TypedKubeletFields() {
		delete(further, name)
	}
	*k = Kubelet(typed)
	if len(further) > 0 {
		k.Further = further
	}
	return nil
}

// MarshalJSON writes the typed fields and the further ones as one document.
// The receiver is a value so that copies marshal alike.
func (k Kubelet) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(typedKubelet(k))
	if err != nil || len(k.Further) == 0 {
		return data, err
	}
	document := map[string]json.RawMessage{}
	for name, value := range k.Further {
		document[name] = value.Raw
	}
	typed := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &typed); err != nil {
		return nil, fmt.Errorf("write kubelet: %w", err)
	}
	maps.Copy(document, typed)
	return json.Marshal(document)
}

// TypedKubeletFields names the fields of Kubelet that have a type of their
// own, sorted. The caller owns the slice.
func TypedKubeletFields() []string {
	var names []string
	for i := range reflect.TypeFor[Kubelet]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[Kubelet]().Field(i).Tag.Get("json"), ",")
		if name != "-" {
			names = append(names, name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

// FurtherNames names the fields that have no type of their own, sorted.
func (k *Kubelet) FurtherNames() []string { return slices.Sorted(maps.Keys(k.Further)) }
