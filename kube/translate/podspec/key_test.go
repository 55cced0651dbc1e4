package podspec

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// TestTheKeyOfAShapeHoldsEveryField: whatever field of a shape, or of a value
// in it, differs, the key differs. A field that is added later fails here
// until the key has it.
func TestTheKeyOfAShapeHoldsEveryField(t *testing.T) {
	seen := map[string]string{}
	each(reflect.TypeFor[cluster.Shape](), "Shape", func(path string, change func(shape reflect.Value)) {
		shape := cluster.Shape{}
		change(reflect.ValueOf(&shape).Elem())
		key := ShapeKey(&shape)
		if other, taken := seen[key]; taken {
			t.Errorf("a shape with %s has the key of one with %s", path, other)
		}
		seen[key] = path
	})
	if empty := ShapeKey(&cluster.Shape{}); seen[empty] != "" {
		t.Errorf("a shape with %s has the key of one with nothing", seen[empty])
	}
	if len(seen) < 30 {
		t.Errorf("only %d fields were tried", len(seen))
	}
}

// each calls found for every field that a value of the type leads to, with a
// function that sets that field alone in a value.
func each(of reflect.Type, path string, found func(string, func(reflect.Value))) {
	switch of {
	case reflect.TypeFor[constraint.Requirements]():
		found(path, func(v reflect.Value) {
			v.Set(reflect.ValueOf(constraint.NewRequirements(constraint.Requirement{Key: "k", Set: constraint.Values(path)})))
		})
		return
	case reflect.TypeFor[quantity.Resources]():
		found(path, func(v reflect.Value) { v.Set(reflect.ValueOf(quantity.Resources{CPU: 7})) })
		return
	}
	switch of.Kind() {
	case reflect.Struct:
		for i := range of.NumField() {
			each(of.Field(i).Type, path+"."+of.Field(i).Name, func(p string, change func(reflect.Value)) {
				found(p, func(v reflect.Value) { change(v.Field(i)) })
			})
		}
	case reflect.Slice:
		found(path+"[]", func(v reflect.Value) { v.Set(reflect.MakeSlice(of, 1, 1)) })
		each(of.Elem(), path+"[]", func(p string, change func(reflect.Value)) {
			found(p, func(v reflect.Value) {
				v.Set(reflect.MakeSlice(of, 1, 1))
				change(v.Index(0))
			})
		})
	case reflect.String:
		found(path, func(v reflect.Value) { v.SetString("x") })
	case reflect.Bool:
		found(path, func(v reflect.Value) { v.SetBool(true) })
	case reflect.Int, reflect.Int32, reflect.Int64:
		found(path, func(v reflect.Value) { v.SetInt(7) })
	default:
		panic(fmt.Sprintf("%s is of a kind that this test does not know: %v", path, of))
	}
}
