package autoscaling

import (
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// scalingGroup is an Auto Scaling group on record: it says what it was told, and launches
// nothing.
type scalingGroup struct {
	Name          string           `xml:"AutoScalingGroupName"`
	ARN           string           `xml:"AutoScalingGroupARN"`
	Min           int              `xml:"MinSize"`
	Max           int              `xml:"MaxSize"`
	Desired       int              `xml:"DesiredCapacity"`
	Configuration string           `xml:"LaunchConfigurationName,omitempty"`
	Template      *scalingTemplate `xml:"LaunchTemplate"`
	Mixed         *scalingMixed    `xml:"MixedInstancesPolicy"`
	Subnets       string           `xml:"VPCZoneIdentifier"`
	Tags          []scalingTag     `xml:"Tags>member"`
}

type scalingTemplate struct {
	ID      string `xml:"LaunchTemplateId,omitempty"`
	Name    string `xml:"LaunchTemplateName,omitempty"`
	Version string `xml:"Version,omitempty"`
}

type scalingMixed struct {
	Template  scalingTemplate     `xml:"LaunchTemplate>LaunchTemplateSpecification"`
	Overrides []scalingOverride   `xml:"LaunchTemplate>Overrides>member"`
	Shares    scalingDistribution `xml:"InstancesDistribution"`
}

type scalingOverride struct {
	Type         string           `xml:"InstanceType,omitempty"`
	Requirements *scalingAnyTypes `xml:"InstanceRequirements"`
}

// scalingAnyTypes are the bounds by which types are chosen that none lists.
type scalingAnyTypes struct {
	CPUsMin   int `xml:"VCpuCount>Min"`
	MemoryMin int `xml:"MemoryMiB>Min"`
}

type scalingDistribution struct {
	Base    int `xml:"OnDemandBaseCapacity"`
	Percent int `xml:"OnDemandPercentageAboveBaseCapacity"`
}

type scalingTag struct {
	Key       string `xml:"Key"`
	Value     string `xml:"Value"`
	Propagate bool   `xml:"PropagateAtLaunch"`
	Group     string `xml:"ResourceId"`
	Kind      string `xml:"ResourceType"`
}

func createScalingGroup(c *call) (any, error) {
	st, p, r := c.server, c.Params, &world.IntReader{}
	g := &scalingGroup{
		Name: p.String("AutoScalingGroupName"), Configuration: p.String("LaunchConfigurationName"), Subnets: p.String("VPCZoneIdentifier"),
		Min: r.Int(p, "MinSize"), Max: r.Int(p, "MaxSize"), Template: readScalingTemplate(p.At("LaunchTemplate")),
	}
	if g.Desired = g.Min; p.Has("DesiredCapacity") {
		g.Desired = r.Int(p, "DesiredCapacity")
	}
	if m := p.At("MixedInstancesPolicy"); m != nil {
		shares := m.At("InstancesDistribution")
		g.Mixed = &scalingMixed{Shares: scalingDistribution{Base: r.Int(shares, "OnDemandBaseCapacity"), Percent: 100}}
		if shares.Has("OnDemandPercentageAboveBaseCapacity") {
			g.Mixed.Shares.Percent = r.Int(shares, "OnDemandPercentageAboveBaseCapacity")
		}
		if t := readScalingTemplate(m.At("LaunchTemplate", "LaunchTemplateSpecification")); t != nil {
			g.Mixed.Template = *t
		}
		for _, o := range m.At("LaunchTemplate").List("Overrides") {
			one := scalingOverride{Type: o.String("InstanceType")}
			if q := o.At("InstanceRequirements"); q != nil {
				one.Requirements = &scalingAnyTypes{r.Int(q.At("VCpuCount"), "Min"), r.Int(q.At("MemoryMiB"), "Min")}
			}
			g.Mixed.Overrides = append(g.Mixed.Overrides, one)
		}
	}
	for _, t := range p.List("Tags") {
		g.Tags = append(g.Tags, scalingTag{t.String("Key"), t.String("Value"), t.Bool("PropagateAtLaunch"), g.Name, "auto-scaling-group"})
	}
	switch {
	case r.Err != nil:
		return nil, r.Err
	case g.Name == "":
		return nil, wire.Errorf("ValidationError", "Group name is missing")
	case g.Max < g.Min || g.Desired < g.Min || g.Desired > g.Max:
		return nil, wire.Errorf("ValidationError", "Desired capacity:%d must be between the specified min size:%d and max size:%d", g.Desired, g.Min, g.Max)
	case g.Template == nil && g.Mixed == nil && g.Configuration == "":
		return nil, wire.Errorf("ValidationError", "Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or MixedInstancesPolicy parameter.")
	case st.Scaling[g.Name] != nil:
		return nil, wire.Errorf("AlreadyExists", "AutoScalingGroup by this name already exists - A group with the name %s already exists", g.Name)
	}
	g.ARN = st.Settings.ARN("autoscaling", st.Settings.Region, "autoScalingGroup:"+st.Settings.UniqueID("", g.Name)+":autoScalingGroupName/"+g.Name)
	st.Scaling[g.Name] = g
	return struct{}{}, nil
}

func readScalingTemplate(n *wire.Node) *scalingTemplate {
	if n == nil {
		return nil
	}
	return &scalingTemplate{n.String("LaunchTemplateId"), n.String("LaunchTemplateName"), n.String("Version")}
}

func describeScalingGroups(c *call) (any, error) {
	var answer struct {
		Groups []*scalingGroup `xml:"AutoScalingGroups>member"`
	}
	names := c.Params.Strings("AutoScalingGroupNames")
	for _, name := range slices.Sorted(maps.Keys(c.server.Scaling)) {
		if len(names) == 0 || slices.Contains(names, name) {
			answer.Groups = append(answer.Groups, c.server.Scaling[name])
		}
	}
	return answer, nil
}

// AddForNodegroup puts the group on record that EKS makes for a node group. The lock is held.
func (s *Scaling) AddForNodegroup(group, nodegroup string, least, most, desired int, subnets []string) {
	tag := func(key, value string) scalingTag {
		return scalingTag{key, value, true, group, "auto-scaling-group"}
	}
	cluster := s.Settings.ClusterName
	s.Scaling[group] = &scalingGroup{
		Name: group, Min: least, Max: most, Desired: desired, Subnets: strings.Join(subnets, ","),
		ARN:      s.Settings.ARN("autoscaling", s.Settings.Region, "autoScalingGroup:"+s.Settings.UniqueID("", group)+":autoScalingGroupName/"+group),
		Template: &scalingTemplate{Name: group, Version: "1"},
		Tags: []scalingTag{tag("eks:cluster-name", cluster), tag("eks:nodegroup-name", nodegroup), tag("k8s.io/cluster-autoscaler/"+cluster, "owned"),
			tag("k8s.io/cluster-autoscaler/enabled", "true"), tag("kubernetes.io/cluster/"+cluster, "owned")},
	}
}

// Forget takes a group off the record. The lock is held.
func (s *Scaling) Forget(group string) { delete(s.Scaling, group) }
