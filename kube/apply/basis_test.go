package apply

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// lastSeen is what the watches have shown of pools.
type lastSeen map[cluster.PoolID]translate.PoolObject

func (l lastSeen) Pool(id cluster.PoolID) (translate.PoolObject, bool) {
	o, known := l[id]
	return o, known
}

// planned is a snapshot with these pools, as a cluster state makes it.
func planned(t *testing.T, pools lastSeen) *cluster.Snapshot {
	t.Helper()
	return world(func(s *cluster.Snapshot) {
		s.Pools = nil
		for _, o := range pools {
			p, err := translate.Pool(o, 0, start)
			if err != nil {
				t.Fatal(err)
			}
			s.Pools = append(s.Pools, p)
		}
	})
}

func nodePool() *karpv1.NodePool {
	p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100")}
	p.Spec.Template.Spec = karpv1.NodeClaimTemplateSpec{
		NodeClassRef: karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "default"},
		Requirements: []karpv1.Requirement{{Key: api.LabelArch, Operator: "In", Values: []string{"amd64"}}},
	}
	condition.SetTrue(p, karpv1.NodePoolValidationSucceeded, start)
	return p
}

// TestALaunchIsDroppedWhereItsPoolChanged: between the snapshot that a plan was
// made from and the claim, users change pools. No claim has the decision of one
// pool and the template of another; a new plan is asked for.
func TestALaunchIsDroppedWhereItsPoolChanged(t *testing.T) {
	tests := map[string]struct {
		change  func(p *karpv1.NodePool) // nil: it is gone
		dropped bool
	}{
		"nothing changed":        {func(*karpv1.NodePool) {}, false},
		"it is gone":             {nil, true},
		"it is being deleted":    {func(p *karpv1.NodePool) { p.DeletionTimestamp = &metav1.Time{Time: start} }, true},
		"it is not valid":        {func(p *karpv1.NodePool) { p.Status.Conditions = nil }, true},
		"it has other rules":     {func(p *karpv1.NodePool) { p.Spec.Template.Spec.Requirements[0].Values = []string{"arm64"} }, true},
		"it has a rule too many": {func(p *karpv1.NodePool) { p.Spec.Template.Spec.Requirements[0].Operator = "Near" }, true},
		"it has a new label":     {func(p *karpv1.NodePool) { p.Spec.Template.Metadata.Labels = map[string]string{"team": "a"} }, true},
		"it has another class":   {func(p *karpv1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Name = "other" }, true},
		"it has a taint": {func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "a", Effect: "NoSchedule"}}
		}, true},
		"it has a startup taint": {func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "a", Effect: "NoSchedule"}}
		}, true},
		"it has lower limits":      {func(p *karpv1.NodePool) { p.Spec.Limits[corev1.ResourceCPU] = resource.MustParse("1") }, true},
		"it has a floor":           {func(p *karpv1.NodePool) { p.Annotations = map[string]string{api.AnnotationMinCPU: "4"} }, true},
		"its floor cannot be read": {func(p *karpv1.NodePool) { p.Annotations = map[string]string{api.AnnotationMinCPU: "x"} }, true},
		"its machines cost more":   {func(p *karpv1.NodePool) { p.Annotations = map[string]string{api.AnnotationInstanceCost: "1"} }, false},
		"it has another weight":    {func(p *karpv1.NodePool) { p.Spec.Weight = new(int32(5)) }, false},
		"its claims carry more":    {func(p *karpv1.NodePool) { p.Spec.Template.Metadata.Annotations = map[string]string{"a": "b"} }, false},
		"its budgets changed":      {func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "0"}} }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := karpv1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			store, again := fake.NewClientBuilder().WithScheme(scheme).Build(), 0
			seen := lastSeen{poolID: translate.FromNodePool(nodePool())}
			a := &Applier{
				Store: store, Live: store, Ledger: &Ledger{}, Pools: seen, Again: func() { again++ },
				Now: func() time.Time { return start.Add(time.Minute) }, NewID: func() string { return "abcde" },
			}
			s := planned(t, seen)
			delete(seen, poolID)
			if tt.change != nil {
				p := nodePool()
				tt.change(p)
				seen[poolID] = translate.FromNodePool(p)
			}
			err := a.Launch(t.Context(), s, plan.Plan{Launches: []plan.Launch{{Pool: poolID}}})[0].Err
			var claims karpv1.NodeClaimList
			if err := store.List(t.Context(), &claims); err != nil {
				t.Fatal(err)
			}
			if dropped := errors.Is(err, ErrPoolChanged); dropped != tt.dropped || !dropped && err != nil {
				t.Errorf("the launch ended with %v, want it dropped %v", err, tt.dropped)
			}
			want := 1
			if tt.dropped {
				want = 0
			}
			if orders := len(a.Ledger.Project(s).Instances); len(claims.Items) != want || orders != want || again != 1-want {
				t.Errorf("%d claims, %d orders in the ledger, a new plan asked for %d times; want %d, %d, %d", len(claims.Items), orders, again, want, want, 1-want)
			}
		})
	}
}
