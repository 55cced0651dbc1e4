package podspec

import (
	"reflect"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/internal/chance"
)

// TestTheKeyOfAShapeHoldsEveryField: whatever field of a shape, or of a value
// in it, differs, the key differs. A field that is added later fails here
// until the key has it.
func TestTheKeyOfAShapeHoldsEveryField(t *testing.T) {
	seen := map[string]string{}
	chance.EachField(reflect.TypeFor[cluster.Shape](), "Shape", func(path string, change func(shape reflect.Value)) {
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
