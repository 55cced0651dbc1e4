package fleet

import (
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Whatever a class asks for has a form, for every family of images.
func TestEveryClassHasAForm(t *testing.T) {
	r := request(t, everySetting)
	full := r.Class.Spec
	full.Placement = &nodeclass.PlacementTerm{Name: "group"}
	for _, family := range []nodeclass.Family{nodeclass.AL2, nodeclass.AL2023, nodeclass.Bottlerocket, nodeclass.Custom, nodeclass.Windows2019, nodeclass.Windows2022, nodeclass.Windows2025, nodeclass.Ubuntu} {
		for name, spec := range map[string]nodeclass.Spec{"nothing": {}, "everything": full} {
			spec.Family = family
			if family == nodeclass.Bottlerocket {
				spec.UserData = ""
			}
			form, err := FormOf(spec, r.Launch.Node)
			if err != nil || form.Base["ImageId"] != "ami-1" || form.Base["MetadataOptions.HttpTokens"] == "" || name == "nothing" && len(form.Variants) != len(variants) {
				t.Errorf("%s with %s: %v, %v", family, name, form, err)
			}
		}
	}
}

// A build that writes one setting otherwise, or has nodes register otherwise, has another form in that alone.
func TestTheFormNamesWhatIsWrittenOtherwise(t *testing.T) {
	node := cloud.NodeSetup{Taints: []cloud.Taint{{Key: "karpenter.sh/unregistered", Effect: "NoExecute"}}}
	spec := nodeclass.Spec{Family: nodeclass.AL2023}
	before, err := FormOf(spec, node)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		change func(*nodeclass.Spec, *cloud.NodeSetup)
		want   string
	}{
		"nothing": {func(*nodeclass.Spec, *cloud.NodeSetup) {}, ""},
		"the hop limit": {func(s *nodeclass.Spec, _ *cloud.NodeSetup) {
			s.Metadata = nodeclass.DefaultMetadata()
			s.Metadata.HopLimit = 2
		}, "MetadataOptions.HttpPutResponseHopLimit"},
		"a tag": {func(s *nodeclass.Spec, _ *cloud.NodeSetup) { s.Tags = map[string]string{"team": "a"} }, "TagSpecifications[0].Tags[team].Key TagSpecifications[0].Tags[team].Value spot: TagSpecifications[1].Tags[team].Key spot: TagSpecifications[1].Tags[team].Value"},
		"another volume": {func(s *nodeclass.Spec, _ *cloud.NodeSetup) {
			s.BlockDevices = []nodeclass.BlockDevice{{DeviceName: "/dev/xvda", EBS: &nodeclass.EBS{VolumeBytes: 50 * gib}}}
		}, "BlockDeviceMappings[/dev/xvda].Ebs.DeleteOnTermination BlockDeviceMappings[/dev/xvda].Ebs.Encrypted BlockDeviceMappings[/dev/xvda].Ebs.VolumeSize BlockDeviceMappings[/dev/xvda].Ebs.VolumeType"},
		"a taint": {func(_ *nodeclass.Spec, n *cloud.NodeSetup) {
			n.Taints = append(slices.Clone(n.Taints), cloud.Taint{Key: "new", Effect: "NoSchedule"})
		}, "UserData NodeConfig 1 spec.kubelet.config.registerWithTaints[new].effect UserData NodeConfig 1 spec.kubelet.config.registerWithTaints[new].key"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, n := spec, node
			tt.change(&s, &n)
			after, err := FormOf(s, n)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range before.All(*after) {
				got = append(got, strings.TrimPrefix(d.Variant+": "+d.Setting, ": "))
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("these differ: %s\nwant %s", text, tt.want)
			}
		})
	}
}

// A launch template of the user's own is none of ours to compare.
func TestAnOwnLaunchTemplateHasNoForm(t *testing.T) {
	if form, err := FormOf(nodeclass.Spec{LaunchTemplate: "mine"}, cloud.NodeSetup{}); form != nil || err != nil {
		t.Errorf("FormOf = %v, %v", form, err)
	}
}

// What launch templates of spot instances, of reservations and of the like have otherwise is part of the form, and nothing
// else is.
func TestVariantsHaveWhatTheirLaunchTemplatesHave(t *testing.T) {
	form, err := FormOf(nodeclass.Spec{Family: nodeclass.Bottlerocket, InstanceStore: nodeclass.RAID0, Placement: &nodeclass.PlacementTerm{Name: "group"}}, cloud.NodeSetup{})
	if err != nil {
		t.Fatal(err)
	}
	for variant, want := range map[string]struct{ setting, value string }{
		nodeclass.VariantSpot:          {"TagSpecifications[1].ResourceType", "spot-instances-request"},
		nodeclass.VariantReserved:      {"CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId", "reservation-1"},
		nodeclass.VariantBlock:         {"InstanceMarketOptions.MarketType", "capacity-block"},
		nodeclass.VariantInterruptible: {"InstanceMarketOptions.MarketType", "interruptible-capacity-reservation"},
		nodeclass.VariantDedicated:     {"Placement.Tenancy", "dedicated"},
		nodeclass.VariantPartition:     {"Placement.PartitionNumber", "1"},
		nodeclass.VariantFewPods:       {"UserData settings.kubernetes.max-pods", "11"},
		nodeclass.VariantManyPods:      {"UserData settings.kubernetes.max-pods", "737"},
		nodeclass.VariantEFA:           {"NetworkInterfaces[0].InterfaceType", "efa"},
		nodeclass.VariantEFAs:          {"NetworkInterfaces[1].NetworkCardIndex", "1"},
		nodeclass.VariantRelease:       {"UserData settings.bootstrap-commands.000-mount-instance-storage.commands[1][3]", ""},
		nodeclass.VariantArm:           {},
		nodeclass.VariantGPU:           {},
		nodeclass.VariantNeuron:        {},
	} {
		its, known := form.Variants[variant]
		if value, has := its[want.setting]; !known || value != want.value || !has && want.setting != "" || want.setting == "" && len(its) > 0 {
			t.Errorf("instances of the variant %s have otherwise %v; want %s to be %q", variant, its, want.setting, want.value)
		}
	}
}
