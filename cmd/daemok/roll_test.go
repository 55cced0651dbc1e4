package main

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/access/kubectl"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// A roll says what keeps the nodes from going now: a freeze as well as a pause.
func TestARollSaysWhatKeepsNodes(t *testing.T) {
	s, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	hand := store.New(s, func() time.Time { return time.Now().Add(-time.Hour) }).Connect(nil) // all was made an hour ago
	create := func(objects ...client.Object) {
		t.Helper()
		for _, o := range objects {
			if err := hand.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	reported := func(f rollFlags) string {
		t.Helper()
		var out strings.Builder
		if f.form == nil {
			f.form = output.New()
		}
		f.namespace = inspect.NewTarget().SystemNamespace()
		if err := runRoll(t.Context(), hand, &out, []string{"nodepool", "web"}, f); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	labels := map[string]string{api.LabelNodePool: "web", api.LabelRegistered: "true", api.LabelInitialized: "true"}
	claim := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: labels}}
	claim.Status.ProviderID, claim.Status.NodeName = "aws:///a/i-1", "n-1"
	condition.SetTrue(claim, karpv1.ClaimRegistered, time.Now())
	condition.SetTrue(claim, karpv1.ClaimInitialized, time.Now())
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n-1", Labels: labels}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	create(&karpv1.NodePool{Spec: store.PoolSpec(), ObjectMeta: metav1.ObjectMeta{Name: "web"}}, claim, node)

	if got, want := reported(rollFlags{all: true, noWait: true}), "web: 1 to go, 0 going, about 3m0s left\n"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got := reported(rollFlags{pause: true}); !strings.Contains(got, "web: 1 to go, none may now: ") || !strings.Contains(got, "the roll of NodePool/web is paused") {
		t.Errorf("paused it says %q", got)
	}
	create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: inspect.NewTarget().SystemNamespace(), Name: api.ConfigMapFreeze}, Data: map[string]string{api.FreezeReason: "audit"}})
	if got, want := reported(rollFlags{resume: true, noWait: true}), "web: 1 to go, none may now: frozen by ConfigMap kube-system/daemok-freeze: audit\n"; got != want {
		t.Errorf("in a freeze it says %q, want %q", got, want)
	}
	pool := &karpv1.NodePool{}
	if err := hand.Get(t.Context(), client.ObjectKey{Name: "web"}, pool); err != nil {
		t.Fatal(err)
	}
	pool.Annotations[api.AnnotationRoll] = "now"
	if err := hand.Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	if got := reported(rollFlags{status: true}); !strings.HasPrefix(got, "web: no node goes for having drifted, since what was asked for cannot be read: ") || !strings.Contains(got, "--abort") {
		t.Errorf("with an annotation that cannot be read it says %q", got)
	}
	if got, want := reported(rollFlags{abort: true}), "web: nothing is left to replace\n"; got != want {
		t.Errorf("called off it says %q, want %q", got, want)
	}
}

// What is not there is named with what there is.
func TestARollOfWhatIsNotThereNamesWhatIs(t *testing.T) {
	s, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	pool.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "default"}
	store := fake.NewClientBuilder().WithScheme(s).WithRESTMapper(store.Mapper(s)).WithObjects(pool).Build()
	for args, want := range map[string]string{
		"nodepool wep":        "there is no NodePool wep; there are: web",
		"ec2nodeclass defalt": "no pool has nodes of class defalt; classes that pools name: default",
	} {
		err := runRoll(t.Context(), store, &strings.Builder{}, strings.Fields(args), rollFlags{status: true, form: output.New()})
		if err == nil || err.Error() != want {
			t.Errorf("roll %s: %v, want %s", args, err, want)
		}
	}
}

func TestWhatCanBeRolled(t *testing.T) {
	for args, want := range map[string]string{
		"nodepool web": "", "provisioner web": "", "nodeclass default": "", "nodepool.karpenter.sh/web": "",
		"nodepools web": "", "ec2nodeclass.karpenter.k8s.aws/default": "", "awsnodetemplate default": "",
		"nodepool/": "name the nodepool to roll",
		"":          "say what to roll: nodepool, provisioner or nodeclass, and its name",
		"nodepool":  "say what to roll: nodepool, provisioner or nodeclass, and its name",
		"pool web":  `"pool" cannot be rolled: want nodepool, provisioner or nodeclass`,
	} {
		got := ""
		if err := rollable(kubectl.KindAndName(strings.Fields(args))); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("roll %s: %q, want %q", args, got, want)
		}
	}
}
