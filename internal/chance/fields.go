package chance

import (
	"fmt"
	"reflect"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// EachField calls found for every field that a value of the type leads to, with a
// function that sets that field alone in a value.
func EachField(of reflect.Type, path string, found func(string, func(reflect.Value))) {
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
			EachField(of.Field(i).Type, path+"."+of.Field(i).Name, func(p string, change func(reflect.Value)) {
				found(p, func(v reflect.Value) { change(v.Field(i)) })
			})
		}
	case reflect.Slice:
		found(path+"[]", func(v reflect.Value) { v.Set(reflect.MakeSlice(of, 1, 1)) })
		EachField(of.Elem(), path+"[]", func(p string, change func(reflect.Value)) {
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
		panic(fmt.Sprintf("%s is of a kind that EachField does not know: %v", path, of))
	}
}
