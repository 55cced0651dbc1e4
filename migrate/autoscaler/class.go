package autoscaler

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud/nodegroup"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/migrate/convert"
)

// class is the EC2NodeClass of a group.
func (s *Settings) class(e *entry, g nodegroup.Group, name string) *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{TypeMeta: metav1.TypeMeta{APIVersion: awsv1.GroupVersion.String(), Kind: "EC2NodeClass"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, why := range g.Unmanaged {
		e.note(convert.Refuses, "", "%s", why)
	}
	for _, id := range g.Missing {
		e.note(convert.Refuses, "launch template", "names %s, which EC2 does not know: mend the group first", id)
	}
	for _, id := range g.Subnets {
		c.Spec.SubnetSelectorTerms = append(c.Spec.SubnetSelectorTerms, awsv1.SubnetSelectorTerm{ID: id})
	}
	for _, id := range g.SecurityGroups {
		c.Spec.SecurityGroupSelectorTerms = append(c.Spec.SecurityGroupSelectorTerms, awsv1.SecurityGroupSelectorTerm{ID: id})
	}
	if len(g.Missing) == 0 {
		e.note(convert.Maps, "subnets", "by ID, all of which EC2 has: %s", strings.Join(g.Subnets, ", "))
		e.note(convert.Maps, "security groups", "by ID, all of which EC2 has: %s", strings.Join(g.SecurityGroups, ", "))
	}
	switch {
	case g.Role != "":
		c.Spec.Role = g.Role
		e.note(convert.Maps, "role", "spec.role %s", g.Role)
	case g.Profile != "":
		c.Spec.InstanceProfile = &g.Profile
		e.note(convert.Maps, "instance profile", "spec.instanceProfile %s", g.Profile)
	case g.Template != "":
		e.note(convert.Refuses, "instance profile", "the launch template names none, so no instance could join: name one in a version of it")
	}
	family := images(e, g, c)
	userData(e, g, c, family)
	volumes(e, g, c, family)
	metadata(e, g, c, family)
	if c.Spec.Tags = tags(g.Launched); len(c.Spec.Tags) > 0 {
		e.note(convert.Maps, "tags", "spec.tags %s", strings.Join(slices.Sorted(maps.Keys(c.Spec.Tags)), ", "))
	}
	if g.Placement != "" {
		c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: g.Placement}
	}
	if g.Monitoring {
		c.Spec.DetailedMonitoring = new(true)
	}
	c.Spec.AssociatePublicIPAddress = g.PublicIP
	if g.KeyName != "" {
		e.note(convert.Loses, "key pair", "%s: instances have none; use Session Manager, or add the public key in spec.userData", g.KeyName)
	}
	return c
}

// aliases are those of the images that EKS chooses for a group.
var aliases = []struct {
	prefix, alias string
	family        awsv1.AMIFamily
}{
	{"AL2023_", "al2023@latest", awsv1.FamilyAL2023},
	{"AL2_", "al2@latest", awsv1.FamilyAL2},
	{"BOTTLEROCKET_", "bottlerocket@latest", awsv1.FamilyBottlerocket},
	{"WINDOWS_CORE_2019", "windows2019@latest", awsv1.FamilyWindows2019},
	{"WINDOWS_CORE_2022", "windows2022@latest", awsv1.FamilyWindows2022},
	{"WINDOWS_CORE_2025", "windows2025@latest", awsv1.FamilyWindows2025},
}

// families are recognised by the names of images.
var families = []struct {
	name   *regexp.Regexp
	family awsv1.AMIFamily
}{
	{regexp.MustCompile(`^amazon-eks-node-al2023-`), awsv1.FamilyAL2023},
	{regexp.MustCompile(`^amazon-eks-(gpu-|arm64-)?node-[0-9]`), awsv1.FamilyAL2},
	{regexp.MustCompile(`^bottlerocket-aws-k8s-`), awsv1.FamilyBottlerocket},
	{regexp.MustCompile(`^Windows_Server-2019-.*EKS_Optimized`), awsv1.FamilyWindows2019},
	{regexp.MustCompile(`^Windows_Server-2022-.*EKS_Optimized`), awsv1.FamilyWindows2022},
	{regexp.MustCompile(`^Windows_Server-2025-.*EKS_Optimized`), awsv1.FamilyWindows2025},
}

// images chooses them, and returns the family.
func images(e *entry, g nodegroup.Group, c *awsv1.EC2NodeClass) awsv1.AMIFamily {
	if g.Images != "" {
		for _, a := range aliases {
			if strings.HasPrefix(g.Images, a.prefix) {
				c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: a.alias}}
				e.note(convert.Changes, "AMI type", "%s: alias %s, the newest image for the cluster's version, where the group had the release it was last updated to", g.Images, a.alias)
				if a.family == awsv1.FamilyAL2 {
					e.note(convert.Changes, "AMI type", "there are no images of AL2 for Kubernetes 1.33 and later: go over to al2023@latest before, whose user data is another")
				}
				return a.family
			}
		}
		e.note(convert.Refuses, "AMI type", "%s has no alias: give the group's launch template an image", g.Images)
		return awsv1.FamilyCustom
	}
	if g.Template == "" {
		return awsv1.FamilyCustom // refused already
	}
	if g.Image == "" {
		e.note(convert.Refuses, "image", "the launch template names none")
		return awsv1.FamilyCustom
	}
	family := awsv1.FamilyCustom
	for _, f := range families {
		if f.name.MatchString(g.ImageName) {
			family = f.family
		}
	}
	c.Spec.AMIFamily = &family
	if parameter, is := strings.CutPrefix(g.Image, "resolve:ssm:"); is {
		c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{SSMParameter: parameter}}
		e.note(convert.Maps, "image", "of parameter %s, family %s: set spec.amiFamily if it is another", parameter, family)
	} else {
		c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{ID: g.Image}}
		e.note(convert.Maps, "image", "%s (%s), family %s", g.Image, g.ImageName, family)
	}
	return family
}

// joins are marks of user data that joins a cluster by itself.
var joins = []string{"/etc/eks/bootstrap.sh", "kind: NodeConfig", "[settings.kubernetes]", "Start-EKSBootstrap"}

// userData keeps what is not Daemok's to write.
func userData(e *entry, g nodegroup.Group, c *awsv1.EC2NodeClass, family awsv1.AMIFamily) {
	if strings.TrimSpace(g.UserData) == "" {
		return
	}
	byItself := slices.IndexFunc(joins, func(mark string) bool { return strings.Contains(g.UserData, mark) })
	switch {
	case family == awsv1.FamilyCustom:
		c.Spec.UserData = &g.UserData
		e.note(convert.Changes, "user data", "as it is: it must have the kubelet register the taint karpenter.sh/unregistered:NoExecute now")
	case byItself >= 0 && g.Images == "": // EKS adds to what a managed group has, as Daemok does
		e.note(convert.Changes, "user data", "joins the cluster by %s, which is written for every instance of the family %s: it is left out, so put what else it does, such as labels and settings of the kubelet, into spec.userData, spec.kubelet and the NodePool",
			joins[byItself], family)
	default:
		c.Spec.UserData = &g.UserData
		e.note(convert.Maps, "user data", "spec.userData")
	}
}

// root is the device that nodes of a family keep their files on.
func root(family awsv1.AMIFamily) string {
	switch family {
	case awsv1.FamilyBottlerocket:
		return "/dev/xvdb"
	case awsv1.FamilyWindows2019, awsv1.FamilyWindows2022, awsv1.FamilyWindows2025:
		return "/dev/sda1"
	}
	return "/dev/xvda"
}

func volumes(e *entry, g nodegroup.Group, c *awsv1.EC2NodeClass, family awsv1.AMIFamily) {
	size := func(gib int64) *awsv1.VolumeSize { return new(awsv1.VolumeSize(fmt.Sprintf("%dGi", gib))) }
	if len(g.Devices) == 0 && g.DiskGiB > 0 {
		c.Spec.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{DeviceName: new(root(family)), RootVolume: true, EBS: &awsv1.BlockDevice{VolumeSize: size(int64(g.DiskGiB)), VolumeType: new("gp3"), Encrypted: new(true)}}}
		e.note(convert.Changes, "disk size", "%d GiB on %s, of type gp3 and encrypted", g.DiskGiB, root(family))
		return
	}
	for _, d := range g.Devices {
		b := &awsv1.BlockDevice{Encrypted: d.Encrypted, DeleteOnTermination: d.DeletedWithItAll}
		if d.SizeGiB > 0 {
			b.VolumeSize = size(d.SizeGiB)
		}
		set(&b.VolumeType, d.Type)
		set(&b.SnapshotID, d.Snapshot)
		set(&b.KMSKeyID, d.Key)
		set(&b.IOPS, d.IOPS)
		set(&b.Throughput, d.Throughput)
		if b.VolumeSize == nil && b.SnapshotID == nil {
			e.note(convert.Changes, "volume "+d.Name, "says no size, so it was that of the image: it is left out, and has that size still")
			continue
		}
		c.Spec.BlockDeviceMappings = append(c.Spec.BlockDeviceMappings, awsv1.BlockDeviceMapping{DeviceName: &d.Name, RootVolume: d.Name == root(family), EBS: b})
		e.note(convert.Maps, "volume "+d.Name, "spec.blockDeviceMappings")
	}
}

// set fills in what was said.
func set[T comparable](at **T, value T) {
	var none T
	if value != none {
		*at = &value
	}
}

// metadata writes out what held, as other defaults hold now.
func metadata(e *entry, g nodegroup.Group, c *awsv1.EC2NodeClass, family awsv1.AMIFamily) {
	m := &awsv1.MetadataOptions{HTTPEndpoint: new("enabled"), HTTPProtocolIPv6: new("disabled"), HTTPPutResponseHopLimit: new(int64(1)), HTTPTokens: new("optional")}
	if g.Managed != "" && g.Template == "" { // as EKS launches them
		*m.HTTPPutResponseHopLimit = 2
		if family == awsv1.FamilyAL2023 || family == awsv1.FamilyBottlerocket {
			*m.HTTPTokens = "required"
		}
	}
	set(&m.HTTPEndpoint, g.Metadata.Endpoint)
	set(&m.HTTPProtocolIPv6, g.Metadata.IPv6)
	set(&m.HTTPTokens, g.Metadata.Tokens)
	set(&m.HTTPPutResponseHopLimit, g.Metadata.Hops)
	c.Spec.MetadataOptions = m
	e.note(convert.Maps, "metadata options", "written out: hop limit %d, tokens %s", *m.HTTPPutResponseHopLimit, *m.HTTPTokens)
}

// tags are those of a group's instances that are not made again for each instance, and do not
// identify its owner to others.
func tags(launched map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range launched {
		reserved := slices.ContainsFunc([]string{"aws:", "eks:", "kubernetes.io/cluster/", "k8s.io/cluster/", "k8s.io/cluster-autoscaler/", "karpenter.sh/", "karpenter.k8s.aws/"},
			func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		if !reserved && key != "" && key != "Name" {
			out[key] = value
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
