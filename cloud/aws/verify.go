package aws

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/fleet"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
)

// VerifiedFor is how long the answer of Verify is worth asking no more.
const VerifiedFor = 30 * time.Minute

// Verify asks EC2 by dry runs whether an instance could be launched from a class whose
// parts are all resolved: CreateLaunchTemplate, CreateFleet and RunInstances, with what a
// launch would send, on demand and, where the class selects capacity reservations, into
// each of them. Where the class names a launch template of the user's own, it is looked up,
// and CreateFleet alone is rehearsed. It does nothing else.
//
// IAM judges a launch by each resource that it names, so a good answer is one for the type, zone,
// subnet, tenancy and reservation that were rehearsed. Reservations are rehearsed one by one,
// since policies may distinguish them by ID, owner, tag or tenancy; by RunInstances alone after
// the first of their sort, since the fleet's dry run does not read the template that names the
// reservation. It proves nothing of rights that depend on the type or the subnet, of reservations
// after the first twenty, and of what else a launch needs: capacity, limits of the account, keys
// of volumes. Those show at the launch.
//
// Rights that are missing, and settings that EC2 refuses, are one
// *cloud.RefusedError: its reason is that of the first call refused
// (CreateLaunchTemplateAuthCheckFailed, CreateFleetAuthCheckFailed,
// RunInstancesAuthCheckFailed for rights), its cause names them all. An
// instance profile that was made a moment ago may be unknown to EC2 for about
// 15 seconds: a *nodeclass.NotYetError. Throttling and trouble at EC2 are other
// errors: the class may well be in order.
func (p *Provider) Verify(ctx context.Context, class nodeclass.Class) error {
	all, err := p.rehearsals(class)
	if err != nil {
		return err
	}
	var answers []error
	for _, r := range all {
		if r.Template == nil {
			_, launched := p.clients.EC2.CreateFleet(ctx, r.Fleet)
			answers = append(answers, p.ownTemplate(ctx, class), rehearsed(class, "CreateFleet", launched))
			continue
		}
		if !r.runAlone {
			_, template := p.clients.EC2.CreateLaunchTemplate(ctx, r.Template)
			_, launched := p.clients.EC2.CreateFleet(ctx, r.Fleet)
			answers = append(answers, rehearsed(class, "CreateLaunchTemplate", template), rehearsed(class, "CreateFleet", launched))
		}
		_, run := p.clients.EC2.RunInstances(ctx, r.Run)
		answers = append(answers, rehearsed(class, "RunInstances", run))
	}
	return conclude(answers...)
}

// ownTemplate says whether the user's own launch template exists: the dry run of a fleet
// does not check that.
func (p *Provider) ownTemplate(ctx context.Context, class nodeclass.Class) error {
	name := class.Spec.LaunchTemplate
	_, err := p.clients.EC2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{name}})
	if fault.TemplateNotFound(fault.Code(err)) {
		return fleet.NoSuchTemplate(name)
	}
	return fault.Wrap("ec2:DescribeLaunchTemplates", err)
}

// conclude makes one error of the answers to all calls. What is refused
// counts before what was not answered: it is sure. What two launches lack is
// said once.
func conclude(answers ...error) error {
	var all *cloud.RefusedError
	for _, err := range answers {
		refused, ok := errors.AsType[*cloud.RefusedError](err)
		switch {
		case !ok:
		case all == nil:
			all = &cloud.RefusedError{Reason: refused.Reason, Cause: refused.Cause}
		case strings.Contains(all.Cause, refused.Cause):
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
	case fault.OfReservation(code):
		return nil // the reservation is full, or over by now; it had nothing against the launch
	case strings.Contains(fault.Message(err), "iamInstanceProfile"), strings.Contains(fault.Message(err), "IAM Instance Profile"):
		return profileUnknown(class, fault.Message(err))
	case fault.Denied(err):
		return &cloud.RefusedError{Reason: action + "AuthCheckFailed", Cause: missingRight(action, fault.Message(err))}
	}
	return fault.Wrap("ec2:"+action+" (dry run)", err)
}

// profileUnknown is the error of an unknown profile: it distinguishes one that the user
// named wrongly, or that has no role, from one that was made for the class a moment ago.
func profileUnknown(class nodeclass.Class, message string) error {
	const reason = "InstanceProfileNotFound"
	name := class.Spec.InstanceProfile
	if name != "" && strings.Contains(message, "no associated IAM Roles") {
		return &cloud.RefusedError{Reason: reason, Cause: fmt.Sprintf(
			"instance profile %q, which spec.instanceProfile names, has no role: add the role of the nodes to it, or name another (%s)", name, message)}
	}
	if name != "" {
		return &cloud.RefusedError{Reason: reason, Cause: fmt.Sprintf(
			"there is no such profile: EC2 knows no instance profile %q, which spec.instanceProfile names; create it or name another (%s)", name, message)}
	}
	return &nodeclass.NotYetError{Reason: reason, Text: fmt.Sprintf(
		"there is no such profile: EC2 does not know instance profile %q, which was made for spec.role %s; that is usual for some seconds (%s)",
		class.Resolved.Profile, class.Spec.Role, message)}
}

// lacked finds the right that is missing, and on what, in AWS's words.
var lacked = regexp.MustCompile(`not authorized to perform: ([A-Za-z0-9-]+:[A-Za-z*]+)(?: on resource: (\S+))?`)

// missingRight says which right the call needs that the controller lacks. It leaves out the
// encoded part of AWS's message: it is another one every time, so the same fault would
// appear as a new one.
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

// reservationsMost is how many reservations of a class are rehearsed: one call each, and
// half an hour goes by between two rehearsals of a class that is in order.
const reservationsMost = 20

// launchRehearsal is what EC2 is asked of one launch.
type launchRehearsal struct {
	fleet.Rehearsal
	runAlone bool // the other calls were rehearsed with a launch that differs in the reservation alone
}

// sort is what launches into reservations differ in beside these.
type sort struct{ block, interruptible, dedicated bool }

// UserDataBytes is how long the user data of an instance of a class whose parts are all
// resolved is, merged from the class's and ours, but for the labels and taints that pools
// add. A *cloud.RefusedError says why no launch could send it. It makes no calls, but for
// EKS where instances need the service network and it is not known.
func (p *Provider) UserDataBytes(ctx context.Context, class nodeclass.Class) (int, error) {
	p.learnCIDR(ctx, class)
	k, err := p.known(cloud.Class{ID: class.ID(), Settings: class})
	if err != nil {
		return 0, err
	}
	usual, found := representative(class, k.catalogue)
	if !found {
		return 0, fmt.Errorf("no type is offered that an image of class %s boots", class.Name)
	}
	return fleet.UserDataBytes(p.launchOf(class, k, usual))
}

// rehearsals are of the first instance type that is offered now and that one of the class's
// images boots, and of each reservation whose instance type one of them boots.
func (p *Provider) rehearsals(class nodeclass.Class) ([]launchRehearsal, error) {
	k, err := p.known(cloud.Class{ID: class.ID(), Settings: class})
	if err != nil {
		return nil, err
	}
	usual, found := representative(class, k.catalogue)
	if !found {
		return nil, &cloud.RefusedError{Reason: "DependenciesNotReady",
			Cause: "no instance type is offered in the zones of the class's subnets that one of its images boots and that has what its settings need: " +
				"select other images in spec.amiSelectorTerms, or subnets of other zones in spec.subnetSelectorTerms"}
	}
	first, err := p.rehearsal(class, k, usual)
	if err != nil {
		return nil, err
	}
	out, rehearsed := []launchRehearsal{{first, false}}, map[sort]bool{}
	for _, reserved := range enterable(class, k.catalogue) {
		r, err := p.rehearsal(class, k, cloud.OfferingChoice{Kind: reserved.Kind, Zone: reserved.Zone, Option: cluster.Reserved, ReservedCapacity: reserved.ID, Dedicated: reserved.Dedicated})
		if err != nil {
			return nil, err
		}
		of := sort{reserved.Block, reserved.Interruptible, reserved.Dedicated}
		out = append(out, launchRehearsal{r, rehearsed[of]})
		rehearsed[of] = true
	}
	return out, nil
}

func (p *Provider) rehearsal(class nodeclass.Class, k *known, o cloud.OfferingChoice) (fleet.Rehearsal, error) {
	return fleet.Rehearse(p.launchOf(class, k, o))
}

// launchOf is the launch of one instance that is rehearsed.
func (p *Provider) launchOf(class nodeclass.Class, k *known, o cloud.OfferingChoice) fleet.Request {
	at := slices.IndexFunc(class.Resolved.Subnets, inZone(o.Zone))
	return fleet.Request{
		Class: class, Kinds: k.kinds, Cluster: p.clusterFacts(), Subnets: class.Resolved.Subnets[at : at+1],
		OpenReservations: p.options.NoReservedCapacity,
		Launch: cloud.LaunchRequest{
			Class: cloud.Class{ID: class.ID(), Settings: class}, Count: 1, Batch: "dry-run",
			Options: []cloud.OfferingChoice{o}, Tags: map[string]string{nodeclass.TagPool: "dry-run"},
		},
	}
}

// representative is the first instance type, by name, that is offered and that an image
// boots: one that can be had where there is any, and of those one of Nitro, since those
// before it take less of what can be set. That all are short says nothing against the
// class.
func representative(class nodeclass.Class, c *cluster.Catalogue) (cloud.OfferingChoice, bool) {
	for _, must := range []struct{ now, had, nitro bool }{{true, true, true}, {false, true, true}, {true, true, false}, {false, true, false}, {false, false, true}, {}} {
		for i := range c.InstanceTypes {
			k := &c.InstanceTypes[i]
			if hypervisor, _ := k.Labels.Get(nodeclass.LabelHypervisor); must.nitro && hypervisor != string(types.InstanceTypeHypervisorNitro) {
				continue
			}
			for _, o := range k.Offerings {
				had := o.Available || !must.now && o.Why != "" || !must.had
				if had && o.Option != cluster.Reserved && boots(class, k) && slices.ContainsFunc(class.Resolved.Subnets, inZone(o.Zone)) {
					return cloud.OfferingChoice{Kind: k.Name, Zone: o.Zone, Option: cluster.OnDemand}, true
				}
			}
		}
	}
	return cloud.OfferingChoice{}, false
}

// enterable are the reservations that instances of the class can be launched into, full or
// not, by ID; the first so many.
func enterable(class nodeclass.Class, c *cluster.Catalogue) []nodeclass.Reservation {
	var out []nodeclass.Reservation
	for _, r := range class.Resolved.Reservations {
		k := c.InstanceType(r.Kind)
		if k != nil && !r.Expiring && boots(class, k) && slices.ContainsFunc(class.Resolved.Subnets, inZone(r.Zone)) && len(out) < reservationsMost {
			out = append(out, r)
		}
	}
	return out
}

func boots(class nodeclass.Class, k *cluster.InstanceType) bool {
	_, boots := class.Booting(k.Labels)
	return boots
}

func inZone(zone string) func(nodeclass.Subnet) bool {
	return func(s nodeclass.Subnet) bool { return s.Zone == zone }
}
