package move_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/migrate/move"
	"github.com/daemok/daemok/test/store"
)

const namespace = "kube-system"

// town is a cluster with a Provisioner, and a controller that does its part whenever the
// mover waits.
type town struct {
	t        *testing.T
	server   *store.Server
	hand     *store.Connection
	plan     move.Plan
	waits    int
	reported []string

	refuses string // why the controller takes nothing over; empty: it does
}

var errKilled = errors.New("killed")

func newTown(t *testing.T) *town {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme, awsv1.AddToScheme, v1alpha5.AddToScheme, awsv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	x := &town{t: t, server: store.New(s, time.Now)}
	x.hand = x.server.Connect(nil)
	template := &awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	template.Spec.SubnetSelector = awsv1alpha1.Selector{"a": {Value: "b"}}
	template.Spec.SecurityGroupSelector = template.Spec.SubnetSelector
	older := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"team": "web"}}}
	older.Spec.Labels = map[string]string{"tier": "a"}
	condition.Set(older, "Ready", metav1.ConditionTrue, "Ready", "", time.Now())
	x.create(template, older)
	for i, name := range []string{"a", "b", "c"} {
		claim := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: "default-" + name, Labels: map[string]string{api.LabelProvisioner: "default"}, Finalizers: []string{api.FinalizerTermination}}}
		claim.Status.ProviderID = "aws:///z/i-" + name
		if i < 2 {
			x.join(claim)
		}
		x.create(claim)
	}
	x.create(node("found")) // of no claim
	x.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: corev1.NodeSpec{ProviderID: "aws:///z/i-other"}})
	newer := &karpv1.NodePool{TypeMeta: metav1.TypeMeta{APIVersion: karpv1.GroupVersion.String(), Kind: "NodePool"}, ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: store.PoolSpec()}
	class := &awsv1.EC2NodeClass{TypeMeta: metav1.TypeMeta{APIVersion: awsv1.GroupVersion.String(), Kind: "EC2NodeClass"}, ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	class.Spec.InstanceProfile = new("nodes")
	class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	class.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-1"}}
	class.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{ID: "sg-1"}}
	x.plan = move.Plan{Older: []client.Object{older, template}, Newer: []client.Object{class, newer}}
	return x
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelProvisioner: "default"}}, Spec: corev1.NodeSpec{ProviderID: "aws:///z/i-" + name}}
}

func (x *town) create(objects ...client.Object) {
	x.t.Helper()
	for _, o := range objects {
		if err := x.hand.Create(context.Background(), o); err != nil {
			x.t.Fatal(err)
		}
	}
}

// join gives a claim its node.
func (x *town) join(c *karpv1.NodeClaim) {
	n := node(strings.TrimPrefix(c.Name, "default-"))
	n.Annotations = map[string]string{api.AnnotationDoNotConsolidate: "true"}
	n.OwnerReferences = []metav1.OwnerReference{{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: c.Name, UID: "x"}}
	x.create(n)
	condition.SetTrue(c, karpv1.ClaimLaunched, time.Now())
	condition.SetTrue(c, karpv1.ClaimRegistered, time.Now())
}

// list fills a list.
func list[L client.ObjectList](x *town, l L) L {
	x.t.Helper()
	if err := x.hand.List(context.Background(), l); err != nil {
		x.t.Fatal(err)
	}
	return l
}

// edit writes what changed, of the object or of its status.
func (x *town) edit(o client.Object, status bool, change func()) {
	x.t.Helper()
	before := o.DeepCopyObject().(client.Object)
	change()
	var err error
	if status {
		err = x.hand.Status().Patch(context.Background(), o, client.MergeFrom(before))
	} else {
		err = x.hand.Patch(context.Background(), o, client.MergeFrom(before))
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// pause has the controller act.
func (x *town) pause(context.Context, time.Duration) error {
	if x.waits++; x.waits > 100 {
		return errors.New("waits for ever: " + strings.Join(x.reported, "; "))
	}
	for _, p := range list(x, &karpv1.NodePoolList{}).Items {
		x.edit(&p, true, func() { condition.Set(&p, "Ready", metav1.ConditionTrue, "Ready", "", time.Now()) })
	}
	for _, p := range list(x, &v1alpha5.ProvisionerList{}).Items {
		x.edit(&p, true, func() { condition.Set(&p, "Ready", metav1.ConditionTrue, "Ready", "", time.Now()) })
	}
	claims := list(x, &karpv1.NodeClaimList{}).Items
	for i := range claims {
		c := &claims[i]
		switch {
		case c.Name == "default-c" && x.waits > 1 && !condition.IsTrue(c, karpv1.ClaimRegistered):
			x.edit(c, true, func() { x.join(c) })
		case translate.Adopts(c) && c.Status.ProviderID == "":
			x.takeOver(c)
		}
	}
	for _, c := range list(x, &karpv1.NodeClaimList{}).Items {
		x.release(&c)
	}
	return nil
}

// release lets the claim go that had a claim's instance before.
func (x *town) release(c *karpv1.NodeClaim) {
	from := &karpv1.NodeClaim{}
	name := c.Annotations[api.AnnotationAdoptFrom]
	if name == "" || !condition.IsTrue(c, karpv1.ClaimRegistered) || x.hand.Get(context.Background(), client.ObjectKey{Name: name}, from) != nil {
		return
	}
	if from.Annotations[api.AnnotationAdoptFrom] == c.Name {
		x.t.Errorf("claims %s and %s are to yield a machine to each other", c.Name, name)
	}
	x.edit(from, false, func() { from.Finalizers = nil })
	if err := x.hand.Delete(context.Background(), from); err != nil {
		x.t.Fatal(err)
	}
}

// takeOver links a claim with the instance that it asks for.
func (x *town) takeOver(c *karpv1.NodeClaim) {
	if x.refuses != "" {
		x.edit(c, true, func() {
			condition.SetUnknown(c, karpv1.ClaimLaunched, karpv1.ReasonNotAdopted, x.refuses, time.Now())
		})
		return
	}
	nodes := list(x, &corev1.NodeList{}).Items
	at := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Spec.ProviderID == c.Annotations[api.AnnotationAdopt] })
	n := &nodes[at]
	x.edit(n, false, func() {
		for key, value := range c.Labels {
			n.Labels[key] = value
		}
	})
	x.edit(c, true, func() {
		c.Status.ProviderID, c.Status.NodeName = n.Spec.ProviderID, n.Name
		condition.SetTrue(c, karpv1.ClaimLaunched, time.Now())
		condition.SetTrue(c, karpv1.ClaimRegistered, time.Now())
	})
}

// mover dies at its nth write, before or after it has effect; 0: never.
func (x *town) mover(dies int, after bool) (m *move.Mover, writes *int) {
	writes = new(int)
	store := x.server.Connect(func(c store.Call) (error, error) {
		if c.Writes() {
			*writes++
		}
		switch {
		case dies == 0 || *writes < dies:
			return nil, nil
		case after && *writes == dies && c.Writes():
			return nil, errKilled
		}
		return errKilled, nil
	})
	return &move.Mover{Store: store, Namespace: namespace, Pause: x.pause, Report: func(line string) { x.reported = append(x.reported, line) }}, writes
}

// is reports what there is: pools, nodes with their claims and labels, and what stands of the move.
func (x *town) is() string {
	var out []string
	for _, p := range list(x, &v1alpha5.ProvisionerList{}).Items {
		out = append(out, fmt.Sprintf("Provisioner %s %v %v", p.Name, p.Labels, p.Spec.Labels))
	}
	for _, o := range list(x, &awsv1alpha1.AWSNodeTemplateList{}).Items {
		out = append(out, "AWSNodeTemplate "+o.Name)
	}
	for _, p := range list(x, &karpv1.NodePoolList{}).Items {
		out = append(out, "NodePool "+p.Name)
	}
	for _, o := range list(x, &awsv1.EC2NodeClassList{}).Items {
		out = append(out, "EC2NodeClass "+o.Name)
	}
	claims := list(x, &karpv1.NodeClaimList{}).Items
	for _, n := range list(x, &corev1.NodeList{}).Items {
		line := "node " + n.Name + " of " + translate.PoolOfNode(&n).String()
		for _, c := range claims {
			if c.Status.ProviderID == n.Spec.ProviderID {
				line += ", claimed by one of " + translate.PoolOf(&c).String()
			}
		}
		if n.Annotations[api.AnnotationDoNotDisrupt] == "true" {
			line += ", protected"
		}
		out = append(out, line)
	}
	for _, c := range list(x, &corev1.ConfigMapList{}).Items {
		out = append(out, "ConfigMap "+c.Name+" "+c.Data["step"])
	}
	return strings.Join(out, "\n")
}

const moved = `NodePool default
EC2NodeClass default
node a of NodePool/default, claimed by one of NodePool/default, protected
node b of NodePool/default, claimed by one of NodePool/default, protected
node c of NodePool/default, claimed by one of NodePool/default, protected
node found of NodePool/default, claimed by one of NodePool/default
node other of /
ConfigMap daemok-migration done`

// After a rollback a node that had no claim has a claim.
const back = `Provisioner default map[team:web] map[tier:a]
AWSNodeTemplate default
node a of Provisioner/default, claimed by one of Provisioner/default
node b of Provisioner/default, claimed by one of Provisioner/default
node c of Provisioner/default, claimed by one of Provisioner/default
node found of Provisioner/default, claimed by one of Provisioner/default
node other of /`

// A move, the first and any later, ends with every node of the Provisioner in the NodePool, those that join
// meanwhile and those without a claim among them, and nothing of the v1alpha5 API; rolled back all is the
// Provisioner's again.
func TestAClusterIsMovedAndBack(t *testing.T) {
	x := newTown(t)
	m, _ := x.mover(0, false)
	if kept, err := m.Apply(t.Context(), x.plan); err != nil || len(kept) > 0 {
		t.Fatal(kept, err)
	}
	if got := x.is(); got != moved {
		t.Errorf("moved it is\n%s\nwant\n%s", got, moved)
	}
	if begun, done, err := m.Begun(t.Context()); !begun || !done || err != nil {
		t.Errorf("moved it is begun %t and done %t, %v", begun, done, err)
	}
	if _, err := m.Apply(t.Context(), x.plan); err == nil || !strings.Contains(err.Error(), "the move is done") {
		t.Errorf("to move again gives %v", err)
	}
	if err := m.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := x.is(); got != back {
		t.Errorf("back it is\n%s\nwant\n%s", got, back)
	}
	if err := m.Rollback(t.Context()); err == nil || !strings.Contains(err.Error(), "no move was begun") {
		t.Errorf("to go back again gives %v", err)
	}
	if _, err := m.Apply(t.Context(), x.plan); err != nil || x.is() != moved {
		t.Errorf("moved again (%v) it is\n%s", err, x.is())
	}
}

// Pools whose status the controller writes in the moment in which they are deleted go all the same.
func TestPoolsThatAreWrittenToMeanwhileGo(t *testing.T) {
	x := newTown(t)
	written := map[string]bool{}
	m := &move.Mover{Namespace: namespace, Pause: x.pause, Report: func(string) {}, Store: x.server.Connect(func(c store.Call) (error, error) {
		if c.Verb == store.Delete && !written[c.Kind] {
			written[c.Kind] = true
			for _, p := range list(x, &v1alpha5.ProvisionerList{}).Items {
				x.edit(&p, true, func() { condition.Set(&p, "Looked", metav1.ConditionTrue, "At", "", time.Now()) })
			}
			for _, p := range list(x, &karpv1.NodePoolList{}).Items {
				x.edit(&p, true, func() { condition.Set(&p, "Looked", metav1.ConditionTrue, "At", "", time.Now()) })
			}
		}
		return nil, nil
	})}
	if _, err := m.Apply(t.Context(), x.plan); err != nil || x.is() != moved {
		t.Errorf("moved (%v) it is\n%s", err, x.is())
	}
	if err := m.Rollback(t.Context()); err != nil || x.is() != back {
		t.Errorf("back (%v) it is\n%s", err, x.is())
	}
	if !written["Provisioner"] || !written["NodePool"] {
		t.Errorf("written to were %v", written)
	}
}

// isBack reports whether all is the Provisioner's. A node that had no claim may have a claim or
// none, and one may have joined or not.
func isBack(is string) bool {
	for line := range strings.Lines(is) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), ", protected")
		if !strings.Contains(back, line) {
			return false
		}
	}
	return strings.HasPrefix(is, "Provisioner default map[team:web] map[tier:a]\nAWSNodeTemplate default\n") &&
		strings.Contains(is, "node a of Provisioner/default, claimed") && strings.Contains(is, "node b of Provisioner/default, claimed")
}

// Killed at any write, before or after it has effect, a move goes on to the same end, or
// back to where it began; and so does a rollback.
func TestAMoveKilledAtAnyWriteGoesOnOrBack(t *testing.T) {
	for n := 1; ; n++ {
		hit := false
		for _, after := range []bool{false, true} {
			for _, then := range []string{"on", "back", "killed on the way back"} {
				x := newTown(t)
				doomed, writes := x.mover(n, after)
				whole, _ := x.mover(0, false)
				if then == "killed on the way back" {
					if _, err := whole.Apply(t.Context(), x.plan); err != nil {
						t.Fatal(err)
					}
					if err := doomed.Rollback(t.Context()); err != nil && !errors.Is(err, errKilled) {
						t.Fatal(err)
					}
				} else if _, err := doomed.Apply(t.Context(), x.plan); err != nil && !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				if *writes < n {
					continue
				}
				hit = true
				begun, _, err := whole.Begun(t.Context())
				switch {
				case err != nil:
				case then == "on":
					if _, err = whole.Apply(t.Context(), x.plan); err != nil && strings.Contains(err.Error(), "the move is done") {
						err = nil
					}
				case begun:
					err = whole.Rollback(t.Context())
				}
				got := x.is()
				if err != nil || then == "on" && got != moved || then != "on" && !isBack(got) {
					t.Errorf("killed at write %d, after it %v, then %s: %v\n%s", n, after, then, err, got)
				}
			}
		}
		if !hit {
			if n < 15 {
				t.Errorf("there were %d writes: what is tested?", n-1)
			}
			return
		}
	}
}

// Provisioners whose nodes pods select stay, with their templates, until the pods say
// otherwise; then the move is finished.
func TestProvisionersThatPodsSelectStay(t *testing.T) {
	x := newTown(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.PodSpec{
		NodeSelector: map[string]string{api.LabelProvisioner: "default"}, Containers: []corev1.Container{{Name: "web"}}}}
	x.create(pod)
	m, _ := x.mover(0, false)
	kept, err := m.Apply(t.Context(), x.plan)
	if err != nil || !slices.Equal(kept, []string{"default"}) {
		t.Fatalf("kept %v, %v", kept, err)
	}
	if got := x.is(); !strings.HasPrefix(got, "Provisioner default map[team:web] map[tier:a]\nAWSNodeTemplate default\nNodePool default\n") || strings.Contains(got, "of Provisioner/default") ||
		!strings.HasSuffix(got, "ConfigMap daemok-migration waits for pods that select nodes of Provisioners: default") {
		t.Errorf("it is\n%s", got)
	}
	if err := x.hand.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if kept, err := m.Apply(t.Context(), x.plan); err != nil || len(kept) > 0 || x.is() != moved {
		t.Errorf("kept %v, %v:\n%s", kept, err, x.is())
	}
}

// A move is not begun, and nothing is changed, where it could not be carried out.
func TestAMoveIsNotBegun(t *testing.T) {
	tests := map[string]struct {
		before func(x *town, older *v1alpha5.Provisioner)
		says   string
	}{
		"where a pool has the name": {func(x *town, _ *v1alpha5.Provisioner) {
			x.create(&karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: store.PoolSpec()})
		}, "NodePool default is there already and is not of this move"},
		"where nobody looks after the pools": {func(_ *town, p *v1alpha5.Provisioner) { p.Status.Conditions = nil }, "Provisioner default: no controller has reconciled it"},
		"where a pool cannot have nodes": {func(_ *town, p *v1alpha5.Provisioner) {
			condition.Set(p, "NodeClassReady", metav1.ConditionFalse, "SubnetsNotFound", "no subnet", time.Now())
			condition.Set(p, "Ready", metav1.ConditionFalse, "UnhealthyDependents", "NodeClassReady=False", time.Now())
		}, "Provisioner default is not ready: no subnet: mend it, or delete it"},
		"where the record would not hold all": {func(_ *town, p *v1alpha5.Provisioner) {
			p.Spec.Annotations = map[string]string{"notes": strings.Repeat("x", 1<<20)}
		}, "convert them by files"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			x := newTown(t)
			tt.before(x, x.plan.Older[0].(*v1alpha5.Provisioner))
			was := x.is()
			m, writes := x.mover(0, false)
			if err := m.Check(t.Context(), x.plan); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Check = %v, want %q", err, tt.says)
			}
			_, err := m.Apply(t.Context(), x.plan)
			if err == nil || !strings.Contains(err.Error(), "nothing was changed") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Apply = %v, want %q", err, tt.says)
			}
			if *writes > 0 || x.is() != was {
				t.Errorf("there were %d writes, and it is\n%s", *writes, x.is())
			}
		})
	}
}

// withoutKinds is a cluster whose definitions were deleted.
type withoutKinds struct{ client.Client }

func (withoutKinds) RESTMapper() apimeta.RESTMapper { return apimeta.NewDefaultRESTMapper(nil) }

// A rollback is not begun, and nothing is frozen, where the older kinds are gone.
func TestARollbackWantsTheOlderKinds(t *testing.T) {
	x := newTown(t)
	m, _ := x.mover(0, false)
	if _, err := m.Apply(t.Context(), x.plan); err != nil {
		t.Fatal(err)
	}
	m.Store = withoutKinds{m.Store}
	if err := m.Rollback(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing was changed") || x.is() != moved {
		t.Errorf("Rollback = %v, and it is\n%s", err, x.is())
	}
}

// What does not hold any more ends a move with the way out, and nothing is deleted.
func TestAMoveStopsWhereItMust(t *testing.T) {
	tests := map[string]struct {
		before func(x *town)
		says   string
	}{
		"at machines that cannot be taken over": {func(x *town) { x.refuses = "the machine is stopped" }, "the machine is stopped\nmend that and repeat, or go back by --rollback"},
		"at an older object that was changed": {func(x *town) {
			var p v1alpha5.Provisioner
			if err := x.hand.Get(context.Background(), client.ObjectKey{Name: "default"}, &p); err != nil {
				x.t.Fatal(err)
			}
			x.edit(&p, false, func() { p.Spec.Weight = new(int32(7)) })
		}, "Provisioner default was changed since the move began"},
		"at an older object that lost a field": {func(x *town) {
			var p v1alpha5.Provisioner
			if err := x.hand.Get(context.Background(), client.ObjectKey{Name: "default"}, &p); err != nil {
				x.t.Fatal(err)
			}
			x.edit(&p, false, func() { p.Spec.Labels = nil })
		}, "Provisioner default was changed since the move began"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			x := newTown(t)
			tt.before(x)
			m, _ := x.mover(0, false)
			if _, err := m.Apply(t.Context(), x.plan); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Apply = %v, want %q", err, tt.says)
			}
			if got := x.is(); !strings.HasPrefix(got, "Provisioner default") || !strings.Contains(got, "ConfigMap daemok-freeze") {
				t.Errorf("it is\n%s", got)
			}
		})
	}
}
