package apply

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/core/plan"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// nodeWithPod is a cluster of one node of ours, n with claim c, to which a pod
// has come since the plan was made. patches is asked before each write.
func nodeWithPod(t *testing.T, patches func() error) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(s).WithObjects(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: corev1.PodSpec{NodeName: "n"}},
	).WithStatusSubresource(&karpv1.NodeClaim{}).WithIndex(&corev1.Pod{}, indexNodeName, func(o client.Object) []string {
		return []string{o.(*corev1.Pod).Spec.NodeName}
	}).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := patches(); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
	}).Build()
}

// ears hear how moves end.
type ears func(Ended)

func (ears) Replacing(plan.Move, Launched) {}
func (ears) Stuck(plan.Move, error)        {}
func (e ears) Moved(ended Ended)           { e(ended) }

// TestAKeptNodeLosesItsTaint: whatever stands in the way of the write, a node
// that stays after all is open to pods again.
func TestAKeptNodeLosesItsTaint(t *testing.T) {
	tests := map[string]func(write int) error{
		"when nothing is in the way": func(int) error { return nil },
		"when its kubelet writes at the same time": func(write int) error {
			if write == 1 || write == 3 {
				return apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, "n", errors.New("changed"))
			}
			return nil
		},
		"when the API server is away for a minute": func(write int) error {
			if write > 1 && write < 12 {
				return apierrors.NewServiceUnavailable("restarting")
			}
			return nil
		},
	}
	for name, trouble := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				write := 0
				store := nodeWithPod(t, func() error { write++; return trouble(write) })
				a := &Applier{Serves: translate.Generations{translate.NodePools()}, Store: store, Live: store, Ledger: &Ledger{}, Now: time.Now, Again: func() {}}
				var ended error
				a.Move(t.Context(), nil, plan.Plan{Moves: []plan.Move{{Removals: []plan.Removal{{Node: "n", Claim: "c"}}}}}, ears(func(e Ended) { ended = e.Err }))
				a.Wait()
				if !errors.Is(ended, ErrChanged) {
					t.Errorf("the removal ended with %v, want that a pod came", ended)
				}
				node := &corev1.Node{}
				if err := store.Get(t.Context(), client.ObjectKey{Name: "n"}, node); err != nil {
					t.Fatal(err)
				}
				if len(node.Spec.Taints) > 0 || write < 2 {
					t.Errorf("after %d writes the node carries %v, want no taint", write, node.Spec.Taints)
				}
			})
		})
	}
}

// TestAMoveOutlivesFailedWrites: nodes are closed as soon as the API server takes
// that again, within a minute; what it refuses is not asked for again.
func TestAMoveOutlivesFailedWrites(t *testing.T) {
	away := apierrors.NewServiceUnavailable("restarting")
	tests := map[string]struct {
		trouble error
		until   time.Duration
		want    error // ErrChanged: the node was closed, and a pod found on it
	}{
		"when the API server is away for half a minute": {trouble: away, until: 30 * time.Second, want: ErrChanged},
		"not when it is away for longer":                {trouble: away, until: 2 * time.Minute, want: away},
		"not when it refuses": {trouble: apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n", errors.New("no")), until: time.Second / 2,
			want: apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n", errors.New("no"))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				store := nodeWithPod(t, func() error {
					if time.Since(began) < tt.until {
						return tt.trouble
					}
					return nil
				})
				a := &Applier{Serves: translate.Generations{translate.NodePools()}, Store: store, Live: store, Ledger: &Ledger{}, Now: time.Now, Again: func() {}}
				var ended error
				a.Move(t.Context(), nil, plan.Plan{Moves: []plan.Move{{Removals: []plan.Removal{{Node: "n", Claim: "c"}}}}}, ears(func(e Ended) { ended = e.Err }))
				a.Wait()
				if errors.Is(ended, ErrChanged) != errors.Is(tt.want, ErrChanged) || !errors.Is(tt.want, ErrChanged) && apierrors.ReasonForError(ended) != apierrors.ReasonForError(tt.want) {
					t.Errorf("the move ended with %v, want %v", ended, tt.want)
				}
			})
		})
	}
}
