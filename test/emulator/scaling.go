package emulator

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
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
	st, p, r := c.state(), c.params, &intReader{}
	g := &scalingGroup{
		Name: p.String("AutoScalingGroupName"), Configuration: p.String("LaunchConfigurationName"), Subnets: p.String("VPCZoneIdentifier"),
		Min: r.int(p, "MinSize"), Max: r.int(p, "MaxSize"), Template: readScalingTemplate(p.At("LaunchTemplate")),
	}
	if g.Desired = g.Min; p.Has("DesiredCapacity") {
		g.Desired = r.int(p, "DesiredCapacity")
	}
	if m := p.At("MixedInstancesPolicy"); m != nil {
		shares := m.At("InstancesDistribution")
		g.Mixed = &scalingMixed{Shares: scalingDistribution{Base: r.int(shares, "OnDemandBaseCapacity"), Percent: 100}}
		if shares.Has("OnDemandPercentageAboveBaseCapacity") {
			g.Mixed.Shares.Percent = r.int(shares, "OnDemandPercentageAboveBaseCapacity")
		}
		if t := readScalingTemplate(m.At("LaunchTemplate", "LaunchTemplateSpecification")); t != nil {
			g.Mixed.Template = *t
		}
		for _, o := range m.At("LaunchTemplate").List("Overrides") {
			one := scalingOverride{Type: o.String("InstanceType")}
			if q := o.At("InstanceRequirements"); q != nil {
				one.Requirements = &scalingAnyTypes{r.int(q.At("VCpuCount"), "Min"), r.int(q.At("MemoryMiB"), "Min")}
			}
			g.Mixed.Overrides = append(g.Mixed.Overrides, one)
		}
	}
	for _, t := range p.List("Tags") {
		g.Tags = append(g.Tags, scalingTag{t.String("Key"), t.String("Value"), t.Bool("PropagateAtLaunch"), g.Name, "auto-scaling-group"})
	}
	switch {
	case r.err != nil:
		return nil, r.err
	case g.Name == "":
		return nil, wire.Errorf("ValidationError", "Group name is missing")
	case g.Max < g.Min || g.Desired < g.Min || g.Desired > g.Max:
		return nil, wire.Errorf("ValidationError", "Desired capacity:%d must be between the specified min size:%d and max size:%d", g.Desired, g.Min, g.Max)
	case g.Template == nil && g.Mixed == nil && g.Configuration == "":
		return nil, wire.Errorf("ValidationError", "Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or MixedInstancesPolicy parameter.")
	case st.Scaling[g.Name] != nil:
		return nil, wire.Errorf("AlreadyExists", "AutoScalingGroup by this name already exists - A group with the name %s already exists", g.Name)
	}
	g.ARN = st.Account.arn("autoscaling", st.Account.Region, "autoScalingGroup:"+st.Account.uniqueID("", g.Name)+":autoScalingGroupName/"+g.Name)
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
	names := c.params.Strings("AutoScalingGroupNames")
	for _, name := range slices.Sorted(maps.Keys(c.state().Scaling)) {
		if len(names) == 0 || slices.Contains(names, name) {
			answer.Groups = append(answer.Groups, c.state().Scaling[name])
		}
	}
	return answer, nil
}

// createNodegroup puts a node group on record, with the Auto Scaling group that EKS makes
// for it.
func createNodegroup(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	st, asked := c.state(), map[string]any{}
	if err := c.decode(&asked); err != nil {
		return nil, err
	}
	name, _ := asked["nodegroupName"].(string)
	switch {
	case name == "" || asked["nodeRole"] == nil || asked["subnets"] == nil:
		return nil, wire.Errorf("InvalidParameterException", "nodegroupName, nodeRole and subnets must be given")
	case st.Nodegroups[name] != nil:
		return nil, wire.Errorf("ResourceInUseException", "NodeGroup already exists with name %s and cluster name %s", name, st.Account.ClusterName).WithStatus(http.StatusConflict)
	}
	group := c.groupOf(name)
	sizes, _ := asked["scalingConfig"].(map[string]any)
	size := func(of string) int {
		n, _ := sizes[of].(float64)
		return int(n)
	}
	var subnets []string
	listed, _ := asked["subnets"].([]any)
	for _, s := range listed {
		id, _ := s.(string)
		subnets = append(subnets, id)
	}
	tag := func(key, value string) scalingTag {
		return scalingTag{key, value, true, group, "auto-scaling-group"}
	}
	cluster := st.Account.ClusterName
	st.Scaling[group] = &scalingGroup{
		Name: group, Min: size("minSize"), Max: size("maxSize"), Desired: size("desiredSize"), Subnets: strings.Join(subnets, ","),
		ARN:      st.Account.arn("autoscaling", st.Account.Region, "autoScalingGroup:"+st.Account.uniqueID("", group)+":autoScalingGroupName/"+group),
		Template: &scalingTemplate{Name: group, Version: "1"},
		Tags: []scalingTag{tag("eks:cluster-name", cluster), tag("eks:nodegroup-name", name), tag("k8s.io/cluster-autoscaler/"+cluster, "owned"),
			tag("k8s.io/cluster-autoscaler/enabled", "true"), tag("kubernetes.io/cluster/"+cluster, "owned")},
	}
	if asked["launchTemplate"] == nil && asked["diskSize"] == nil {
		asked["diskSize"] = 20
	}
	for field, usual := range map[string]any{"amiType": "AL2023_x86_64_STANDARD", "capacityType": "ON_DEMAND"} {
		if asked[field] == nil {
			asked[field] = usual
		}
	}
	delete(asked, "clientRequestToken")
	asked["status"], asked["clusterName"] = "ACTIVE", cluster
	asked["resources"] = map[string]any{"autoScalingGroups": []any{map[string]string{"name": group}}}
	st.Nodegroups[name] = asked
	return map[string]any{"nodegroup": asked}, nil
}

func (c *call) nodegroup() (map[string]any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	g := c.state().Nodegroups[c.names["nodegroup"]]
	if g == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "No node group found for name: %s.", c.names["nodegroup"]).WithStatus(http.StatusNotFound)
	}
	return g, nil
}

func describeNodegroup(c *call) (any, error) {
	g, err := c.nodegroup()
	if err != nil {
		return nil, err
	}
	return map[string]any{"nodegroup": g}, nil
}

func listNodegroups(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	return map[string]any{"nodegroups": append([]string{}, slices.Sorted(maps.Keys(c.state().Nodegroups))...)}, nil
}

// deleteNodegroup takes a node group off the record, and its Auto Scaling group with it.
func deleteNodegroup(c *call) (any, error) {
	g, err := c.nodegroup()
	if err != nil {
		return nil, err
	}
	name := c.names["nodegroup"]
	delete(c.state().Nodegroups, name)
	delete(c.state().Scaling, c.groupOf(name))
	shown := maps.Clone(g)
	shown["status"] = "DELETING"
	return map[string]any{"nodegroup": shown}, nil
}

// groupOf is the name of the Auto Scaling group that EKS makes for a node group.
func (c *call) groupOf(nodegroup string) string {
	return "eks-" + nodegroup + "-" + c.state().Account.uniqueID("", nodegroup)
}
