package stories_test

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func compact(v any) string {
	content, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(content)
}

// text returns a field of an object by its path, or "".
func text(o *unstructured.Unstructured, path ...string) string {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// running holds when exactly n pods are there and all run.
func running(n int) func([]*unstructured.Unstructured) bool {
	return func(pods []*unstructured.Unstructured) bool {
		for _, p := range pods {
			if text(p, "status", "phase") != "Running" || p.GetDeletionTimestamp() != nil {
				return false
			}
		}
		return len(pods) == n
	}
}
