package catchup

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
)

// A watch that was broken shows that an object was deleted and another made under its name
// as one update. The one that is gone is not waited for.
func TestAnObjectThatTookTheNameOfAnotherIsCaughtUpWith(t *testing.T) {
	s := Progress{}
	h := s.Recording(Nodes, toolscache.ResourceEventHandlerFuncs{})
	was := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "1", ResourceVersion: "5"}}
	is := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "2", ResourceVersion: "9"}}
	h.OnAdd(was, true)
	h.OnUpdate(was, is)
	s.begin()
	if n := s.behind(&listed{kind: Nodes, at: 10, objects: map[types.UID]uint64{"2": 9}}); n != 0 {
		t.Errorf("the watch is said to be %d nodes behind, want that it shows what there is", n)
	}
}
