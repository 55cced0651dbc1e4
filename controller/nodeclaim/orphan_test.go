package nodeclaim

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/store"
)

// SC-240: an instance whose pool was deleted meanwhile joins, starts and, where its
// node does not come, is given up like any other.
func TestAClaimWhosePoolIsGone(t *testing.T) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	now := noon
	conn := store.New(s, func() time.Time { return now }).Connect(nil)
	launched := func(name string) {
		c := &karpv1.NodeClaim{Spec: store.ClaimSpec(),
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelNodePool: "gone"},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: karpv1.GroupVersion.String(), Kind: "NodePool",
					Name: "gone", UID: "gone"}}}}
		c.Status.ProviderID = "aws:///a/i-" + name
		if err := conn.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	launched("comes")
	launched("lost")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"},
		Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-comes", Taints: []corev1.Taint{fresh}}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := conn.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	var ended []string
	r := &Reconciler{
		Store: conn, Live: conn, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), Events: &heard{},
		Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", ""),
		Health: func(c *karpv1.NodeClaim, registered bool) {
			ended = append(ended, map[bool]string{true: c.Name + " came", false: c.Name + " did not come"}[registered])
		},
	}
	look := func() (again time.Duration) {
		t.Helper()
		for _, name := range []string{"comes", "lost"} {
			var err error
			if again, err = r.Reconcile(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		return again
	}
	lost := &karpv1.NodeClaim{}
	says := func(late bool) {
		t.Helper()
		if err := conn.Get(t.Context(), client.ObjectKey{Name: "lost"}, lost); err != nil {
			t.Fatal(err)
		}
		joined := condition.Get(lost, karpv1.ClaimRegistered)
		if joined.Status != metav1.ConditionUnknown || strings.Contains(joined.Message, "aws-auth") != late {
			t.Errorf("%v after it was bought the claim says %+v; it says what may be wrong: want %v", now.Sub(noon),
				joined, late)
		}
	}
	again := look()
	says(false)
	now = noon.Add(again)
	again = look()
	says(true)
	now = now.Add(again)
	if now != noon.Add(registerFor) {
		t.Errorf("it is looked at again %v after it was bought, want %v", now.Sub(noon), registerFor)
	}
	doubt := "the clock is an hour ahead"
	r.Doubt = func() string { return doubt }
	look()
	if err := conn.Get(t.Context(), client.ObjectKey{Name: "lost"}, lost); err != nil || lost.DeletionTimestamp != nil {
		t.Errorf("the claim is given up by a clock in doubt (%v)", err)
	}
	doubt = ""
	look()
	came := &karpv1.NodeClaim{}
	if err := conn.Get(t.Context(), client.ObjectKey{Name: "comes"}, came); err != nil {
		t.Fatal(err)
	}
	if !condition.IsTrue(came, karpv1.ClaimRegistered) || !condition.IsTrue(came, karpv1.ClaimInitialized) {
		t.Errorf("conditions %+v, want that it has joined and started", came.Status.Conditions)
	}
	if err := conn.Get(t.Context(), client.ObjectKey{Name: "lost"}, lost); err != nil || lost.DeletionTimestamp == nil {
		t.Errorf("the claim whose node does not come stays (%v)", err)
	}
	if got := strings.Join(ended, ", "); got != "comes came, lost did not come" {
		t.Errorf("told: %s", got)
	}
}
