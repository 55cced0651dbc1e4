package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/daemok/daemok/kube/api"
	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
)

// troubles are what could not be read, and the way out: one of each source.
type troubles struct {
	mu   sync.Mutex
	said []trouble
}

type trouble struct{ source, text string }

// add notes what will not pass, once.
func (t *troubles) add(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	t.set(text, text)
}

// set notes how it went to read a source the last time; empty: well.
func (t *troubles) set(source, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.IndexFunc(t.said, func(s trouble) bool { return s.source == source })
	switch {
	case at >= 0 && text == "":
		t.said = slices.Delete(t.said, at, at+1)
	case at >= 0:
		t.said[at].text = text
	case text != "":
		t.said = append(t.said, trouble{source, text})
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
	out := make([]string, len(t.said))
	for i := range t.said {
		out[i] = t.said[i].text
	}
	return out
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
	case meta.IsNoMatchError(err) && isOptional(list):
	case meta.IsNoMatchError(err):
		f.troubles.add("The cluster has no %s: the CustomResourceDefinitions of Karpenter or Daemok are not installed.", resourceOf(f.Client, list))
	default:
		return err
	}
	return nil
}

// Get implements client.Reader.
func (f forgiving) Get(
	ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption,
) error {
	return said(f.troubles, key, f.Client.Get(ctx, key, into, options...))
}

// said returns the error of reading an object, and says that listed commitments may not be read.
func said(in *troubles, key client.ObjectKey, err error) error {
	if apierrors.IsForbidden(err) && key.Name == api.ConfigMapCommitments {
		in.add("You may not get ConfigMap %s, so commitments that it lists are left out here: "+
			"get the verb get on it.", key)
	}
	return err
}

// isOptional reports whether a list is of a kind that many clusters do not have: other projects install it, or
// Karpenter did before it had the kind.
func isOptional(list client.ObjectList) bool {
	switch list.(type) {
	case *vpav1.VerticalPodAutoscalerList, *v1alpha1.NodeOverlayList, *v1beta1.CapacityQuotaList,
		*v1beta1.CapacityBufferList, *autoscalingv1.ProvisioningRequestList:
		return true
	}
	return false
}

// lenient reads for a plan: of objects that its user may not list it finds none, and says so, but for those without which
// there is no plan.
type lenient struct {
	client.Client
	unread *troubles
}

// List implements client.Reader.
func (l lenient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := l.Client.List(ctx, list, options...)
	if !apierrors.IsForbidden(err) {
		return err
	}
	what := resourceOf(l.Client, list)
	switch list.(type) {
	case *corev1.PodList, *corev1.NodeList, *karpv1.NodeClaimList, *karpv1.NodePoolList:
		return fmt.Errorf("a plan needs to know all %s: get the verb list on them (%w)", what, err)
	}
	l.unread.add("You may not list %s, so the plan is made as if there were none: get the verb list on them.", what)
	return nil
}

// Get implements client.Reader.
func (l lenient) Get(
	ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption,
) error {
	return said(l.unread, key, l.Client.Get(ctx, key, into, options...))
}

// resourceOf names the resource of a list as RBAC does: "nodeclaims.karpenter.sh".
func resourceOf(c client.Client, list client.ObjectList) string {
	kind, err := apiutil.GVKForObject(list, c.Scheme())
	if err != nil {
		return fmt.Sprintf("%T", list)
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	if known, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version); err == nil {
		return groupResource(known.Resource)
	}
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	return groupResource(resource)
}

func groupResource(r schema.GroupVersionResource) string { return r.GroupResource().String() }
