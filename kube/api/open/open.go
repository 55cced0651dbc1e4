// Package open reads and writes JSON objects that may have more fields than their Go type.
//
// It promises that an object which is read and written again has the same fields with the same values.
// The package that has the type knows what the further fields mean.
package open

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Fields are values by the names of their fields, as written.
type Fields = map[string]apiextensionsv1.JSON

// Read decodes an object into the struct that typed points to, and returns
// the fields that the struct does not name; nil if there are none. The struct
// must not decode itself by Read.
func Read(data []byte, typed any) (Fields, error) {
	if err := json.Unmarshal(data, typed); err != nil {
		return nil, err
	}
	further := Fields{}
	if err := json.Unmarshal(data, &further); err != nil {
		return nil, err
	}
	for _, name := range Names(reflect.TypeOf(typed).Elem()) {
		delete(further, name)
	}
	if len(further) == 0 {
		return nil, nil
	}
	return further, nil
}

// Write encodes the struct and the further fields as one object; where both
// name a field, the struct decides.
func Write(typed any, further Fields) ([]byte, error) {
	data, err := json.Marshal(typed)
	if err != nil || len(further) == 0 {
		return data, err
	}
	named := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &named); err != nil {
		return nil, err
	}
	document := make(map[string]json.RawMessage, len(further)+len(named))
	for name, value := range further {
		document[name] = value.Raw
	}
	maps.Copy(document, named)
	return json.Marshal(document)
}

// Names are the JSON names of a struct's fields, those of structs embedded in
// it included, sorted. The caller owns the slice.
func Names(of reflect.Type) []string {
	var names []string
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// NamesOf are the names of the further fields, sorted. The caller owns the
// slice.
func NamesOf(further Fields) []string { return slices.Sorted(maps.Keys(further)) }
