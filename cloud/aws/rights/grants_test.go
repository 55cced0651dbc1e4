package rights

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud/aws/policy"
)

// prod is the scope of a cluster called so.
func prod(features ...Feature) Scope {
	return Scope{Partition: "aws", Account: "123456789012", Region: "us-east-1", Cluster: "prod",
		NodeRoles: []string{"arn:aws:iam::123456789012:role/KarpenterNodeRole-prod"},
		Queue:     "arn:aws:sqs:us-east-1:123456789012:prod", Features: features}
}

// What is granted is what is needed: nothing is missing, and nothing is allowed without
// effect.
func TestPartsGrantWhatIsNeeded(t *testing.T) {
	d := Compare([]Policy{Whole(Parts(prod(Features()...)))})
	if len(d.Missing)+len(d.Needless)+len(d.Outdated) > 0 {
		t.Errorf("with all features: %+v, want no difference", d)
	}
	var granted []string
	for _, p := range Parts(prod(Features()...)) {
		for _, g := range p.Grants {
			granted = append(granted, g.Actions...)
			if g.For == "" || g.Without == "" || !regexp.MustCompile(`^[A-Za-z0-9]+$`).MatchString(g.Sid) {
				t.Errorf("%s of %s says what it is for: %q, and what fails without: %q; its Sid is of letters and digits", g.Sid, p.Name, g.For, g.Without)
			}
		}
	}
	slices.Sort(granted)
	if got := slices.Compact(granted); !slices.Equal(got, Actions()) {
		t.Errorf("granted are\n%v\nwant\n%v", got, Actions())
	}
}

// Each feature brings its own actions and no others.
func TestFeaturesBringTheirActions(t *testing.T) {
	allowed := func(s Scope) []string {
		var all []string
		for _, st := range Whole(Parts(s)).Statements {
			all = append(all, st.Actions...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	none := allowed(prod())
	for _, f := range append(Features(), "") {
		var want []string
		for _, action := range Actions() {
			if of := needed[action]; len(of) == 0 || slices.Contains(of, f) {
				want = append(want, action)
			}
		}
		got := none
		if f != "" {
			got = allowed(prod(f))
		}
		if !slices.Equal(got, want) {
			t.Errorf("with feature %q\n%v\nwant\n%v", f, got, want)
		}
	}
	s := prod(Features()...)
	s.Queue = ""
	if got := strings.Join(allowed(s), " "); strings.Contains(got, "sqs:") {
		t.Errorf("without a queue %s", got)
	}
}

// The rights end where the cluster does: what is another's, or is not tagged, is refused.
func TestRightsEndWithTheCluster(t *testing.T) {
	documents := []policy.Document{Whole(Parts(prod(Features()...)))}
	const here = "arn:aws:ec2:us-east-1:123456789012:"
	tags := func(cluster, pool string) map[string]string {
		all := map[string]string{"kubernetes.io/cluster/" + cluster: "owned", "eks:eks-cluster-name": cluster}
		if pool != "" {
			all["karpenter.sh/nodepool"] = pool
		}
		return all
	}
	profile := func(cluster, region string) map[string]string {
		all := tags(cluster, "")
		all["topology.kubernetes.io/region"], all["karpenter.k8s.aws/ec2nodeclass"] = region, "default"
		return all
	}
	for name, tt := range map[string]struct {
		action, resource  string
		request, existing map[string]string
		more              map[string]string
		want              bool
	}{
		"launch an instance of a pool":                        {"ec2:RunInstances", here + "instance/*", tags("prod", "web"), nil, nil, true},
		"launch one without a pool":                           {"ec2:RunInstances", here + "instance/*", tags("prod", ""), nil, nil, false},
		"launch one of another cluster":                       {"ec2:CreateFleet", here + "instance/*", tags("prod-2", "web"), nil, nil, false},
		"launch in another region":                            {"ec2:RunInstances", "arn:aws:ec2:eu-west-1:123456789012:instance/*", tags("prod", "web"), nil, nil, false},
		"launch in a subnet that is shared":                   {"ec2:RunInstances", "arn:aws:ec2:us-east-1:999999999999:subnet/subnet-1", nil, nil, nil, true},
		"launch from an image of Amazon":                      {"ec2:RunInstances", "arn:aws:ec2:us-east-1::image/ami-1", nil, nil, nil, true},
		"launch into a reservation":                           {"ec2:RunInstances", here + "capacity-reservation/cr-1", nil, nil, nil, true},
		"launch with a key pair":                              {"ec2:RunInstances", here + "key-pair/mine", nil, nil, nil, false},
		"launch from a template of the cluster":               {"ec2:CreateFleet", here + "launch-template/lt-1", nil, tags("prod", "web"), nil, true},
		"launch from another template":                        {"ec2:CreateFleet", here + "launch-template/lt-1", nil, nil, nil, false},
		"tag at the launch":                                   {"ec2:CreateTags", here + "volume/*", tags("prod", "web"), nil, map[string]string{"ec2:CreateAction": "RunInstances"}, true},
		"tag at another launch":                               {"ec2:CreateTags", here + "volume/*", tags("prod", "web"), nil, map[string]string{"ec2:CreateAction": "CreateVolume"}, false},
		"name an instance":                                    {"ec2:CreateTags", here + "instance/i-1", map[string]string{"Name": "node-1"}, tags("prod", "web"), map[string]string{"aws:TagKeys": "Name"}, true},
		"tag an instance with something else":                 {"ec2:CreateTags", here + "instance/i-1", map[string]string{"team": "web"}, map[string]string{"team": "db"}, map[string]string{"aws:TagKeys": "team"}, false},
		"take an instance for another cluster":                {"ec2:CreateTags", here + "instance/i-1", map[string]string{"eks:eks-cluster-name": "prod-2"}, tags("prod", "web"), map[string]string{"aws:TagKeys": "eks:eks-cluster-name"}, false},
		"adopt an instance of the cluster":                    {"ec2:CreateTags", here + "instance/i-1", tags("prod", "web"), map[string]string{"kubernetes.io/cluster/prod": "owned"}, map[string]string{"aws:TagKeys": "karpenter.sh/nodepool"}, true},
		"tag with something else an instance that is adopted": {"ec2:CreateTags", here + "instance/i-1", map[string]string{"secret": "x"}, map[string]string{"kubernetes.io/cluster/prod": "owned"}, map[string]string{"aws:TagKeys": "secret"}, false},
		"end an instance of the cluster":                      {"ec2:TerminateInstances", here + "instance/i-1", nil, tags("prod", "web"), nil, true},
		"end an instance of a node group":                     {"ec2:TerminateInstances", here + "instance/i-1", nil, tags("prod", ""), nil, false},
		"end an instance of another cluster":                  {"ec2:TerminateInstances", here + "instance/i-1", nil, tags("prod-2", "web"), nil, false},
		"read instances":                                      {"ec2:DescribeInstances", "*", nil, nil, map[string]string{"aws:RequestedRegion": "us-east-1"}, true},
		"read instances of another region":                    {"ec2:DescribeInstances", "*", nil, nil, map[string]string{"aws:RequestedRegion": "eu-west-1"}, false},
		"give the role to instances":                          {"iam:PassRole", "arn:aws:iam::123456789012:role/KarpenterNodeRole-prod", nil, nil, map[string]string{"iam:PassedToService": "ec2.amazonaws.com"}, true},
		"give it to functions":                                {"iam:PassRole", "arn:aws:iam::123456789012:role/KarpenterNodeRole-prod", nil, nil, map[string]string{"iam:PassedToService": "lambda.amazonaws.com"}, false},
		"give another role":                                   {"iam:PassRole", "arn:aws:iam::123456789012:role/admin", nil, nil, map[string]string{"iam:PassedToService": "ec2.amazonaws.com"}, false},
		"make a profile":                                      {"iam:CreateInstanceProfile", "arn:aws:iam::123456789012:instance-profile/karpenter/us-east-1/prod/u/prod_1", profile("prod", "us-east-1"), nil, nil, true},
		"make a profile for another region":                   {"iam:CreateInstanceProfile", "arn:aws:iam::123456789012:instance-profile/prod_1", profile("prod", "eu-west-1"), nil, nil, false},
		"delete a profile":                                    {"iam:DeleteInstanceProfile", "arn:aws:iam::123456789012:instance-profile/prod_1", nil, profile("prod", "us-east-1"), nil, true},
		"delete a profile of another cluster":                 {"iam:DeleteInstanceProfile", "arn:aws:iam::123456789012:instance-profile/prod_1", nil, profile("prod-2", "us-east-1"), nil, false},
		"delete a profile that someone made":                  {"iam:DeleteInstanceProfile", "arn:aws:iam::123456789012:instance-profile/mine", nil, nil, nil, false},
		"read a parameter of AWS":                             {"ssm:GetParameter", "arn:aws:ssm:us-east-1::parameter/aws/service/eks/x/image_id", nil, nil, nil, true},
		"read another parameter":                              {"ssm:GetParameter", "arn:aws:ssm:us-east-1:123456789012:parameter/password", nil, nil, nil, false},
		"read the queue":                                      {"sqs:ReceiveMessage", "arn:aws:sqs:us-east-1:123456789012:prod", nil, nil, nil, true},
		"read another queue":                                  {"sqs:ReceiveMessage", "arn:aws:sqs:us-east-1:123456789012:orders", nil, nil, nil, false},
		"read the cluster":                                    {"eks:DescribeCluster", "arn:aws:eks:us-east-1:123456789012:cluster/prod", nil, nil, nil, true},
		"read another cluster":                                {"eks:DescribeCluster", "arn:aws:eks:us-east-1:123456789012:cluster/prod-2", nil, nil, nil, false},
		"read the cluster's zonal shifts":                     {"arc-zonal-shift:GetManagedResource", "*", nil, nil, map[string]string{"arc-zonal-shift:ResourceIdentifier": "arn:aws:eks:us-east-1:123456789012:cluster/prod"}, true},
		"read the zonal shifts of a load balancer":            {"arc-zonal-shift:GetManagedResource", "*", nil, nil, map[string]string{"arc-zonal-shift:ResourceIdentifier": "arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/a"}, false},
		"make a role":                                         {"iam:CreateRole", "*", nil, nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			context := policy.Context{}
			context.Tags("aws:RequestTag", tt.request)
			context.Tags("aws:ResourceTag", tt.existing)
			for key, value := range tt.more {
				context.Set(key, value)
			}
			got, by, err := policy.Decide(documents, policy.Call{Action: tt.action, Resource: tt.resource, Context: context})
			if err != nil || (got == policy.Allowed) != tt.want {
				t.Errorf("%s on %s: %s by %q, %v; want allowed: %v", tt.action, tt.resource, got, by, err, tt.want)
			}
		})
	}
}

// The right to adopt is the only way to tag an instance that has no pool.
func TestAdoptionIsAskedFor(t *testing.T) {
	context := policy.Context{}
	context.Tags("aws:RequestTag", map[string]string{"karpenter.sh/nodepool": "web"})
	context.Tags("aws:ResourceTag", map[string]string{"kubernetes.io/cluster/prod": "owned"})
	context.Set("aws:TagKeys", "karpenter.sh/nodepool")
	call := policy.Call{Action: "ec2:CreateTags", Resource: "arn:aws:ec2:us-east-1:123456789012:instance/i-1", Context: context}
	for _, tt := range []struct {
		features []Feature
		want     policy.Decision
	}{{nil, policy.ImplicitDeny}, {[]Feature{Adoption}, policy.Allowed}} {
		if got, _, err := policy.Decide([]policy.Document{Whole(Parts(prod(tt.features...)))}, call); got != tt.want || err != nil {
			t.Errorf("with features %v: %s, %v; want %s", tt.features, got, err, tt.want)
		}
	}
}

// Each part fits into a managed policy, for clusters with the longest name, in the longest region.
func TestPartsFitIntoManagedPolicies(t *testing.T) {
	s := prod(Features()...)
	s.Partition, s.Region, s.Cluster = "aws-us-gov", "ap-southeast-99", strings.Repeat("n", 100)
	for len(s.NodeRoles) < 10 {
		s.NodeRoles = append(s.NodeRoles, "arn:aws-us-gov:iam::123456789012:role/"+strings.Repeat("r", 64))
	}
	for _, p := range Parts(s) {
		if n := p.Document().Characters(); n > ManagedMax {
			t.Errorf("part %s has %d characters, want %d at the most", p.Name, n, ManagedMax)
		}
	}
}
