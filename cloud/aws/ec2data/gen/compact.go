package main

import (
	"encoding/json"

	"github.com/daemok/daemok/cloud/aws/ec2data"
)

// compact encodes the table without the keys whose values say nothing.
func compact(data *ec2data.Data) ([]byte, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	return json.Marshal(prune(tree))
}

// prune drops zero values of objects, at any depth; rows keep theirs, and so
// do maps by region, where zero is a value.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch key {
			case "od", "odEst", "spot", "intr", "az":
				if value == nil {
					delete(v, key)
				}
			default:
				if v[key] = prune(value); says(v[key]) {
					continue
				}
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	}
	return v
}

// says reports whether a value differs from what its absence means.
func says(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}
