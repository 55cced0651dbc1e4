package elb

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// targetGroup is where a load balancer sends what it gets. Balancers themselves are not there.
type targetGroup struct {
	Name, ARN, VPC, Protocol, Type string
	Port                           int
	DrainFor                       time.Duration // deregistration_delay.timeout_seconds
	Targets                        []*target     // by ID and port
}

// target is an instance or an address in a group.
type target struct {
	ID        string
	Port      int
	HealthyAt time.Time // passes its checks from then on
	LeavingAt time.Time // was deregistered; zero: it was not
}

const (
	drainDefault  = 300 * time.Second
	healthyWithin = 10 * time.Second // five checks are a minute at AWS; a pick of ours
)

type targetGroupXML struct {
	ARN      string `xml:"TargetGroupArn"`
	Name     string `xml:"TargetGroupName"`
	Protocol string `xml:"Protocol"`
	Port     int    `xml:"Port"`
	VPC      string `xml:"VpcId"`
	Type     string `xml:"TargetType"`
}

func targetGroupAnswer(g *targetGroup) targetGroupXML {
	return targetGroupXML{g.ARN, g.Name, g.Protocol, g.Port, g.VPC, g.Type}
}

type targetGroupsXML struct {
	Groups []targetGroupXML `xml:"TargetGroups>member"`
}

func createTargetGroup(c *call) (any, error) {
	st, name := c.server, c.Params.String("Name")
	port, err := c.Params.Int("Port", 80)
	if err != nil {
		return nil, err
	}
	g := &targetGroup{
		Name: name, Port: port, VPC: c.Params.String("VpcId"), Protocol: cmp.Or(c.Params.String("Protocol"), "HTTP"),
		Type: cmp.Or(c.Params.String("TargetType"), "instance"), DrainFor: drainDefault,
	}
	if name == "" {
		return nil, wire.Errorf("ValidationError", "A target group name must be specified")
	}
	if g.Type != "instance" && g.Type != "ip" {
		return nil, wire.Errorf("InvalidConfigurationRequest", "The emulator has target groups of type instance and ip, not %s", g.Type)
	}
	if slices.ContainsFunc(slices.Collect(maps.Values(st.TargetGroups)), func(have *targetGroup) bool { return have.Name == name }) {
		return nil, wire.Errorf("DuplicateTargetGroupName", "A target group with the same name '%s' exists, but with different settings", name)
	}
	g.ARN = st.Settings.ARN("elasticloadbalancing", st.Settings.Region, "targetgroup/"+name+"/"+strings.TrimPrefix(st.NewID("tg"), "tg-")[:16])
	st.TargetGroups[g.ARN] = g
	return targetGroupsXML{[]targetGroupXML{targetGroupAnswer(g)}}, nil
}

func (c *call) targetGroup() (*targetGroup, error) {
	arn := c.Params.String("TargetGroupArn")
	g := c.server.TargetGroups[arn]
	if g == nil {
		return nil, wire.Errorf("TargetGroupNotFound", "Target groups '%s' not found", arn)
	}
	return g, nil
}

func describeTargetGroups(c *call) (any, error) {
	arns, names := c.Params.Strings("TargetGroupArns"), c.Params.Strings("Names")
	var answer targetGroupsXML
	for _, arn := range slices.Sorted(maps.Keys(c.server.TargetGroups)) {
		g := c.server.TargetGroups[arn]
		if (len(arns) == 0 || slices.Contains(arns, arn)) && (len(names) == 0 || slices.Contains(names, g.Name)) {
			answer.Groups = append(answer.Groups, targetGroupAnswer(g))
		}
	}
	if len(answer.Groups) < max(len(arns), len(names)) {
		return nil, wire.Errorf("TargetGroupNotFound", "One or more target groups not found")
	}
	return answer, nil
}

func deleteTargetGroup(c *call) (any, error) {
	delete(c.server.TargetGroups, c.Params.String("TargetGroupArn"))
	return struct{}{}, nil
}

// modifyTargetGroup changes the time that targets have to finish what they are at.
func modifyTargetGroup(c *call) (any, error) {
	g, err := c.targetGroup()
	if err != nil {
		return nil, err
	}
	for _, n := range c.Params.List("Attributes") {
		length, err := strconv.Atoi(n.String("Value"))
		if n.String("Key") != drainAttribute || err != nil || length < 0 || length > 3600 {
			return nil, wire.Errorf("InvalidConfigurationRequest", "The emulator has the attribute %s, 0 to 3600, not %s=%s", drainAttribute, n.String("Key"), n.String("Value"))
		}
		g.DrainFor = time.Duration(length) * time.Second
	}
	return attributesOf(g), nil
}

const drainAttribute = "deregistration_delay.timeout_seconds"

type attributeXML struct {
	Key   string `xml:"Key"`
	Value string `xml:"Value"`
}

func attributesOf(g *targetGroup) any {
	return struct {
		Attributes []attributeXML `xml:"Attributes>member"`
	}{[]attributeXML{{drainAttribute, fmt.Sprint(int(g.DrainFor.Seconds()))}}}
}

func describeTargetGroupAttributes(c *call) (any, error) {
	g, err := c.targetGroup()
	if err != nil {
		return nil, err
	}
	return attributesOf(g), nil
}

// changeTargets serves RegisterTargets and DeregisterTargets.
func changeTargets(c *call) (any, error) {
	g, err := c.targetGroup()
	if err != nil {
		return nil, err
	}
	for _, n := range c.Params.List("Targets") {
		id := n.String("Id")
		port, err := n.Int("Port", g.Port)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(g.Targets, func(t *target) bool { return t.ID == id && t.Port == port })
		if c.Action == "DeregisterTargets" {
			if i >= 0 && g.Targets[i].LeavingAt.IsZero() {
				g.Targets[i].LeavingAt = c.At
			}
			continue
		}
		if g.Type == "instance" {
			if !c.server.instances.Sees(id, c.At) {
				return nil, wire.Errorf("InvalidTarget", "The following targets are not in a running state and cannot be registered: '%s'", id)
			}
		}
		t := &target{ID: id, Port: port, HealthyAt: c.At.Add(healthyWithin)}
		if i >= 0 {
			g.Targets[i] = t
			continue
		}
		g.Targets = world.ByKey(append(g.Targets, t), func(t *target) string { return fmt.Sprintf("%s:%05d", t.ID, t.Port) })
	}
	return struct{}{}, nil
}

type healthXML struct {
	Target struct {
		ID   string `xml:"Id"`
		Port int    `xml:"Port"`
	} `xml:"Target"`
	Health struct {
		State  string `xml:"State"`
		Reason string `xml:"Reason,omitempty"`
	} `xml:"TargetHealth"`
}

// describeTargetHealth tells how targets stand: initial until their checks pass, draining for the group's time once they
// are deregistered, gone after that; those that were asked for and are not there are unused.
func describeTargetHealth(c *call) (any, error) {
	g, err := c.targetGroup()
	if err != nil {
		return nil, err
	}
	g.Targets = slices.DeleteFunc(g.Targets, func(t *target) bool { return !t.LeavingAt.IsZero() && !t.LeavingAt.Add(g.DrainFor).After(c.At) })
	asked := c.Params.List("Targets")
	var answer struct {
		Health []healthXML `xml:"TargetHealthDescriptions>member"`
	}
	for _, t := range g.Targets {
		if len(asked) > 0 && !slices.ContainsFunc(asked, func(n *wire.Node) bool { return n.String("Id") == t.ID }) {
			continue
		}
		answer.Health = append(answer.Health, c.healthOf(g, t))
	}
	for _, n := range asked {
		id := n.String("Id")
		if !slices.ContainsFunc(g.Targets, func(t *target) bool { return t.ID == id }) {
			h := healthXML{}
			h.Target.ID, h.Target.Port, h.Health.State, h.Health.Reason = id, g.Port, "unused", "Target.NotRegistered"
			answer.Health = append(answer.Health, h)
		}
	}
	return answer, nil
}

func (c *call) healthOf(g *targetGroup, t *target) (h healthXML) {
	h.Target.ID, h.Target.Port = t.ID, t.Port
	state, reason := "healthy", ""
	switch {
	case !t.LeavingAt.IsZero():
		state, reason = "draining", "Target.DeregistrationInProgress"
	case g.Type == "instance" && !c.serves(t.ID):
		state, reason = "unused", "Target.InvalidState"
	case t.HealthyAt.After(c.At):
		state, reason = "initial", "Elb.RegistrationInProgress"
	}
	h.Health.State, h.Health.Reason = state, reason
	return h
}

func (c *call) serves(id string) bool {
	m, known := c.server.Market().Machine(id)
	return known && m.At(c.At) == market.Running
}
