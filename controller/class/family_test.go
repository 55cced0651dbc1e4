package class

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

const (
	imageAL2023       = "amazon-eks-node-al2023-x86_64-standard-1.32-v20250101"
	imageAL2          = "amazon-eks-node-1.32-v20250101"
	imageBottlerocket = "bottlerocket-aws-k8s-1.32-x86_64-v1.46.0-5d2a1b8c"
	imageUbuntu       = "ubuntu-eks/k8s_1.32/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20250101"
)

// running is a node with an operating system, of image ami-1 and a class.
func running(class, os string) []client.Object {
	objects := nodeOf("n", "v1.32.1")
	objects[0].(*corev1.Node).Status.NodeInfo.OSImage = os
	claim := objects[1].(*karpv1.NodeClaim)
	claim.Annotations = map[string]string{api.AnnotationNodeClassHash: "hash"}
	claim.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: KindEC2NodeClass, Name: class}
	return objects
}

// edited has the class of a node be edited since.
func edited(objects []client.Object) []client.Object {
	objects[1].SetAnnotations(map[string]string{api.AnnotationNodeClassHash: "an earlier one"})
	return objects
}

// Nodes of an image that does not read what is written for the class's family never join:
// the class is not ready, and says what to do. An image of which nothing is known, and one
// whose nodes have joined, are left to the user.
func TestAFamilyAndAnImageBelongTogether(t *testing.T) {
	const nodeConfig = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"
	mime := "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: application/node.eks.aws\n\n" + nodeConfig + "\n--//--\n"
	tests := map[string]struct {
		family, image, userData string
		nodes                   []client.Object
		want                    string // what AMIsReady says; empty: the class is ready
	}{
		"AL2 and an image of AL2023":                                  {"AL2", imageAL2023, "", nil, "ami-1 (" + imageAL2023 + "), which is of the family AL2023, and spec.amiFamily is AL2: its nodes would not understand their user data and never join: select images of AL2, or write AL2023 there"},
		"AL2023 and an image of AL2":                                  {"AL2023", imageAL2, "", nil, "of the family AL2, and spec.amiFamily is AL2023"},
		"AL2023 and Bottlerocket":                                     {"AL2023", imageBottlerocket, "", nil, "of the family Bottlerocket"},
		"Bottlerocket and Windows":                                    {"Bottlerocket", "Windows_Server-2022-English-Core-EKS_Optimized-1.32-2025.01.01", "", nil, "of the family Windows2022"},
		"AL2 and AL2":                                                 {"AL2", imageAL2, "", nil, ""},
		"AL2 and Ubuntu, which read the same":                         {"AL2", imageUbuntu, "", nil, ""},
		"AL2023 and AL2023":                                           {"AL2023", imageAL2023, "", nil, ""},
		"Custom and any":                                              {"Custom", imageBottlerocket, "", nil, ""},
		"an image of the user's own":                                  {"AL2", "golden", "", nil, ""},
		"one that other nodes show to be none":                        {"AL2", "golden", "", running("other", "Amazon Linux 2023.9.20250929"), "ami-1 (golden), which is of the family AL2023"},
		"one that other nodes show to be one":                         {"AL2023", "golden", "", running("other", "Amazon Linux 2023.9.20250929"), ""},
		"one whose own nodes have joined":                             {"AL2", imageAL2023, "", running("main", "Amazon Linux 2023.9.20250929"), ""},
		"one of the user's own whose nodes had joined before an edit": {"AL2023", "golden", "", edited(running("main", "Ubuntu 22.04.5 LTS")), ""},
		"a published one whose nodes joined before an edit":           {"AL2", imageAL2023, "", edited(running("main", "Amazon Linux 2023.9.20250929")), "of the family AL2023"},
		"user data of the user's that joins":                          {"AL2", imageAL2023, mime, nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := class(byID, func(c *awsv1.EC2NodeClass) {
				family := awsv1.AMIFamily(tt.family)
				c.Spec.AMIFamily, c.Spec.UserData = &family, &tt.userData
			})
			got, _ := reconcile(t, &account{named: tt.image, version: "1.32"}, append(tt.nodes, c)...)
			is := condition.Get(got, awsv1.ClassAMIsReady)
			if tt.want == "" && !condition.IsTrue(got, awsv1.ClassReady) {
				t.Errorf("%+v; want the class ready", got.Status.Conditions)
			}
			if tt.want != "" && (is.Status != metav1.ConditionFalse || is.Reason != "AMIFamilyMismatch" || !strings.Contains(is.Message, tt.want) || condition.IsTrue(got, awsv1.ClassReady)) {
				t.Errorf("%s; want false saying %q", condition.Describe(is), tt.want)
			}
		})
	}
}

// A template that names no family means AL2, and may select images of another.
func TestATemplateWithoutAFamilyAndImagesOfAL2023(t *testing.T) {
	selects := func(s *awsv1alpha1.AWSNodeTemplateSpec) {
		s.InstanceProfile, s.AMISelector = new("nodes"), selector("team", "web")
	}
	got, _ := lookAtOlder(t, &account{named: imageAL2023, version: "1.36"}, template(selects))
	is := condition.Get(got, awsv1.ClassAMIsReady)
	for _, words := range []string{"spec.amiSelector selects image ami-1", "spec.amiFamily is not set, which means AL2:", "select images of AL2, move to an EC2NodeClass of the family AL2023, which daemok migrate writes"} {
		if !strings.Contains(is.Message, words) {
			t.Errorf("%s; want it to say %q", condition.Describe(is), words)
		}
	}
	if condition.IsTrue(got, awsv1.ClassReady) {
		t.Error("the template is ready")
	}
	if got, _ := lookAtOlder(t, &account{named: imageAL2, version: "1.32"}, template(selects)); !condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("with images of AL2: %+v", got.Status.Conditions)
	}
}

// Names of images and of operating systems say the family.
func TestFamiliesByName(t *testing.T) {
	for name, want := range map[string]nodeclass.Family{
		imageAL2023: nodeclass.AL2023, "amazon-eks-arm64-node-1.30-v20240101": nodeclass.AL2, "amazon-eks-gpu-node-1.30-v20240101": nodeclass.AL2, imageAL2: nodeclass.AL2,
		imageBottlerocket: nodeclass.Bottlerocket, imageUbuntu: nodeclass.Ubuntu, "Windows_Server-2019-English-Core-EKS_Optimized-1.30-2024.01.01": nodeclass.Windows2019, "my-amazon-eks-node-1.30": "",
	} {
		if got := (nodeclass.Image{Name: name}).Family(); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
}
