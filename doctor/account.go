package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

func eksCluster(ctx context.Context, p *Patient) ([]Finding, error) {
	c, err := p.Account.Cluster(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	var out []Finding
	if version, err := p.Version(ctx); err == nil && version != c.Version {
		out = append(out, trouble(Error, "", fmt.Sprintf("EKS cluster %s is of Kubernetes %s, and the API server says %s: kubeconfig and AWS credentials lead to different clusters", p.Name, c.Version, version),
			"give --context, or --cluster-name and --region"))
	}
	if c.AutoMode {
		out = append(out, trouble(Warning, "", "EKS Auto Mode is on: it launches nodes for the same pods", "turn it off, or have pods of its NodePools select them"))
	}
	if len(out) == 0 {
		out = append(out, fine("%s, Kubernetes %s", p.Name, c.Version))
	}
	return out, nil
}

// nodeClasses checks what each class selects.
func nodeClasses(ctx context.Context, p *Patient) ([]Finding, error) {
	classes, err := p.Classes(ctx)
	if err != nil {
		return nil, err
	}
	if len(classes) == 0 {
		return []Finding{trouble(Warning, "", "there is no EC2NodeClass, so nothing can be launched", "kubectl apply an EC2NodeClass and a NodePool: see examples/v1")}, nil
	}
	var out []Finding
	for i := range classes {
		found := selected(p, &classes[i])
		if len(found) == 0 {
			c := &classes[i]
			found = []Finding{{Severity: OK, Object: c.Name, Message: fmt.Sprintf("it selects subnets: %d, security groups: %d, images: %d", len(c.Subnets), len(c.Groups), len(c.Images))}}
		}
		out = append(out, found...)
	}
	return out, nil
}

// fewAddresses is how many free addresses of a subnet are few.
const fewAddresses = 16

func selected(p *Patient, c *Class) (out []Finding) {
	tag := func(resource string) string {
		return "aws ec2 create-tags --resources " + resource + " --tags Key=karpenter.sh/discovery,Value=" + p.Name + ", or correct the selector"
	}
	said := map[string]bool{}
	for _, failed := range []error{c.NoSubnets, c.NoGroups, c.NoImages} {
		if failed != nil && !said[failed.Error()] {
			said[failed.Error()] = true
			out = append(out, trouble(Error, c.Name, failed.Error(), ""))
		}
	}
	if c.Spec.LaunchTemplate != "" {
		return out
	}
	zones := map[string]bool{}
	for _, s := range c.Subnets {
		zones[s.Zone] = true
		if s.Free < fewAddresses {
			out = append(out, trouble(Warning, c.Name, fmt.Sprintf("subnet %s in %s has %d free addresses", s.ID, s.Zone, s.Free), "add a subnet with more room in that zone"))
		}
	}
	switch {
	case c.NoSubnets == nil && len(c.Subnets) == 0:
		out = append(out, trouble(Error, c.Name, "its subnetSelectorTerms select no subnet", tag("SUBNET")))
	case c.NoSubnets == nil && len(zones) == 1:
		out = append(out, trouble(Warning, c.Name, "all its subnets are in one zone: when that is short of capacity nothing can be launched", tag("SUBNET")))
	}
	var owned []string
	for _, g := range c.Groups {
		if g.Owned {
			owned = append(owned, g.ID)
		}
	}
	if c.NoGroups == nil && len(c.Groups) == 0 {
		out = append(out, trouble(Error, c.Name, "its securityGroupSelectorTerms select no security group", tag("GROUP")))
	}
	if len(owned) > 1 {
		out = append(out, trouble(Error, c.Name, fmt.Sprintf("%d of its security groups (%s) have the tag kubernetes.io/cluster/%s: load balancers of Services find no target on such nodes, since their controller wants exactly one", len(owned), strings.Join(owned, ", "), p.Name),
			fmt.Sprintf("aws ec2 delete-tags --resources %s --tags Key=kubernetes.io/cluster/%s", strings.Join(besides(c.Groups), " "), p.Name)))
	}
	if c.NoImages == nil && len(c.Images) == 0 {
		out = append(out, trouble(Error, c.Name, "its amiSelectorTerms select no image for this cluster's version", "correct the alias or the terms: aws ssm get-parameters-by-path --path /aws/service/eks/optimized-ami"))
	}
	return out
}

// besides are the groups with the cluster's tag that should lose it: all but the one that EKS made, or else but the first.
func besides(groups []nodeclass.Group) (ids []string) {
	owned := slices.DeleteFunc(slices.Clone(groups), func(g nodeclass.Group) bool { return !g.Owned })
	keeps := max(0, slices.IndexFunc(owned, func(g nodeclass.Group) bool { return g.EKS }))
	for _, g := range slices.Delete(owned, keeps, keeps+1) {
		ids = append(ids, g.ID)
	}
	return ids
}

// nodeRoles checks whether nodes of each class may join the cluster.
func nodeRoles(ctx context.Context, p *Patient) ([]Finding, error) {
	classes, err := p.Classes(ctx)
	if err != nil {
		return nil, err
	}
	roles := map[string]string{} // by ARN: a class that names it
	var out []Finding
	for i := range classes {
		c := &classes[i]
		arns, err := rolesOf(ctx, p, c)
		if err != nil {
			return out, err
		}
		if len(arns) == 0 && c.Spec.LaunchTemplate == "" {
			out = append(out, trouble(Error, c.Name, "its instance profile "+c.Spec.InstanceProfile+" has no role, or does not exist: nodes cannot join", "name an instance profile with a role, or a role (spec.role)"))
		}
		for _, arn := range arns {
			if roles[arn] == "" {
				roles[arn] = c.Name
			}
		}
	}
	if len(roles) == 0 {
		return out, nil
	}
	c, err := p.Account.Cluster(ctx, p.Name)
	if err != nil {
		return out, err
	}
	mapped, err := readAuthMap(ctx, p, c.AuthMap)
	if err != nil {
		return out, err
	}
	for _, arn := range slices.Sorted(maps.Keys(roles)) {
		f, err := mayJoin(ctx, p, arn, roles[arn], mapped, c.Entries)
		if err != nil {
			return out, err
		}
		out = append(out, f)
	}
	return out, nil
}

// mayJoin says whether nodes of a role may join.
func mayJoin(ctx context.Context, p *Patient, arn, class string, mapped authMap, entries bool) (Finding, error) {
	name := nameOf(arn)
	if _, there, err := p.Account.Role(ctx, name); err != nil {
		return Finding{}, err
	} else if !there {
		return trouble(Error, class, "its role "+name+" does not exist", "create the role: deploy/aws/cloudformation.yaml has it"), nil
	}
	kind := ""
	if entries { // an entry outweighs aws-auth
		var err error
		if kind, err = p.Account.AccessEntry(ctx, p.Name, arn); err != nil {
			return Finding{}, err
		}
	}
	found, is := mapped.of(arn, class)
	make := fmt.Sprintf("aws eks create-access-entry --cluster-name %s --principal-arn %s --type EC2_LINUX", p.Name, arn)
	switch {
	case kind != "" && !strings.HasPrefix(kind, "EC2") && kind != "HYBRID_LINUX":
		return trouble(Error, class, "the access entry of its role "+name+" is of type "+kind+", which is none of nodes: they are launched and never join",
			fmt.Sprintf("aws eks delete-access-entry --cluster-name %s --principal-arn %s\n%s", p.Name, arn, make)), nil
	case kind != "":
		return fine("role %s has an access entry of type %s", name, kind), nil
	case is:
		return found, nil
	case !entries:
		return trouble(Error, class, "its role "+name+" is not in the ConfigMap kube-system/aws-auth: nodes are launched and never join", wayToMap), nil
	}
	return trouble(Error, class, "its role "+name+" has no access entry and is not in aws-auth: nodes are launched and never join", make), nil
}

// rolesOf are the ARNs of the roles that nodes of a class have.
func rolesOf(ctx context.Context, p *Patient, c *Class) ([]string, error) {
	switch {
	case c.Spec.LaunchTemplate != "":
		return nil, nil
	case c.Spec.Role != "":
		return []string{p.RoleARN(c.Spec.Role)}, nil
	}
	arns, err := p.Account.RolesOfProfile(ctx, c.Spec.InstanceProfile)
	if err != nil && strings.Contains(err.Error(), "NoSuchEntity") {
		return nil, nil
	}
	return arns, err
}

// spotLinked is the role by which EC2 launches spot instances for an account.
const spotLinked = "AWSServiceRoleForEC2Spot"

func spotRole(ctx context.Context, p *Patient) ([]Finding, error) {
	pools, err := p.Pools(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(pools, allowsSpot)
	if at < 0 {
		return []Finding{fine("no pool allows spot instances")}, nil
	}
	_, there, err := p.Account.Role(ctx, spotLinked)
	switch {
	case err != nil:
		return nil, err
	case !there:
		return []Finding{trouble(Error, pools[at].ID.String(), "it allows spot instances, and the account has no role "+spotLinked+", which EC2 needs to launch any", "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com")}, nil
	}
	return []Finding{fine("the account has role %s", spotLinked)}, nil
}

// allowsSpot reports whether spot instances may be launched for a pool: one that says nothing
// of capacity types allows all. Of requirements that cannot be read it is taken that they do not.
func allowsSpot(pool translate.PoolObject) bool {
	requires, err := translate.PoolRequirements(pool)
	return err == nil && requires.Get(api.LabelCapacityType).Allows(string(cluster.Spot))
}

// noticed are the events that are acted on, with the names that rules have in the guides.
var noticed = []struct {
	detail, rule, without string
	severity              Severity
}{
	{"EC2 Spot Instance Interruption Warning", "SpotInterruptionRule", "spot instances are interrupted without a drain", Error},
	{"EC2 Instance State-change Notification", "InstanceStateChangeRule", "instances that were stopped or terminated are found later", Warning},
	{"EC2 Instance Rebalance Recommendation", "RebalanceRule", "spot instances at risk are not replaced in time", Warning},
	{"AWS Health Event", "ScheduledChangeRule", "maintenance of hosts comes without a drain", Warning},
	{"EC2 Capacity Reservation Instance Interruption Warning", "CapacityReservationInterruptionRule", "interruptible reservations end without a drain", Warning},
}

func queue(ctx context.Context, p *Patient) ([]Finding, error) {
	found, err := p.find(ctx)
	if err != nil {
		return nil, err
	}
	name := found.Setting("INTERRUPTION_QUEUE")
	if found.Deployment == nil {
		name = p.Name // as the guides call it
	}
	if hidden := found.Unread("INTERRUPTION_QUEUE"); name == "" && hidden != "" {
		return []Finding{{Severity: Unknown, Message: "it is not known whether an interruption queue is set: INTERRUPTION_QUEUE may come from " + hidden + ", which was not read"}}, nil
	}
	if name == "" {
		return []Finding{trouble(Warning, "", "no interruption queue is set: nodes are not drained before AWS interrupts spot instances", "deploy/aws/cloudformation.yaml makes one: set settings.interruptionQueue to its name")}, nil
	}
	if base := name[strings.LastIndexAny(name, "/:")+1:]; base != name {
		return []Finding{trouble(Error, "queue "+name, "this is its URL or ARN, with which the controller does not start", "set settings.interruptionQueue to its name, "+base)}, nil
	}
	q, there, err := p.Account.Queue(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case !there:
		return []Finding{trouble(Error, "queue "+name, "it does not exist in this account and region", "deploy/aws/cloudformation.yaml makes one; the queue must be in the cluster's region")}, nil
	}
	var out []Finding
	if !lets(q.Policy) {
		out = append(out, trouble(Error, "queue "+name, "its policy does not let EventBridge (events.amazonaws.com) send to it: no interruption message arrives", "give it the policy of deploy/aws/cloudformation.yaml"))
	}
	if !q.Encrypted {
		out = append(out, trouble(Warning, "queue "+name, "it is not encrypted", "aws sqs set-queue-attributes --queue-url URL --attributes SqsManagedSseEnabled=true"))
	}
	patterns, err := p.Account.Sources(ctx, q.ARN)
	if err != nil {
		return out, err
	}
	for _, of := range noticed {
		if !slices.ContainsFunc(patterns, func(pattern string) bool { return strings.Contains(pattern, of.detail) }) {
			out = append(out, trouble(of.severity, "queue "+name, "no rule of EventBridge sends it \""+of.detail+"\": "+of.without, "deploy/aws/cloudformation.yaml has the rule "+of.rule))
		}
	}
	if len(out) == 0 {
		out = append(out, fine("queue %s gets all events of EventBridge that are acted on", name))
	}
	return out, nil
}

func rightsOfController(ctx context.Context, p *Patient) ([]Finding, error) {
	if p.Rights == nil {
		return nil, errors.New("it was not requested")
	}
	return p.Rights(ctx)
}
