package class

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Load balancer controllers want one group of an instance to have the cluster's tag. That
// there are more is reported, and the class is used nevertheless.
func TestSeveralGroupsOfTheClusterAreReported(t *testing.T) {
	s := begin(t)
	s.owned = []nodeclass.Group{{ID: "sg-7", Name: "eks-cluster", Owned: true}}
	s.reports(0)
	s.owned = append(s.owned, nodeclass.Group{ID: "sg-9", Name: "workers", Owned: true})
	s.reports(time.Minute, awsv1.ReasonSeveralOwnedGroups)
	s.reports(time.Minute)
	got, _ := look(t, s.r)
	warning := condition.Get(got, awsv1.ClassGroupsOwnedTwice)
	if warning == nil || !strings.Contains(warning.Message, "sg-7 (eks-cluster), sg-9 (workers)") || !condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("%s, ready %v; want both groups named, and the class ready", condition.Describe(warning), condition.IsTrue(got, awsv1.ClassReady))
	}
	s.owned = s.owned[:1]
	s.reports(time.Minute)
	if got, _ := look(t, s.r); condition.Get(got, awsv1.ClassGroupsOwnedTwice) != nil {
		t.Error("the warning stays when one group is left")
	}
}

// Subnets without a free address are named, with what is missing, while they are so.
func TestFullSubnetsAreReported(t *testing.T) {
	s := begin(t)
	s.reports(0)
	s.taken = true
	s.reports(2*time.Minute, awsv1.ReasonNoFreeAddresses)
	s.reports(2 * time.Minute)
	got, _ := look(t, s.r)
	warning := condition.Get(got, awsv1.ClassSubnetsFull)
	if warning == nil || !strings.Contains(warning.Message, "too few free addresses in subnet-1 of us-east-1a (0 free, a node takes 1: 1 missing): nothing can be launched") || !condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("%s, ready %v; want the subnet named, and the class ready", condition.Describe(warning), condition.IsTrue(got, awsv1.ClassReady))
	}
	s.taken = false
	s.reports(2 * time.Minute)
	if got, _ := look(t, s.r); condition.Get(got, awsv1.ClassSubnetsFull) != nil {
		t.Error("the warning stays when addresses are free again")
	}
}

// nodeOf is a node of a custom image, with the claim that it belongs to.
func nodeOf(name, kubelet string) []client.Object {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.NodeInfo.KubeletVersion = kubelet
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	claim.Status.ImageID, claim.Status.NodeName = "ami-1", name
	return []client.Object{node, claim}
}

// byID has a class select its image so.
func byID(c *awsv1.EC2NodeClass) { c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{ID: "ami-1"}} }

func TestKubeletsThatAreBehindAreReported(t *testing.T) {
	const al2023 = "amazon-eks-node-al2023-x86_64-standard-1.34-v20250101"
	tests := map[string]struct {
		account account
		nodes   []client.Object
		reason  string // empty: no warning
		says    string
	}{
		"an image of the server's version":    {account{named: al2023, version: "1.34"}, nil, "", ""},
		"one of an earlier version":           {account{named: al2023, version: "1.36"}, nil, awsv1.ReasonKubeletBehind, "ami-1 (" + al2023 + ") has 1.34, 2 behind"},
		"one that Kubernetes does not bear":   {account{named: al2023, version: "1.38"}, nil, awsv1.ReasonKubeletUnsupported, "4 behind"},
		"one of the user's own":               {account{named: "golden", version: "1.36"}, nil, "", ""},
		"one of which nodes tell the version": {account{named: "golden", version: "1.36"}, nodeOf("n", "v1.35.3-eks-1a2b3c"), awsv1.ReasonKubeletBehind, "has 1.35, 1 behind"},
		"one whose nodes are newer":           {account{named: "golden", version: "1.36"}, nodeOf("n", "v1.37.0"), awsv1.ReasonKubeletUnsupported, "newer than the API server, which is 1.36: ami-1 (golden) has 1.37"},
		"a server that does not say":          {account{named: al2023, versionless: errors.New("connection reset")}, nil, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := reconcile(t, &tt.account, append(tt.nodes, class(byID))...)
			warning := condition.Get(got, awsv1.ClassKubeletSkew)
			if tt.reason == "" && warning != nil {
				t.Errorf("%s, want none", condition.Describe(warning))
			}
			if tt.reason != "" && (warning == nil || warning.Reason != tt.reason || !strings.Contains(warning.Message, tt.says)) {
				t.Errorf("%s; want %s saying %q", condition.Describe(warning), tt.reason, tt.says)
			}
			if !condition.IsTrue(got, awsv1.ClassReady) {
				t.Error("the class is not ready")
			}
		})
	}
}

// While the API server does not return its version, what was known of the skew stays.
func TestTheSkewStaysWithoutAnAnswer(t *testing.T) {
	s := begin(t)
	s.edit(byID)
	s.named, s.version = "bottlerocket-aws-k8s-1.35-x86_64-v1.46.0-5d2a1b8c", "1.36"
	s.reports(0, awsv1.ReasonKubeletBehind)
	s.versionless = errors.New("connection reset")
	s.reports(time.Minute)
	if got, _ := look(t, s.r); condition.Get(got, awsv1.ClassKubeletSkew) == nil {
		t.Error("the warning is gone")
	}
}

// Images of an alias are of the earlier version until the control plane has stayed at the
// new one: users need not select others.
func TestImagesOfAnAliasFollowTheControlPlane(t *testing.T) {
	s := begin(t)
	s.edit(byID)
	s.named, s.version = "amazon-eks-node-al2023-x86_64-standard-1.35-v20250101", "1.36"
	s.reports(0, awsv1.ReasonKubeletBehind)
	s.edit(func(c *awsv1.EC2NodeClass) {
		c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@v20250101"}}
		c.Generation++
	})
	s.reports(time.Minute)
	if got, _ := look(t, s.r); condition.Get(got, awsv1.ClassKubeletSkew) != nil {
		t.Error("the warning stays")
	}
}
