package emulator

import (
	"slices"
	"strings"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/wire"
)

// neededBy tells which rights a call needs where these are not one action on all resources. What
// the call names and is not there needs none: the handler says that it is missing.
var neededBy = map[string]func(c *call, action string) []iampolicy.Call{
	wire.EC2 + ":CreateFleet":          needsOfFleet,
	wire.EC2 + ":RunInstances":         func(*call, string) []iampolicy.Call { return nil }, // its launch does
	wire.EC2 + ":CreateLaunchTemplate": needsOfTemplate,
	wire.EC2 + ":DeleteLaunchTemplate": needsOnTemplate,
	wire.EC2 + ":TerminateInstances":   needsOnInstances,
	wire.EC2 + ":StopInstances":        needsOnInstances,
	wire.EC2 + ":StartInstances":       needsOnInstances,
	wire.EC2 + ":CreateTags":           needsOnTagged,
	wire.EC2 + ":DeleteTags":           needsOnTagged,

	wire.IAM + ":CreateInstanceProfile":         needsOfProfile,
	wire.IAM + ":GetInstanceProfile":            needsOnProfile,
	wire.IAM + ":DeleteInstanceProfile":         needsOnProfile,
	wire.IAM + ":TagInstanceProfile":            needsOnProfile,
	wire.IAM + ":AddRoleToInstanceProfile":      needsOnProfile,
	wire.IAM + ":RemoveRoleFromInstanceProfile": needsOnProfile,

	wire.STS + ":GetCallerIdentity":         func(*call, string) []iampolicy.Call { return nil }, // "no permissions are required"
	wire.STS + ":AssumeRole":                func(*call, string) []iampolicy.Call { return nil }, // the role's trust counts too
	wire.STS + ":AssumeRoleWithWebIdentity": func(*call, string) []iampolicy.Call { return nil }, // the token is who asks

	wire.EKS + ":DescribeCluster": func(c *call, action string) []iampolicy.Call {
		a := c.state().Account
		return []iampolicy.Call{need(action, a.arn("eks", a.Region, "cluster/"+c.names["cluster"]))}
	},
	wire.ARC + ":GetManagedResource": func(c *call, action string) []iampolicy.Call {
		n := need(action, c.names["resource"])
		n.Context.Set("arc-zonal-shift:ResourceIdentifier", c.names["resource"])
		return []iampolicy.Call{n}
	},
	wire.SSM + ":GetParameter": needsOnParameter,

	wire.SQS + ":GetQueueUrl":                  needsOnQueue,
	wire.SQS + ":ReceiveMessage":               needsOnQueue,
	wire.SQS + ":DeleteMessage":                needsOnQueue,
	wire.SQS + ":DeleteMessageBatch":           needsOnQueue,
	wire.SQS + ":ListQueueTags":                needsOnQueue,
	wire.SQS + ":SendMessage":                  needsOnQueue,
	wire.SQS + ":ChangeMessageVisibility":      needsOnQueue,
	wire.SQS + ":ChangeMessageVisibilityBatch": needsOnQueue,
}

// needsOfFleet are those of the fleet itself: what it tags, and the launch templates that it names.
func needsOfFleet(c *call, action string) []iampolicy.Call {
	specs, err := readTagSpecifications(c.params)
	if err != nil {
		return nil // the handler says what is wrong
	}
	var all []iampolicy.Call
	for _, kind := range []string{"fleet", "instance", "volume"} {
		if given := tagsFor(specs, kind); kind == "fleet" || len(given) > 0 {
			all = append(all, c.server.making("CreateFleet", kind, given)...)
		}
	}
	for _, config := range c.params.List("LaunchTemplateConfigs") {
		spec := config.At("LaunchTemplateSpecification")
		if t, err := c.state().templateOf(spec.String("LaunchTemplateId"), spec.String("LaunchTemplateName")); err == nil {
			all = append(all, on(action, c.server.ec2ARN("launch-template", t.ID), t.Tags))
		}
	}
	return all
}

// ofLaunch are the rights that launching instances needs, whoever asks: every resource that the
// launch names or makes, the tags that it gives, and the role that its instances have.
func (s *Server) ofLaunch(l launch) []iampolicy.Call {
	const run = "ec2:RunInstances"
	region := s.st.Account.Region
	all := []iampolicy.Call{
		need(run, "arn:aws:ec2:"+region+"::image/"+l.image.ID),
		on(run, s.ec2ARN("subnet", l.subnet.ID), l.subnet.Tags),
	}
	for _, id := range l.groups {
		if g, err := s.st.group(id); err == nil {
			all = append(all, on(run, s.ec2ARN("security-group", id), g.Tags))
		}
	}
	if t := l.template; t != nil {
		all = append(all, on(run, s.ec2ARN("launch-template", t.ID), t.Tags))
	}
	if l.data.KeyName != "" {
		all = append(all, need(run, s.ec2ARN("key-pair", l.data.KeyName)))
	}
	if r := l.reservation; r != nil && l.data.Reservation != nil && l.data.Reservation.Target != nil {
		all = append(all, on(run, s.st.reservationARN(r), r.Tags))
	}
	if g := l.placement; g != nil {
		all = append(all, on(run, s.ec2ARN("placement-group", g.Name), g.Tags))
	}
	for _, d := range l.data.Devices {
		if d.EBS != nil && d.EBS.Snapshot != "" {
			all = append(all, need(run, "arn:aws:ec2:"+region+"::snapshot/"+d.EBS.Snapshot))
		}
	}
	specs := slices.Concat(l.data.Tags, l.tags)
	kinds := []string{"instance", "volume", "network-interface"}
	if l.spot {
		kinds = append(kinds, "spot-instances-request")
	}
	for _, kind := range kinds {
		all = append(all, s.making("RunInstances", kind, tagsFor(specs, kind))...)
	}
	if p := l.profile; p != nil && s.st.Roles[p.Role] != nil {
		all = append(all, s.passing(s.st.Roles[p.Role]))
	}
	return all
}

// passing is the right to give instances a role.
func (s *Server) passing(r *role) iampolicy.Call {
	n := need("iam:PassRole", s.st.roleARN(r))
	n.Context.Set("iam:PassedToService", "ec2.amazonaws.com")
	return n
}

func needsOfTemplate(c *call, _ string) []iampolicy.Call {
	specs, err := readTagSpecifications(c.params)
	if err != nil {
		return nil
	}
	return c.server.making("CreateLaunchTemplate", "launch-template", tagsFor(specs, "launch-template"))
}

func needsOnTemplate(c *call, action string) []iampolicy.Call {
	t, err := c.namedTemplate()
	if err != nil {
		return nil
	}
	return []iampolicy.Call{on(action, c.server.ec2ARN("launch-template", t.ID), t.Tags)}
}

func needsOnInstances(c *call, action string) (all []iampolicy.Call) {
	for _, id := range c.params.Strings("InstanceId") {
		if i := c.state().Instances[id]; i != nil {
			all = append(all, on(action, c.server.ec2ARN("instance", id), i.Tags))
		}
	}
	return all
}

func needsOnTagged(c *call, action string) (all []iampolicy.Call) {
	given, err := readTags(c.params.List("Tag"))
	found, missing := c.server.taggedByID(c.params.Strings("ResourceId"), c.now)
	if err != nil || missing != nil {
		return nil
	}
	for _, t := range found {
		all = append(all, giving(on(action, c.server.ec2ARN(t.kind, t.id), *t.tags), given))
	}
	return all
}

func needsOfProfile(c *call, action string) []iampolicy.Call {
	path, err := c.entityPath()
	given, wrong := readTags(c.params.List("Tags"))
	if err != nil || wrong != nil {
		return nil
	}
	p := &profile{Name: c.params.String("InstanceProfileName"), Path: path}
	arn := c.state().profileARN(p)
	all := []iampolicy.Call{giving(need(action, arn), given)}
	if len(given) > 0 { // tags in the call that makes it need the right to tag, as of a profile that has them
		all = append(all, giving(on("iam:TagInstanceProfile", arn, given), given))
	}
	return all
}

// needsOnProfile are those of calls about a profile. Whoever adds a role to one passes it on.
func needsOnProfile(c *call, action string) []iampolicy.Call {
	st, name := c.state(), c.params.String("InstanceProfileName")
	p := st.Profiles[name]
	if p == nil {
		p = &profile{Name: name, Path: "/"}
	}
	given, err := readTags(c.params.List("Tags"))
	if err != nil {
		return nil
	}
	all := []iampolicy.Call{giving(on(action, st.profileARN(p), p.Tags), given)}
	if r := st.Roles[c.params.String("RoleName")]; r != nil && c.action == "AddRoleToInstanceProfile" {
		all = append(all, c.server.passing(r))
	}
	return all
}

func needsOnParameter(c *call, action string) []iampolicy.Call {
	var in struct{ Name string }
	if c.decode(&in) != nil {
		return nil
	}
	a := c.state().Account
	switch {
	case strings.HasPrefix(in.Name, "arn:"):
		return []iampolicy.Call{need(action, in.Name)}
	case strings.HasPrefix(in.Name, "/aws/"):
		return []iampolicy.Call{need(action, "arn:aws:ssm:"+a.Region+"::parameter"+in.Name)}
	}
	return []iampolicy.Call{need(action, a.arn("ssm", a.Region, "parameter/"+strings.TrimPrefix(in.Name, "/")))}
}

func needsOnQueue(c *call, action string) []iampolicy.Call {
	var in struct {
		QueueUrl  string //nolint:revive // the name on the wire
		QueueName string
	}
	if c.decode(&in) != nil {
		return nil
	}
	name := in.QueueName
	if name == "" {
		name = resourceName(in.QueueUrl)
	}
	a := c.state().Account
	return []iampolicy.Call{need(action, a.arn("sqs", a.Region, name))}
}
