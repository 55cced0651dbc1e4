package explaincmd

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/controller/remember"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/examples"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/test/store"
)

// exampleClass is the node class that a first user applies, as the controller found it.
func exampleClass(t *testing.T) *awsv1.EC2NodeClass {
	t.Helper()
	text, err := examples.Manifest("v1/ec2nodeclass.yaml", "prod")
	if err != nil {
		t.Fatal(err)
	}
	c := &awsv1.EC2NodeClass{}
	if err := yaml.Unmarshal(text, c); err != nil {
		t.Fatal(err)
	}
	c.Generation = 1
	c.Status.AMIs = []awsv1.AMI{{ID: "ami-1", Name: "al2023"}}
	c.Status.Subnets = []awsv1.Subnet{{ID: "subnet-old", Zone: "us-east-1a"}}
	c.Status.SecurityGroups = []awsv1.SecurityGroup{{ID: "sg-1", Name: "nodes"}}
	c.Status.InstanceProfile = "nodes"
	for _, kind := range c.ReadyDependsOn() {
		condition.SetTrue(c, kind, time.Now())
	}
	condition.SumUp(c, time.Now())
	return c
}

// ofClassNamed is a NodeClaim of a class, with a node, that has drifted for a reason or, empty, has not.
func ofClassNamed(class, name, drifted string) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelNodePool: "web"}}, Spec: store.ClaimSpec()}
	c.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: class}
	c.Status.NodeName = "ip-" + name
	if drifted != "" {
		condition.Set(c, karpv1.ClaimDrifted, metav1.ConditionTrue, drifted, "", time.Now())
	}
	return c
}

// A class is explained as it is now: whether it is ready, what it selects, what uses it and what cannot be had.
func TestAClassIsExplainedAsItIs(t *testing.T) {
	commandtest.EmulatedAccount(t)
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	found := exampleClass(t)
	pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	pool.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: found.Name}
	other := exampleClass(t)
	other.Name = "broken"
	condition.SetFalse(other, awsv1.ClassSubnetsReady, awsv1.ReasonSubnetsNotFound, "SubnetSelector did not match any Subnets", time.Now())
	condition.SumUp(other, time.Now())
	store := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(store.Mapper(scheme)).WithObjects(found, other, pool, commandtest.Installed(),
		ofClassNamed(found.Name, "1", ""), ofClassNamed(found.Name, "2", karpv1.ReasonAMIDrift), ofClassNamed(found.Name, "3", karpv1.ReasonNodePoolDrifted)).Build()
	book := &remember.Book{ClusterState: snapshot.New(nil, time.Now), Store: store, Live: store, Namespace: "kube-system", Offerings: commandtest.Met{
		{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.Spot, Until: time.Now().Add(time.Minute)},
		{Kind: "m5.large", Zone: "us-east-1b", Option: cluster.Spot, Until: time.Now().Add(time.Minute)},
		{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.OnDemand, Until: time.Now().Add(-time.Minute)},
		{Subnet: "subnet-of-another-class", Until: time.Now().Add(time.Minute)},
	}}
	if _, err := book.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	class := "ec2nodeclass/" + found.Name
	for name, tt := range map[string]struct {
		args    string
		without string   // a variable that is empty
		want    []string // expressions that match
		not     string   // a text that it does not have
	}{
		"ready, and used": {args: class, not: "another-class", want: []string{
			class + " is ready\n", "    AMIsReady is True since 20", class + " selects\n", "    AMI ami-1, al2023\n", `    subnet subnet-\w+ in us-east-1a: \d+ free addresses\n`,
			"    security group sg-1, nodes\n", "    instance profile nodes\n",
			class + " is used by 1 pool\n    NodePool/web: 3 NodeClaims, 1 drifted from the class: ip-2 .AMIDrift.\n",
			class + " has offerings that are unavailable now, and are left out\n    m5.large, spot, in us-east-1a, us-east-1b: until .* UTC, for (1m0s|59s)\n$",
		}},
		"as kubectl shortens its kind": {args: "ec2nc " + found.Name, want: []string{class + " is ready\n"}},
		"without AWS": {args: class, without: "AWS_REGION", want: []string{
			class + " selects, as the controller found it last\n  because: how much is free was not asked of AWS: .*[Rr]egion", "    subnet subnet-old in us-east-1a\n",
		}},
		"not ready": {args: "ec2nodeclass/broken", want: []string{
			"ec2nodeclass/broken is not ready: nothing is launched from it\n  because: SubnetsNotFound: SubnetSelector did not match any Subnets\n",
			"    SubnetsReady is False since 20.* UTC: SubnetsNotFound: SubnetSelector did not match any Subnets\n", "broken is used by no pool, and no NodeClaim is of it\n",
		}},
		"that is not there":    {args: "ec2nodeclass/none", want: []string{"^there is no EC2NodeClass none: the cluster has broken, " + found.Name + "$"}},
		"of a kind not served": {args: "awsnodetemplate/none", want: []string{"AWSNodeTemplate"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.without != "" {
				t.Setenv(tt.without, "")
			}
			out, err := explained(t, store, strings.Fields(tt.args)...)
			if err != nil {
				out = err.Error()
			}
			for _, want := range tt.want {
				if !regexp.MustCompile(want).MatchString(out) {
					t.Errorf("it says\n%s\nwant a match of %q", out, want)
				}
			}
			if tt.not != "" && strings.Contains(out, tt.not) {
				t.Errorf("it says\n%s\nwithout want of %q", out, tt.not)
			}
		})
	}
	out, err := explained(t, store, class, "-o", "json")
	var list []record.Statement
	if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list) != 4 || list[0].Topic != record.TopicReady {
		t.Errorf("as JSON: %v\n%s", err, out)
	}
	if out, err := explained(t, store, class, "-o", "name"); err != nil || out != "ec2nodeclass.karpenter.k8s.aws/"+found.Name+"\n" {
		t.Errorf("as names: %q, %v", out, err)
	}
}
