package class

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

// plugin is the DaemonSet of the VPC's network plugin with these settings.
func plugin(env ...string) []client.Object {
	ds := &appsv1.DaemonSet{}
	ds.Namespace, ds.Name = "kube-system", "aws-node"
	ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: "aws-node"}, {Name: "aws-eks-nodeagent"}}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		ds.Spec.Template.Spec.Containers[0].Env = append(ds.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: name, Value: value})
	}
	return []client.Object{ds}
}

func TestANetworkPluginThatDisagreesWithMaxPodsIsReported(t *testing.T) {
	crowded := nodeclass.Crowded{Types: 3, Of: 20, First: "m5.large", Pods: 110, Addresses: 29}
	maxPods := func(c *awsv1.EC2NodeClass) { c.Spec.Kubelet = &awsv1.Kubelet{MaxPods: new(intstr.FromInt32(110))} }
	plain := func(*awsv1.EC2NodeClass) {}
	prefixed := func(c *awsv1.EC2NodeClass) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, "daemok.sh/pod-density", "prefix-delegation")
	}
	misspelt := func(c *awsv1.EC2NodeClass) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, "daemok.sh/pod-density", "prefixes")
	}
	windows := func(c *awsv1.EC2NodeClass) { c.Spec.AMISelectorTerms[0].Alias = "windows2022@latest" }
	tests := map[string]struct {
		plugin  []client.Object
		class   func(*awsv1.EC2NodeClass)
		crowded nodeclass.Crowded
		enis    int
		says    string // empty: nothing
	}{
		"no such plugin":                         {nil, maxPods, crowded, 0, ""},
		"usual settings":                         {plugin(), plain, nodeclass.Crowded{}, 0, ""},
		"more pods than addresses":               {plugin("ENABLE_PREFIX_DELEGATION=false"), maxPods, crowded, 0, "3 of 20 instance types, such as m5.large, which may run 110 pods and has addresses for 29"},
		"prefixes make up for it":                {plugin("ENABLE_PREFIX_DELEGATION=true"), maxPods, crowded, 0, ""},
		"prefixes that nothing is made of":       {plugin("ENABLE_PREFIX_DELEGATION=true"), plain, nodeclass.Crowded{}, 0, "set annotation daemok.sh/pod-density: prefix-delegation, or spec.kubelet.maxPods, such as 110"},
		"prefixes that are counted on":           {plugin("ENABLE_PREFIX_DELEGATION=true"), prefixed, nodeclass.Crowded{}, 0, ""},
		"prefixes that are never assigned":       {plugin(), prefixed, nodeclass.Crowded{}, 0, "pods would wait for addresses that are never assigned"},
		"an annotation that says nothing":        {plugin("ENABLE_PREFIX_DELEGATION=true"), misspelt, nodeclass.Crowded{}, 0, "set annotation"},
		"prefixes mean nothing to Windows":       {plugin("ENABLE_PREFIX_DELEGATION=true"), windows, nodeclass.Crowded{}, 0, ""},
		"an interface that pods get nothing of":  {plugin("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG=true"), plain, nodeclass.Crowded{}, 0, "set --reserved-enis=1 (RESERVED_ENIS)"},
		"one that is not counted":                {plugin("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG=true"), plain, nodeclass.Crowded{}, 1, ""},
		"a class that says how many pods itself": {plugin("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG=true"), maxPods, nodeclass.Crowded{}, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := reconciler(&account{crowded: tt.crowded}, append(tt.plugin, class(tt.class))...)
			r.ReservedENIs = tt.enis
			look(t, r)
			got, _ := look(t, r)
			warning := condition.Get(got, awsv1.ClassPodDensity)
			if tt.says == "" && warning != nil || tt.says != "" && (warning == nil || !strings.Contains(warning.Message, tt.says)) {
				t.Errorf("%s; want it to say %q", condition.Describe(warning), tt.says)
			}
			if !condition.IsTrue(got, awsv1.ClassReady) {
				t.Errorf("the class is not ready: %+v", got.Status.Conditions)
			}
		})
	}
}
