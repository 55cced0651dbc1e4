package fleet

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/capacity"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/network"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/reservation"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

var start = time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)

// account is a pretend EC2: it holds launch templates and answers fleets with
// a function, the nth call with n.
type account struct {
	mu        sync.Mutex
	templates map[string]*ec2.CreateLaunchTemplateInput
	created   []string // names asked for, in order
	deleted   []string
	hold      chan struct{} // closed before templates are made; nil: at once
	refuse    error         // what making templates brings; nil: they are made
	fleets    []*ec2.CreateFleetInput
	answer    func(n int, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error)
}

func newAccount(answer func(int, *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error)) *account {
	return &account{templates: map[string]*ec2.CreateLaunchTemplateInput{}, answer: answer}
}

func (a *account) CreateFleet(_ context.Context, in *ec2.CreateFleetInput, _ ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
	a.fleets = append(a.fleets, in)
	for _, c := range in.LaunchTemplateConfigs {
		if a.templates[*c.LaunchTemplateSpecification.LaunchTemplateName] == nil {
			return nil, &smithy.GenericAPIError{Code: "InvalidLaunchTemplateName.NotFoundException"}
		}
	}
	return a.answer(len(a.fleets), in)
}

func (a *account) CreateLaunchTemplate(_ context.Context, in *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	if a.hold != nil {
		<-a.hold
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.created = append(a.created, *in.LaunchTemplateName)
	if a.refuse != nil {
		return nil, a.refuse
	}
	if a.templates[*in.LaunchTemplateName] != nil {
		return nil, &smithy.GenericAPIError{Code: "InvalidLaunchTemplateName.AlreadyExistsException"}
	}
	a.templates[*in.LaunchTemplateName] = in
	return &ec2.CreateLaunchTemplateOutput{}, nil
}

func (a *account) DescribeLaunchTemplates(_ context.Context, in *ec2.DescribeLaunchTemplatesInput, _ ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error) {
	out := &ec2.DescribeLaunchTemplatesOutput{}
	for name, t := range a.templates {
		if tagged(t, in.Filters) {
			out.LaunchTemplates = append(out.LaunchTemplates, types.LaunchTemplate{LaunchTemplateName: aws.String(name), Tags: t.TagSpecifications[0].Tags})
		}
	}
	return out, nil
}

func tagged(t *ec2.CreateLaunchTemplateInput, filters []types.Filter) bool {
	have := map[string]string{}
	for _, tag := range t.TagSpecifications[0].Tags {
		have["tag:"+*tag.Key] = *tag.Value
	}
	for _, f := range filters {
		if have[*f.Name] != f.Values[0] {
			return false
		}
	}
	return true
}

func (a *account) DeleteLaunchTemplate(_ context.Context, in *ec2.DeleteLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateOutput, error) {
	if a.templates[*in.LaunchTemplateName] == nil {
		return nil, &smithy.GenericAPIError{Code: "InvalidLaunchTemplateName.NotFoundException"}
	}
	delete(a.templates, *in.LaunchTemplateName)
	a.deleted = append(a.deleted, *in.LaunchTemplateName)
	return &ec2.DeleteLaunchTemplateOutput{}, nil
}

// launcher launches at the account, by a clock that the pauses move.
func launcher(a *account) *Launcher {
	now := start
	clock := func() time.Time { return now }
	return &Launcher{API: a, Templates: NewTemplates(a, "prod", clock), Shortage: capacity.New(clock), Addresses: &network.Addresses{}, Reserved: reservation.NewBook(clock),
		Now: clock, Pause: func(_ context.Context, d time.Duration) error { now = now.Add(d); return nil }}
}

// delivers answers with n instances of the first override.
func delivers(n int) func(int, *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
	return func(_ int, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		return &ec2.CreateFleetOutput{Instances: instances(in, n)}, nil
	}
}

func instances(in *ec2.CreateFleetInput, n int) []types.CreateFleetInstance {
	c := in.LaunchTemplateConfigs[0]
	out := types.CreateFleetInstance{InstanceType: c.Overrides[0].InstanceType,
		LaunchTemplateAndOverrides: placed(c, c.Overrides[0])}
	for i := range n {
		out.InstanceIds = append(out.InstanceIds, fmt.Sprintf("i-%d", n-i))
	}
	return []types.CreateFleetInstance{out}
}

func placed(c types.FleetLaunchTemplateConfigRequest, o types.FleetLaunchTemplateOverridesRequest) *types.LaunchTemplateAndOverridesResponse {
	return &types.LaunchTemplateAndOverridesResponse{
		LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecification{LaunchTemplateName: c.LaunchTemplateSpecification.LaunchTemplateName},
		Overrides:                   &types.FleetLaunchTemplateOverrides{InstanceType: o.InstanceType, SubnetId: o.SubnetId},
	}
}

// refuses answers with one error for each override.
func refuses(code string) func(int, *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
	return func(_ int, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		out := &ec2.CreateFleetOutput{}
		for _, c := range in.LaunchTemplateConfigs {
			for _, o := range c.Overrides {
				out.Errors = append(out.Errors, types.CreateFleetError{ErrorCode: aws.String(code), ErrorMessage: aws.String("as AWS says"),
					LaunchTemplateAndOverrides: placed(c, o)})
			}
		}
		return out, nil
	}
}

func kindType(name, arch string, enis int64) catalog.Type {
	return catalog.Type{Name: name, Arch: arch, CPUs: 2, Quota: catalog.Quota{OnDemand: "Standard", Spot: "Standard"}, MemoryMiB: 8192, ENIs: enis, AddressesByENI: 10, Spot: true, OnDemand: true,
		Zones:  []string{"us-east-1a", "us-east-1b"},
		Labels: constraint.NewLabels(map[string]string{cluster.LabelInstanceType: name, cluster.LabelArch: arch})}
}

// request asks for spot instances of three types that need three templates.
func request(t *testing.T, change func(*Request)) Request {
	t.Helper()
	arch := func(a string) constraint.Requirements {
		return constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelArch, Set: constraint.Values(a)})
	}
	class := nodeclass.Class{Name: "default", Spec: nodeclass.Spec{Family: nodeclass.AL2023, Tags: map[string]string{"team": "web"}},
		Resolved: nodeclass.Resolved{
			Groups:  []nodeclass.Group{{ID: "sg-1"}, {ID: "sg-2"}},
			Images:  []nodeclass.Image{{ID: "ami-x86", Requirements: arch("amd64")}, {ID: "ami-arm", Requirements: arch("arm64")}},
			Profile: "prod_profile",
		}}
	r := Request{
		Class: class, Cluster: userdata.Cluster{Name: "prod", Endpoint: "https://prod", CA: "Q0E=", CIDR: "10.100.0.0/16"},
		Subnets: []nodeclass.Subnet{{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az1"}, {ID: "subnet-b", Zone: "us-east-1b", ZoneID: "use1-az2"}},
		Launch: cloud.LaunchRequest{Token: "token-1", Batch: "batch-1", Count: 1, Tags: map[string]string{"karpenter.sh/nodepool": "web"},
			Node: cloud.NodeSetup{Labels: map[string]string{"karpenter.sh/nodepool": "web"},
				Taints: []cloud.Taint{{Key: "karpenter.sh/unregistered", Effect: "NoExecute"}}}},
	}
	r.Launch.Options = []cloud.OfferingChoice{
		{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.Spot, Priority: 0.03},
		{Kind: "m5.xlarge", Zone: "us-east-1a", Option: cluster.Spot, Priority: 0.06},
		{Kind: "m6g.large", Zone: "us-east-1b", Option: cluster.Spot, Priority: 0.02},
		{Kind: "m5.large", Zone: "us-east-1b", Option: cluster.Spot, Priority: 0.04},
	}
	r.Kinds = catalog.For([]catalog.Type{kindType("m5.large", "amd64", 3), kindType("m5.xlarge", "amd64", 4), kindType("m6g.large", "arm64", 3)},
		class, catalog.Settings{})
	if change != nil {
		change(&r)
	}
	return r
}
