package catalog

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

func TestAttachable(t *testing.T) {
	reports := func(n int32, kind types.AttachmentLimitType) func(*types.InstanceTypeInfo) {
		return func(i *types.InstanceTypeInfo) {
			i.EbsInfo = &types.EbsInfo{MaximumEbsAttachments: aws.Int32(n), AttachmentLimitType: kind}
		}
	}
	shared, dedicated := reports(27, types.AttachmentLimitTypeShared), reports(32, types.AttachmentLimitTypeDedicated)
	both := func(list ...func(*types.InstanceTypeInfo)) func(*types.InstanceTypeInfo) {
		return func(i *types.InstanceTypeInfo) {
			for _, f := range list {
				f(i)
			}
		}
	}
	silent := func(i *types.InstanceTypeInfo) { i.EbsInfo = nil }
	xen := func(i *types.InstanceTypeInfo) { i.Hypervisor = types.InstanceTypeHypervisorXen }
	disks := func(i *types.InstanceTypeInfo) {
		i.InstanceStorageInfo = &types.InstanceStorageInfo{NvmeSupport: types.EphemeralNvmeSupportRequired,
			Disks: []types.DiskInfo{{Count: aws.Int32(4)}}}
	}
	gpus := func(i *types.InstanceTypeInfo) {
		i.GpuInfo = &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{Count: aws.Int32(3)}}}
	}
	plain := nodeclass.Spec{Family: nodeclass.AL2023}
	devices := func(f nodeclass.Family, names ...string) nodeclass.Spec {
		out := nodeclass.Spec{Family: f}
		for _, n := range names {
			out.BlockDevices = append(out.BlockDevices, nodeclass.BlockDevice{DeviceName: n, EBS: &nodeclass.EBS{}})
		}
		return out
	}
	twoInterfaces := nodeclass.Spec{Family: nodeclass.AL2023, Interfaces: []nodeclass.Interface{{}, {Device: 1}}}
	tests := map[string]struct {
		change func(*types.InstanceTypeInfo)
		spec   nodeclass.Spec
		want   int64
	}{
		"what EC2 tells, less the root":            {shared, plain, 26},
		"volumes by themselves":                    {dedicated, plain, 31},
		"interfaces take shared places":            {shared, twoInterfaces, 25},
		"interfaces take no dedicated places":      {dedicated, twoInterfaces, 31},
		"interfaces take no places on Xen":         {both(shared, xen), twoInterfaces, 26},
		"Nitro by the rule":                        {silent, plain, 26},
		"Nitro by the rule, with local disks":      {both(silent, disks), plain, 22},
		"Nitro by the rule, with GPUs":             {both(silent, gpus), plain, 23},
		"Nitro by the rule, with interfaces":       {silent, twoInterfaces, 25},
		"others by the rule":                       {both(silent, xen), plain, 38},
		"the root named by the class counts once":  {shared, devices(nodeclass.AL2023, "/dev/xvda"), 26},
		"further volumes of the class":             {shared, devices(nodeclass.AL2023, "/dev/xvda", "/dev/xvdf"), 25},
		"the image's root beside the class's":      {shared, devices(nodeclass.AL2023, "/dev/xvdf"), 25},
		"Bottlerocket has two":                     {shared, devices(nodeclass.Bottlerocket), 25},
		"Windows names its root otherwise":         {shared, devices(nodeclass.Windows2022, "/dev/sda1"), 26},
		"an unknown image has a root":              {shared, devices(nodeclass.Custom), 26},
		"an unknown image's root may be named":     {shared, devices(nodeclass.Custom, "/dev/sda1"), 26},
		"an unknown image's root may not be named": {shared, devices(nodeclass.Custom, "/dev/sdf"), 25},
		"never less than none":                     {reports(2, types.AttachmentLimitTypeShared), devices(nodeclass.AL2023, "/dev/sdf", "/dev/sdg"), 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := convert(with(tt.change), "us-east-1", nil).Attachments.attachable(tt.spec); got != tt.want {
				t.Errorf("attachable = %d, want %d", got, tt.want)
			}
		})
	}
}

// everyType is what EC2 answers about each type that is offered.
func everyType(t *testing.T) []types.InstanceTypeInfo {
	t.Helper()
	server := emulator.New(world.Options{Seed: 1})
	t.Cleanup(server.Close)
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	account := ec2.NewFromConfig(client.At(web.URL, "us-east-1", client.Key{ID: "key", Secret: "secret"}))
	var out []types.InstanceTypeInfo
	pages := ec2.NewDescribeInstanceTypesPaginator(account, &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(100)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, page.InstanceTypes...)
	}
	if len(out) < 900 {
		t.Fatalf("%d types, want the whole catalogue", len(out))
	}
	return out
}

// The rule is there for types that are newer than EC2's answer about them. It
// may promise less than there is, never more.
func TestTheRuleNeverPromisesMoreThanEC2(t *testing.T) {
	for _, info := range everyType(t) {
		name := string(info.InstanceType)
		if strings.HasPrefix(name, "mac") || name == "g5.48xlarge" { // Macs run no nodes; each GPU of the other takes more than one place
			continue
		}
		reported := convert(info, "us-east-1", nil).Attachments
		info.EbsInfo.MaximumEbsAttachments = nil
		if rule := convert(info, "us-east-1", nil).Attachments; rule.Volumes > reported.Volumes {
			t.Errorf("%s: the rule says %d volumes, EC2 %d", name, rule.Volumes, reported.Volumes)
		}
	}
}

// EC2 says which types are burstable and the published table how far: both must arrive.
func TestSustainedFollowsTheTable(t *testing.T) {
	want := map[string]int64{"t3.nano": 100, "t3a.large": 600, "t4g.2xlarge": 3200, "t2.micro": 100, "t2.2xlarge": 1360, "m5.large": 0}
	burstable := 0
	for _, info := range everyType(t) {
		got := convert(info, "us-east-1", nil)
		if record, ok := ec2data.Load().Type(got.Name); !ok || record.Burstable != (got.Sustained > 0) {
			t.Errorf("%s can use %s for ever; burstable by the record: %v", got.Name, got.Sustained, record.Burstable)
		}
		if got.Sustained > 0 {
			burstable++
		}
		if cpu, asked := want[got.Name]; asked && int64(got.Sustained) != cpu {
			t.Errorf("%s can use %s for ever, want %dm", got.Name, got.Sustained, cpu)
		}
	}
	if burstable != 28 {
		t.Errorf("%d burstable types, want 28 in four families", burstable)
	}
}

func TestSurplusIsWhatCreditsCost(t *testing.T) {
	tests := map[string]struct {
		kind     string
		family   nodeclass.Family
		settings Settings
		want     quantity.MicroUSDPerHour // for a core
	}{
		"a burstable type is billed":                {"t3.medium", nodeclass.AL2023, Settings{SurplusCredits: true}, 50000},
		"for less on Graviton":                      {"t4g.medium", nodeclass.AL2023, Settings{SurplusCredits: true}, 40000},
		"for more under Windows":                    {"t3.medium", nodeclass.Windows2022, Settings{SurplusCredits: true}, 96000},
		"one that is slowed down has none":          {"t2.medium", nodeclass.AL2023, Settings{SurplusCredits: true}, 0},
		"a steady type has none":                    {"m5.large", nodeclass.AL2023, Settings{SurplusCredits: true}, 0},
		"none is counted on where it is turned off": {"t3.medium", nodeclass.AL2023, Settings{}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			one := Type{Name: tt.kind, Arch: "amd64", CPUs: 2, MemoryMiB: 4096}
			if strings.HasPrefix(tt.kind, "t") {
				one.Sustained = 400
			}
			class := nodeclass.Class{Spec: nodeclass.Spec{Family: tt.family}, Resolved: nodeclass.Resolved{Images: []nodeclass.Image{{ID: "ami"}}}}
			instanceTypes := For([]Type{one}, class, tt.settings).InstanceTypes
			if len(instanceTypes) != 1 || instanceTypes[0].Surplus != tt.want {
				t.Errorf("%s costs %+v; want one kind with a surplus of %s a core", tt.kind, instanceTypes, tt.want)
			}
		})
	}
}
