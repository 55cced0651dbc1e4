package class

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1alpha5 "github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

func selector(pairs ...string) awsv1alpha1.Selector {
	s := awsv1alpha1.Selector{}
	for i := 0; i < len(pairs); i += 2 {
		s[pairs[i]] = awsv1alpha1.Text{Value: pairs[i+1]}
	}
	return s
}

func TestWhatATemplateMeans(t *testing.T) {
	tests := map[string]struct {
		change     func(*awsv1alpha1.AWSNodeTemplateSpec)
		kubernetes string
		holds      func(nodeclass.Spec) bool
	}{
		"IDs and tags must hold together, each ID by itself": {func(s *awsv1alpha1.AWSNodeTemplateSpec) {
			s.SubnetSelector = selector("aws-ids", "subnet-1, subnet-2", "team", "web")
		}, "1.30", func(s nodeclass.Spec) bool {
			tags := map[string]string{"team": "web"}
			return reflect.DeepEqual(s.Subnets, []nodeclass.SubnetTerm{{ID: "subnet-1", Tags: tags, Commas: true}, {ID: "subnet-2", Tags: tags, Commas: true}})
		}},
		"a key of aws that is none of ours is a tag": {func(s *awsv1alpha1.AWSNodeTemplateSpec) {
			s.SecurityGroupSelector = selector("aws:eks:cluster-name", "lab")
		}, "1.30", func(s nodeclass.Spec) bool {
			return s.Groups[0].ID == "" && s.Groups[0].Tags["aws:eks:cluster-name"] == "lab"
		}},
		"owners and names of images must hold together": {func(s *awsv1alpha1.AWSNodeTemplateSpec) {
			s.AMISelector = selector("aws::name", "a,b", "aws::owners", "self", "team", "web")
		}, "1.36", func(s nodeclass.Spec) bool {
			return len(s.Images) == 2 && s.Images[0].Name == "a" && s.Images[1].Name == "b" && s.Images[1].Owner == "self" && s.Images[1].Tags["team"] == "web" &&
				len(s.Images[1].Tags) == 1 && s.Family == nodeclass.AL2 && s.ImageTagsAsked
		}},
		"no family: AL2 while there are images of it": {func(*awsv1alpha1.AWSNodeTemplateSpec) {}, "1.32", func(s nodeclass.Spec) bool { return s.Family == nodeclass.AL2 && s.Images[0].Alias == "al2@latest" }},
		"no family: AL2023 where there is no AL2": {func(*awsv1alpha1.AWSNodeTemplateSpec) {}, "1.33", func(s nodeclass.Spec) bool {
			return s.Family == nodeclass.AL2023 && s.Images[0].Alias == "al2023@latest"
		}},
		"AL2 that is written stays": {func(s *awsv1alpha1.AWSNodeTemplateSpec) { s.AMIFamily = new(awsv1alpha1.FamilyAL2) }, "1.36", func(s nodeclass.Spec) bool { return s.Family == nodeclass.AL2 }},
		"Ubuntu": {func(s *awsv1alpha1.AWSNodeTemplateSpec) { s.AMIFamily = new(awsv1alpha1.FamilyUbuntu) }, "1.28", func(s nodeclass.Spec) bool {
			return s.Images[0].Alias == "ubuntu@latest" && s.Volumes()[0].DeviceName == "/dev/sda1"
		}},
		"Custom has no images of its own":                 {func(s *awsv1alpha1.AWSNodeTemplateSpec) { s.AMIFamily = new(awsv1alpha1.FamilyCustom) }, "1.28", func(s nodeclass.Spec) bool { return len(s.Images) == 0 }},
		"metadata without options: a hop for a container": {func(*awsv1alpha1.AWSNodeTemplateSpec) {}, "1.30", func(s nodeclass.Spec) bool { return s.Metadata.HopLimit == 2 && s.Metadata.Tokens == "required" }},
		"metadata in part: EC2's own for the others": {func(s *awsv1alpha1.AWSNodeTemplateSpec) {
			s.MetadataOptions = &awsv1alpha1.MetadataOptions{HTTPEndpoint: new("disabled")}
		}, "1.30", func(s nodeclass.Spec) bool {
			return s.Metadata == nodeclass.Metadata{Endpoint: "disabled", IPv6: "disabled", Tokens: "optional", HopLimit: 1}
		}},
		"tags and profile go before those of the account": {func(s *awsv1alpha1.AWSNodeTemplateSpec) {
			s.InstanceProfile, s.Tags = new("mine"), awsv1alpha1.Texts{"team": {Value: "web"}, "cost": {Value: "42", Bare: true}}
		}, "1.30", func(s nodeclass.Spec) bool {
			return s.InstanceProfile == "mine" && reflect.DeepEqual(s.Tags, map[string]string{"team": "web", "cost": "42", "by": "account"})
		}},
		"tags that are set in any event are not the user's": {func(s *awsv1alpha1.AWSNodeTemplateSpec) {
			s.Tags = awsv1alpha1.Texts{"karpenter.sh/provisioner-name": {Value: "mine"}, "kubernetes.io/cluster/other": {Value: "owned"}, "team": {Value: "web"}}
		}, "1.30", func(s nodeclass.Spec) bool {
			return reflect.DeepEqual(s.Tags, map[string]string{"team": "web", "by": "account"})
		}},
		"pods have no interfaces where the account says so": {func(*awsv1alpha1.AWSNodeTemplateSpec) {}, "1.30", func(s nodeclass.Spec) bool { return s.NoPodInterfaces }},
		"without either, those of the account": {func(*awsv1alpha1.AWSNodeTemplateSpec) {}, "1.30", func(s nodeclass.Spec) bool {
			return s.InstanceProfile == "usual" && reflect.DeepEqual(s.Tags, map[string]string{"team": "all", "by": "account"})
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			account := &Account{}
			account.Set(Usual{InstanceProfile: "usual", Tags: map[string]string{"team": "all", "by": "account"}, NoPodInterfaces: true})
			account.learn(tt.kubernetes)
			template := &awsv1alpha1.AWSNodeTemplateSpec{}
			tt.change(template)
			if spec := specOfTemplate(template, account); !tt.holds(spec) {
				t.Errorf("the spec is %+v", spec)
			}
		})
	}
}

// For a Provisioner that says something of kubelets its template is another class than
// for those that do not.
func TestKubeletsMakeAnotherClass(t *testing.T) {
	account := &Account{}
	templates := NodeTemplates(account)
	of := func(k *karpv1alpha5.KubeletConfiguration) *Subject {
		template := templates.Of(&awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: "shared"}})
		return withKubelet(template, &karpv1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "dense"}, Spec: karpv1alpha5.ProvisionerSpec{KubeletConfiguration: k}})
	}
	plain, dense := of(nil), of(&karpv1alpha5.KubeletConfiguration{MaxPods: new(int32(200))})
	if plain.ID() != "AWSNodeTemplate/shared" || dense.ID() != "Provisioner/dense" {
		t.Errorf("the classes are %s and %s", plain.ID(), dense.ID())
	}
	rocket := templates.Of(&awsv1alpha1.AWSNodeTemplate{Spec: awsv1alpha1.AWSNodeTemplateSpec{AWS: awsv1alpha1.AWS{AMIFamily: new(awsv1alpha1.FamilyBottlerocket)}}})
	withKubelet(rocket, &karpv1alpha5.Provisioner{Spec: karpv1alpha5.ProvisionerSpec{KubeletConfiguration: &karpv1alpha5.KubeletConfiguration{
		EvictionSoft: karpv1alpha5.EvictionThresholds{"memory.available": "5%"}, EvictionSoftGracePeriod: map[string]string{"memory.available": "1m"}, EvictionHard: karpv1alpha5.EvictionThresholds{"memory.available": "2%"}}}})
	if k := rocket.Spec.Kubelet; len(k.EvictionSoft) > 0 || len(k.EvictionSoftGracePeriod) > 0 || len(k.EvictionHard) != 1 {
		t.Errorf("Bottlerocket ignores soft eviction alone, and nodes are told %+v", k)
	}
	if plain.Spec.Kubelet.MaxPods != nil || dense.Spec.Kubelet.MaxPods == nil || *dense.Spec.Kubelet.MaxPods != 200 {
		t.Errorf("kubelets may run %v and %v pods", plain.Spec.Kubelet.MaxPods, dense.Spec.Kubelet.MaxPods)
	}
}
