package output

import (
	"encoding/json"
	"reflect"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// plainValue is a value as expressions see it: what JSON shows. Whole numbers stay whole
// but for those that are fractions by their type, such as prices, which stand beside
// fractions in comparisons.
func plainValue(value any) (any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var plain any
	if err := utiljson.Unmarshal(data, &plain); err != nil {
		return nil, err
	}
	fractions := map[string]bool{}
	noteFractions(reflect.TypeOf(value), fractions, map[reflect.Type]bool{})
	return asFractions(plain, fractions), nil
}

// noteFractions notes the names of fields that hold fractions.
func noteFractions(t reflect.Type, names map[string]bool, seen map[reflect.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		noteFractions(t.Elem(), names, seen)
	case reflect.Struct:
		for f := range t.Fields() {
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); of.Kind() == reflect.Float64 && name != "" {
				names[name] = true
			}
			noteFractions(f.Type, names, seen)
		}
	default: // has no fields
	}
}

// asFractions makes fractions of whole numbers under these names, in place.
func asFractions(value any, names map[string]bool) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = asFractions(v[i], names)
		}
	case map[string]any:
		for name, of := range v {
			if whole, is := of.(int64); is && names[name] {
				v[name] = float64(whole)
				continue
			}
			v[name] = asFractions(of, names)
		}
	}
	return value
}
