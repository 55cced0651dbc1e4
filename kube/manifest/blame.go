package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// blame finds the value of a manifest that cannot be decoded, for errors that
// do not say where: the first that cannot be, alone in an object of its kind.
// It is empty where no single value is at fault.
func blame(data []byte, decodes func([]byte) error) string {
	var object map[string]any
	if json.Unmarshal(data, &object) != nil {
		return ""
	}
	at := ""
	eachValue(object, "", func(x any) any { return x }, func(path string, alone any) bool {
		fields, ok := alone.(map[string]any)
		if !ok {
			return true
		}
		fields["apiVersion"], fields["kind"] = object["apiVersion"], object["kind"]
		text, err := json.Marshal(fields)
		if err == nil && decodes(text) != nil {
			at = path
		}
		return at == ""
	})
	return at
}

// eachValue visits every value in the order of fields that holds no others,
// with its path and an object that holds nothing else; around puts a value
// where it stands. It ends when visit returns false.
func eachValue(value any, path string, around func(any) any, visit func(path string, alone any) bool) bool {
	switch x := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			within := func(v any) any { return around(map[string]any{key: v}) }
			if !eachValue(x[key], join(path, key), within, visit) {
				return false
			}
		}
		return true
	case []any:
		for i := range x {
			within := func(v any) any { return around([]any{v}) }
			if !eachValue(x[i], fmt.Sprintf("%s[%d]", path, i), within, visit) {
				return false
			}
		}
		return true
	}
	return visit(path, around(value))
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
