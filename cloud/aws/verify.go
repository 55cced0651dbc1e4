package aws

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/fleet"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
)

// VerifiedFor is how long the answer of Verify is worth asking no more.
const VerifiedFor = 30 * time.Minute

// Verify asks EC2 by dry runs whether a machine could be launched from a
// class whose parts are all resolved: CreateLaunchTemplate, CreateFleet and
// RunInstances, with what a launch would send. It does nothing else.
//
// Rights that are missing, and settings that EC2 refuses, are one
// *cloud.RefusedError: its reason is that of the first call refused
// (CreateLaunchTemplateAuthCheckFailed, CreateFleetAuthCheckFailed,
// RunInstancesAuthCheckFailed for rights), its cause names them all. An
// instance profile that was made a moment ago may be unknown to EC2 for about
// 15 seconds: a *nodeclass.NotYetError. Throttling and trouble at EC2 are other
// errors: the class may well be in order.
func (p *Provider) Verify(ctx context.Context, class nodeclass.Class) error {
	r, err := p.rehearsal(class)
	if err != nil {
		return err
	}
	_, template := p.clients.EC2.CreateLaunchTemplate(ctx, r.Template)
	_, bought := p.clients.EC2.CreateFleet(ctx, r.Fleet)
	_, run := p.clients.EC2.RunInstances(ctx, r.Run)
	return conclude(
		rehearsed(class, "CreateLaunchTemplate", template),
		rehearsed(class, "CreateFleet", bought),
		rehearsed(class, "RunInstances", run))
}

// conclude makes one error of the answers to all calls. What is refused
// counts before what was not answered: it is sure.
func conclude(answers ...error) error {
	var all *cloud.RefusedError
	for _, err := range answers {
		refused, ok := errors.AsType[*cloud.RefusedError](err)
		switch {
		case !ok:
		case all == nil:
			all = &cloud.RefusedError{Reason: refused.Reason, Cause: refused.Cause}
		default:
			all.Cause += "; " + refused.Cause
		}
	}
	if all != nil {
		return all
	}
	return errors.Join(answers...)
}

// rehearsed reads the answer to one dry run.
func rehearsed(class nodeclass.Class, action string, err error) error {
	code := fault.Code(err)
	switch {
	case err == nil, code == "DryRunOperation", fault.Exists(err):
		return nil
	case fault.TemplateNotFound(code):
		return nil // there is none on a dry run; EC2 found nothing else to say
	case strings.Contains(fault.Message(err), "iamInstanceProfile"), strings.Contains(fault.Message(err), "IAM Instance Profile"):
		return profileUnknown(class, fault.Message(err))
	case code == "UnauthorizedOperation", code == "AccessDenied", code == "AccessDeniedException":
		return &cloud.RefusedError{Reason: action + "AuthCheckFailed", Cause: missingRight(action, fault.Message(err))}
	}
	return fault.Wrap("ec2:"+action+" (dry run)", err)
}

// profileUnknown tells a profile that the user named wrongly from one that
// was made for the class a moment ago.
func profileUnknown(class nodeclass.Class, message string) error {
	const reason = "InstanceProfileNotFound"
	if name := class.Spec.InstanceProfile; name != "" {
		return &cloud.RefusedError{Reason: reason, Cause: fmt.Sprintf(
			"there is no such profile: EC2 knows no instance profile %q, which spec.instanceProfile names; make it or name another (%s)", name, message)}
	}
	return &nodeclass.NotYetError{Reason: reason, Text: fmt.Sprintf(
		"there is no such profile: EC2 does not know instance profile %q, which was made for spec.role %s; that is usual for some seconds (%s)",
		class.Resolved.Profile, class.Spec.Role, message)}
}

// lacked finds the right that is missing, and on what, in AWS's words.
var lacked = regexp.MustCompile(`not authorized to perform: ([A-Za-z0-9-]+:[A-Za-z*]+)(?: on resource: (\S+))?`)

// missingRight says which right the call needs that the controller lacks. It
// leaves out the encoded part of AWS's message: it is another one every time,
// so that the same fault would look like a new one.
func missingRight(action, message string) string {
	message, _, _ = strings.Cut(message, "Encoded authorization failure message:")
	message = strings.TrimRight(message, ". ")
	right, on := "ec2:"+action, ""
	if found := lacked.FindStringSubmatch(message); found != nil {
		right = found[1]
		if resource := strings.Trim(found[2], `"'.,`); resource != "" {
			on = " on " + resource
		}
	}
	return fmt.Sprintf("the controller's role lacks the right %s%s, which calls of ec2:%s need; grant it in a policy of the role (%s)",
		right, on, action, message)
}

// rehearsal is for the first kind that is offered now and that one of the
// class's images boots.
func (p *Provider) rehearsal(class nodeclass.Class) (fleet.Rehearsal, error) {
	id := classID(class.Name)
	k, err := p.known(cloud.Class{ID: id, Settings: class})
	if err != nil {
		return fleet.Rehearsal{}, err
	}
	kind, subnet, found := representative(class, k.catalogue)
	if !found {
		return fleet.Rehearsal{}, &cloud.RefusedError{Reason: "DependenciesNotReady",
			Cause: "no instance type is offered in the zones of the class's subnets that one of its images boots"}
	}
	return fleet.Rehearse(fleet.Request{
		Class: class, Kinds: k.kinds, Cluster: p.clusterFacts(), Subnets: []nodeclass.Subnet{subnet},
		Launch: cloud.LaunchRequest{
			Class: cloud.Class{ID: id, Settings: class}, Count: 1, Batch: "dry-run",
			Options: []cloud.OfferChoice{{Kind: kind, Zone: subnet.Zone, Option: cluster.OnDemand}},
			Tags:    map[string]string{nodeclass.TagPool: "dry-run"},
		},
	})
}

func representative(class nodeclass.Class, c *cluster.Catalogue) (kind string, subnet nodeclass.Subnet, found bool) {
	for i := range c.Kinds {
		k := &c.Kinds[i]
		subnet, offered := subnetFor(class, k)
		if offered && bootable(class, k) {
			return k.Name, subnet, true
		}
	}
	return "", nodeclass.Subnet{}, false
}

func bootable(class nodeclass.Class, k *cluster.Kind) bool {
	for _, image := range class.Resolved.Images {
		if _, boots := image.Requirements.Allow(k.Labels); boots {
			return true
		}
	}
	return false
}

func subnetFor(class nodeclass.Class, k *cluster.Kind) (nodeclass.Subnet, bool) {
	for _, o := range k.Offers {
		for _, s := range class.Resolved.Subnets {
			if (o.Available || o.Why != "") && o.Option != cluster.Reserved && o.Zone == s.Zone {
				return s, true
			}
		}
	}
	return nodeclass.Subnet{}, false
}
