package demand

import (
	"reflect"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/internal/chance"
)

// Pods are of one class where nothing but amounts and priority tells them apart. A field that is added to shapes later
// fails here until the text has it.
func TestTheTextOfRulesHoldsEveryFieldButAmountsAndPriority(t *testing.T) {
	seen := map[string]string{}
	chance.EachField(reflect.TypeFor[cluster.Shape](), "Shape", func(path string, change func(shape reflect.Value)) {
		shape := cluster.Shape{}
		change(reflect.ValueOf(&shape).Elem())
		text := RulesText(&shape)
		if strings.HasPrefix(path, "Shape.Requests") || path == "Shape.Priority" {
			if text != RulesText(&cluster.Shape{}) {
				t.Errorf("a shape with %s has rules of its own: %q", path, text)
			}
			return
		}
		if other, taken := seen[text]; taken {
			t.Errorf("a shape with %s has the rules of one with %s: %q", path, other, text)
		}
		seen[text] = path
	})
	if len(seen) < 30 {
		t.Errorf("only %d fields were tried", len(seen))
	}
}
