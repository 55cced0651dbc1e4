// Package leftover finds and removes what a deleted cluster has left in AWS: instances, launch
// templates and instance profiles that an autoscaler made for it, volumes of such instances, and
// network interfaces of its nodes.
//
// It promises not to touch anything of a cluster that EKS still knows or that the user is connected
// to, anything with another cluster's tag, or anything while several clusters could be meant by one
// name. It touches nothing that other programs made, except the cluster's network plugin: no node
// group and no volume of a workload. It touches volumes and network interfaces only if they are
// attached to nothing. It finds everything by tags and paths, so it needs no cluster.
package leftover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/pace"
	"github.com/daemok/daemok/cloud/aws/profile"
	"github.com/daemok/daemok/internal/pause"
)

// Thing is one thing that was left behind.
type Thing struct {
	Kind Kind
	Name string // what AWS knows it by
	Note string // what else helps a user to recognize it
	UID  string // of the cluster; empty: it carries none
}

func (t Thing) String() string {
	note := t.Note
	if t.UID != "" {
		note = strings.TrimPrefix(note+", cluster UID "+t.UID, ", ")
	}
	if note == "" {
		return string(t.Kind) + " " + t.Name
	}
	return string(t.Kind) + " " + t.Name + " (" + note + ")"
}

// Kind is what a thing is, in a user's words.
type Kind string

// The kinds, in the order in which they are listed and removed.
const (
	Instance  Kind = "instance"
	Volume    Kind = "volume"
	Interface Kind = "network interface"
	Template  Kind = "launch template"
	Profile   Kind = "instance profile"
)

// clusterName is how EKS lets clusters be called. No name has a wildcard.
var clusterName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`)

// Sweeper looks for and removes what one cluster left in one region. Open makes
// one.
type Sweeper struct {
	clients  client.Clients
	cluster  string
	profiles profile.Profiles
	selected Selection
}

// Open connects to AWS as the SDK is configured. An empty region is the one that the SDK
// finds. It makes no calls but for that.
func Open(ctx context.Context, cluster, region, agent string) (*Sweeper, error) {
	if !clusterName.MatchString(cluster) {
		return nil, fmt.Errorf("%q is no name of a cluster: letters, digits, - and _ alone", cluster)
	}
	clients, err := client.New(ctx, region, agent, nil, nil, pace.New(time.Now, pause.For), client.Role{})
	if err != nil {
		return nil, err
	}
	return &Sweeper{clients: clients, cluster: cluster, profiles: profile.Profiles{API: clients.IAM, Cluster: cluster, Region: clients.Region}}, nil
}

// Region is the region that the sweeper reads.
func (s *Sweeper) Region() string { return s.clients.Region }

// Find lists what is left, by kind and name. It is an error while EKS knows the
// cluster, unless the UIDs of others are selected, and where that cannot be asked.
func (s *Sweeper) Find(ctx context.Context) ([]Thing, error) {
	if err := s.gone(ctx); err != nil {
		return nil, err
	}
	var out []Thing
	for _, look := range []func(context.Context) ([]Thing, error){s.instances, s.volumes, s.interfaces, s.templates, s.madeProfiles} {
		found, err := look(ctx)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(t Thing) bool { return !s.meant(t) })
		slices.SortFunc(found, func(a, b Thing) int { return strings.Compare(a.Name, b.Name) })
		out = append(out, found...)
	}
	return out, nil
}

// gone is an error unless EKS says that there is no such cluster, or it is plain that others of
// its name are meant.
func (s *Sweeper) gone(ctx context.Context) error {
	found, err := s.clients.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &s.cluster})
	switch {
	case fault.NotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("ask EKS whether cluster %s is gone: %w", s.cluster, fault.Wrap("eks:DescribeCluster", err))
	case found.Cluster == nil:
		return errors.New("EKS answered without a cluster")
	}
	if err := s.beside(aws.ToString(found.Cluster.Endpoint)); err != nil {
		return fmt.Errorf("cluster %s is still there in %s, and %s: %w", s.cluster, s.Region(), found.Cluster.Status, err)
	}
	return nil
}

// instances are those of the cluster that were launched for a pool or a class;
// those of node groups carry neither tag.
func (s *Sweeper) instances(ctx context.Context) ([]Thing, error) {
	pages := ec2.NewDescribeInstancesPaginator(s.clients.EC2, &ec2.DescribeInstancesInput{Filters: append(s.ofInstances(),
		types.Filter{Name: aws.String("instance-state-name"), Values: []string{"pending", "running", "stopping", "stopped"}})})
	var out []Thing
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeInstances", err)
		}
		for _, r := range page.Reservations {
			for _, i := range r.Instances {
				if s.ours(i.Tags) {
					out = append(out, Thing{Instance, aws.ToString(i.InstanceId), fmt.Sprintf("%s, pool %s", i.InstanceType, poolOf(i.Tags)), tag(i.Tags, nodeclass.TagUID)})
				}
			}
		}
	}
	return out, nil
}

// templatePrefixes begin the names of launch templates that autoscalers make:
// Daemok's, and those that were there before it.
var templatePrefixes = []string{"daemok.sh/", "karpenter.k8s.aws/", "Karpenter-"}

func (s *Sweeper) templates(ctx context.Context) ([]Thing, error) {
	pages := ec2.NewDescribeLaunchTemplatesPaginator(s.clients.EC2, &ec2.DescribeLaunchTemplatesInput{Filters: []types.Filter{s.owned()}})
	var out []Thing
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeLaunchTemplates", err)
		}
		for _, l := range page.LaunchTemplates {
			name := aws.ToString(l.LaunchTemplateName)
			made := slices.ContainsFunc(templatePrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
			if made && s.ours(l.Tags) {
				out = append(out, Thing{Template, name, "class " + tag(l.Tags, nodeclass.TagClass), tag(l.Tags, nodeclass.TagUID)})
			}
		}
	}
	return out, nil
}

func (s *Sweeper) madeProfiles(ctx context.Context) ([]Thing, error) {
	made, err := s.profiles.Made(ctx)
	if err != nil {
		return nil, err
	}
	var out []Thing
	for _, p := range made {
		note := "no role"
		if len(p.Roles) > 0 {
			note = "role " + aws.ToString(p.Roles[0].RoleName)
		}
		out = append(out, Thing{Kind: Profile, Name: aws.ToString(p.InstanceProfileName), Note: note})
	}
	return out, nil
}

// owned selects what belongs to the cluster.
func (s *Sweeper) owned() types.Filter {
	return types.Filter{Name: aws.String("tag:" + nodeclass.TagOwned + s.cluster), Values: []string{nodeclass.ClusterOwned}}
}

// ours says whether tags name the cluster, and no other as the owner too.
func (s *Sweeper) ours(tags []types.Tag) bool {
	return tag(tags, nodeclass.TagOwned+s.cluster) == nodeclass.ClusterOwned && !s.ofOthers(tags)
}

// ofOthers says whether tags name another cluster as the owner.
func (s *Sweeper) ofOthers(tags []types.Tag) bool {
	return slices.ContainsFunc(tags, func(t types.Tag) bool {
		cluster, owned := strings.CutPrefix(aws.ToString(t.Key), nodeclass.TagOwned)
		return owned && cluster != s.cluster && aws.ToString(t.Value) == nodeclass.ClusterOwned
	})
}

// poolOf names the pool that something was made for.
func poolOf(tags []types.Tag) string {
	return cmp.Or(tag(tags, nodeclass.TagPool), tag(tags, nodeclass.TagOlderPool))
}

func tag(tags []types.Tag, key string) string {
	for _, t := range tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}
