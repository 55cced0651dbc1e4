package tidy

import (
	"testing"
	"testing/fstest"
)

func TestCheckFieldsFindsAnUndocumentedField(t *testing.T) {
	crd := "spec: {versions: [{schema: {openAPIV3Schema: {properties: {spec: {properties: {a: {}, b: {properties: {c: {}, d: {}}}}}}}}}]}"
	tests := map[string]struct{ page, want string }{
		"all told":                 {"`spec.a` `spec.b.c` `spec.b.d`", ""},
		"one left out":             {"`spec.b.c` `spec.b.d`", "does not name `spec.a`"},
		"one left out further in":  {"`spec.a` `spec.b.c`", "does not name `spec.b.d`"},
		"a longer name is another": {"`spec.ab` `spec.b.c` `spec.b.d`", "does not name `spec.a`"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{"crd.yaml": {Data: []byte(crd)}, "status.md": {Data: []byte(tt.page)}}
			found, err := CheckFields(root, "crd.yaml", "status.md", "spec.b")
			oneWith(t, found, err, tt.want)
		})
	}
}
