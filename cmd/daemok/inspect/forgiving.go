package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// troubles are what could not be read, each once, and the way out.
type troubles struct {
	mu   sync.Mutex
	said []string
}

func (t *troubles) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(t.said, text) {
		t.said = append(t.said, text)
	}
}

// Write implements io.Writer: each line is a trouble.
func (t *troubles) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		t.add("%s", strings.TrimSpace(line))
	}
	return len(p), nil
}

// list are all, in the order in which they came.
func (t *troubles) list() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.said)
}

// forgiving reads what its user may read: of objects that they may not list, and of kinds that the cluster does not
// have, it finds none, and says so.
type forgiving struct {
	client.Client
	namespace string // of the controller
	troubles  *troubles
}

// List implements client.Reader.
func (f forgiving) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := f.Client.List(ctx, list, options...)
	switch {
	case apierrors.IsForbidden(err):
		f.troubles.add("You may not list %s: grant the verb list on them to see them.", resourceOf(f.Client, list))
	case meta.IsNoMatchError(err):
		f.troubles.add("The cluster has no %s: the CustomResourceDefinitions of Karpenter or Daemok are not installed.", resourceOf(f.Client, list))
	default:
		return err
	}
	return nil
}

// resourceOf names the resource of a list as RBAC does: "nodeclaims.karpenter.sh".
func resourceOf(c client.Client, list client.ObjectList) string {
	kind, err := apiutil.GVKForObject(list, c.Scheme())
	if err != nil {
		return fmt.Sprintf("%T", list)
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	return groupResource(resource)
}

func groupResource(r schema.GroupVersionResource) string { return r.GroupResource().String() }
