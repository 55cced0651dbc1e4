package provisioner_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/provisioner"
)

var noon = time.Date(2023, 6, 1, 12, 0, 0, 0, time.UTC)

func newProvisioner(change ...func(*v1alpha5.Provisioner)) *v1alpha5.Provisioner {
	p := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	for _, f := range change {
		f(p)
	}
	condition.SetTrue(p, karpv1.NodePoolValidationSucceeded, noon)
	return p
}

// core is the Provisioner as the core has it.
func core(t *testing.T, p *v1alpha5.Provisioner) cluster.Pool {
	t.Helper()
	pool, err := translate.Pool(provisioner.Pool(p), 10, noon)
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

func TestWhatAProvisionerMeans(t *testing.T) {
	tests := map[string]struct {
		change func(*v1alpha5.Provisioner)
		holds  func(translate.PoolObject, cluster.Pool) bool
	}{
		"nothing said: linux on amd64, on demand, of categories c, m and r above generation 2": {func(*v1alpha5.Provisioner) {}, func(o translate.PoolObject, _ cluster.Pool) bool {
			return slices.EqualFunc(o.Template.Spec.Requirements, []karpv1.Requirement{
				{Key: api.LabelOS, Operator: "In", Values: []string{"linux"}}, {Key: api.LabelArch, Operator: "In", Values: []string{"amd64"}},
				{Key: api.LabelCapacityType, Operator: "In", Values: []string{"on-demand"}}, {Key: api.LabelCategory, Operator: "In", Values: []string{"c", "m", "r"}},
				{Key: api.LabelGeneration, Operator: "Gt", Values: []string{"2"}},
			}, func(a, b karpv1.Requirement) bool { return reflect.DeepEqual(a, b) })
		}},
		"a type that is named takes the place of categories": {func(p *v1alpha5.Provisioner) {
			p.Spec.Requirements = []v1alpha5.Requirement{{Key: "beta.kubernetes.io/instance-type", Operator: "In", Values: []string{"t3.large"}}}
		}, func(o translate.PoolObject, _ cluster.Pool) bool {
			return o.Template.Spec.Requirements[0].Key == api.LabelInstanceType && len(o.Template.Spec.Requirements) == 4
		}},
		"neither TTL nor consolidation: no node goes to save money": {func(*v1alpha5.Provisioner) {}, func(_ translate.PoolObject, p cluster.Pool) bool { return p.Policy.Never }},
		"a TTL: empty nodes alone, any number at once": {func(p *v1alpha5.Provisioner) { p.Spec.TTLSecondsAfterEmpty = new(int64(30)) }, func(_ translate.PoolObject, p cluster.Pool) bool {
			return p.Policy.Consolidate == cluster.WhenEmpty && p.Policy.After == 30*time.Second && p.Policy.Lead == translate.StabilizeFor && !p.Policy.Never && p.Policy.Empty.Most == 10
		}},
		"consolidation: one node at a time, and any number of empty ones": {func(p *v1alpha5.Provisioner) {
			p.Spec.Consolidation = &v1alpha5.Consolidation{Enabled: new(true)}
		}, func(_ translate.PoolObject, p cluster.Pool) bool {
			return p.Policy.Consolidate == cluster.WhenEmptyOrUnderutilized && p.Policy.After == 0 && p.Policy.Underutilized.Most == 1 && p.Policy.Empty.Most == 10
		}},
		"an annotation with another budget": {func(p *v1alpha5.Provisioner) {
			p.Spec.Consolidation, p.Annotations = &v1alpha5.Consolidation{Enabled: new(true)}, map[string]string{api.AnnotationBudgets: "30%"}
		}, func(_ translate.PoolObject, p cluster.Pool) bool {
			return p.Policy.Underutilized.Most == 3 && p.Policy.Drifted.Most == 3
		}},
		"an annotation that is misread leaves what is usual": {func(p *v1alpha5.Provisioner) { p.Annotations = map[string]string{api.AnnotationBudgets: "many"} },
			func(_ translate.PoolObject, p cluster.Pool) bool { return p.Policy.Drifted.Most == 1 }},
		"a time to live: nodes are replaced, and never by force": {func(p *v1alpha5.Provisioner) { p.Spec.TTLSecondsUntilExpired = new(int64(3600)) },
			func(o translate.PoolObject, p cluster.Pool) bool {
				return o.Renew == time.Hour && p.Policy.Renew == time.Hour && o.Template.Spec.ExpireAfter == karpv1.Never
			}},
		"limits written beside resources count": {func(p *v1alpha5.Provisioner) {
			p.Spec.Limits = &v1alpha5.Limits{CPU: new(resource.MustParse("100")), Resources: corev1.ResourceList{"memory": resource.MustParse("1Ti")}}
		}, func(_ translate.PoolObject, p cluster.Pool) bool { return len(p.Limits.Amounts) == 2 }},
		"a weight": {func(p *v1alpha5.Provisioner) { p.Spec.Weight = new(int32(50)) }, func(_ translate.PoolObject, p cluster.Pool) bool { return p.Weight == 50 }},
		"label is labels, and pods may ask for the Provisioner": {func(p *v1alpha5.Provisioner) { p.Spec.Label = map[string]string{"team": "web"} },
			func(_ translate.PoolObject, p cluster.Pool) bool {
				team, _ := p.Labels.Get("team")
				name, _ := p.Labels.Get(api.LabelProvisioner)
				return team == "web" && name == "default"
			}},
		"no template is the one called default": {func(*v1alpha5.Provisioner) {}, func(o translate.PoolObject, _ cluster.Pool) bool {
			return o.Template.Spec.NodeClassRef == karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "AWSNodeTemplate", Name: "default"}
		}},
		"settings inline: it is its own class": {func(p *v1alpha5.Provisioner) { p.Spec.Provider = &awsv1alpha1.Provider{} }, func(o translate.PoolObject, _ cluster.Pool) bool {
			return o.Template.Spec.NodeClassRef == o.Class && o.Class == translate.ClassOfProvisioner("default")
		}},
		"an edit has no fingerprint by which nodes would drift": {func(*v1alpha5.Provisioner) {}, func(o translate.PoolObject, _ cluster.Pool) bool { return o.Hash == "" }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProvisioner(tt.change)
			if o := provisioner.Pool(p); !tt.holds(o, core(t, p)) {
				t.Errorf("the pool is %+v\nfor the core %+v", o, core(t, p))
			}
		})
	}
}
