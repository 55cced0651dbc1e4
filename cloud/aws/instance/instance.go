// Package instance lists, tags and terminates the instances of one cluster.
//
// It promises never to see or change instances of another cluster, to treat an instance that is gone
// as an answer, and not to report an instance as gone that was just launched and is not visible yet.
// Simultaneous questions about single instances become one call. It launches nothing.
package instance

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/gather"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

const (
	// hiddenFor is how long an instance just launched may be invisible to EC2's other
	// calls.
	hiddenFor = time.Minute
	// idsMax is how many values all filters of a call take together.
	idsMax = 200
	// looksMax is how many instances one DescribeInstances names, which filters by cluster
	// and state too.
	looksMax = 190
	// gatherFor is how long a call about one instance waits for others.
	gatherFor = 100 * time.Millisecond
	// pageMax is how many instances EC2 puts on one page.
	pageMax = 1000
)

type api interface {
	ec2.DescribeInstancesAPIClient
	TerminateInstances(context.Context, *ec2.TerminateInstancesInput, ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error)
	CreateTags(context.Context, *ec2.CreateTagsInput, ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error)
}

// Store is the instances of one cluster at EC2. It is safe for concurrent use.
type Store struct {
	api     api
	cluster string
	now     func() time.Time
	looks   gather.Calls[*types.Instance]
	strays  gather.Calls[*types.Instance]
	gives   gather.Calls[bool]

	// UID distinguishes the cluster from others of its name, whose instances are left
	// alone. Empty: they are not distinguished. To be set before the store is used.
	UID string
	// Stranger is called once with each such instance that a list of all has met; may be
	// nil.
	Stranger func(id, uid string)

	// Shifted reports zones, by ID, that work is shifted away from: EC2 may fail there.
	// Nil: of none. To be set before the store is used.
	Shifted func(zoneID string) bool

	mu    sync.Mutex
	young map[string]time.Time // launched lately, by id
	met   map[string]bool      // instances of other clusters of the name, by id
}

// New returns the store of a cluster. It waits with pause, which returns an
// error only where its context ended.
func New(client api, clusterName string, now func() time.Time, pause func(context.Context, time.Duration) error) *Store {
	s := &Store{api: client, cluster: clusterName, now: now, young: map[string]time.Time{}, met: map[string]bool{}}
	s.looks = gather.Calls[*types.Instance]{Do: s.look, For: gatherFor, Max: looksMax, Pause: pause}
	s.strays = gather.Calls[*types.Instance]{Do: s.lookAtAny, For: gatherFor, Max: looksMax, Pause: pause}
	s.gives = gather.Calls[bool]{Do: s.giveBack, For: gatherFor, Max: idsMax, Pause: pause}
	return s
}

// Launched reports to the store instances that may not be visible yet.
func (s *Store) Launched(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	maps.DeleteFunc(s.young, func(_ string, at time.Time) bool { return now.Sub(at) > hiddenFor })
	for _, id := range ids {
		s.young[id] = now
	}
}

// List returns the instances that match, sorted by ID; terminated ones are left out.
//
// Callers of the same moment that ask by ID alone share one DescribeInstances for up to
// looksMax instances. On a cluster of 1,000 nodes that is some 10 calls for each check all
// of them, about one a second while all are going; a list of all is one call for each
// pageMax instances.
func (s *Store) List(ctx context.Context, f cloud.Filter) ([]cloud.Instance, error) {
	found, err := s.find(ctx, f)
	if err != nil {
		return nil, err
	}
	out := make([]cloud.Instance, 0, len(found))
	for _, i := range found {
		out = append(out, convert(i))
	}
	slices.SortFunc(out, func(a, b cloud.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// InReservations returns the instances that run, or begin to, in the capacity reservations
// of those IDs, sorted by ID.
func (s *Store) InReservations(ctx context.Context, ids ...string) ([]cloud.Instance, error) {
	found, err := s.describe(ctx, append(s.owned(), filter("capacity-reservation-id", ids...), filter("instance-state-name", "pending", "running")), nil)
	if err != nil {
		return nil, err
	}
	out := make([]cloud.Instance, 0, len(found))
	for _, i := range s.dropStrangers(found) {
		out = append(out, convert(i))
	}
	slices.SortFunc(out, func(a, b cloud.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// Profiles returns the names of the instance profiles that instances of the cluster have
// which are not terminated.
func (s *Store) Profiles(ctx context.Context) (map[string]bool, error) {
	found, err := s.describe(ctx, s.existing(), nil)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, i := range found {
		if i.IamInstanceProfile != nil {
			arn := aws.ToString(i.IamInstanceProfile.Arn)
			out[arn[strings.LastIndex(arn, "/")+1:]] = true
		}
	}
	return out, nil
}

func (s *Store) find(ctx context.Context, f cloud.Filter) ([]types.Instance, error) {
	if f.Batch == "" && len(f.IDs) > 0 {
		return s.findTogether(ctx, slices.Compact(slices.Sorted(slices.Values(f.IDs))))
	}
	filters := s.existing()
	if f.Batch != "" {
		filters = append(filters, filter("tag:"+nodeclass.TagBatch, f.Batch))
	}
	found, err := s.describe(ctx, filters, f.IDs)
	return s.dropStrangers(found), err
}

// dropStrangers leaves out instances of other clusters of the same name.
func (s *Store) dropStrangers(found []types.Instance) []types.Instance {
	return slices.DeleteFunc(found, func(i types.Instance) bool {
		uid, is := s.stranger(tagMap(i.Tags))
		if is {
			s.meet(aws.ToString(i.InstanceId), uid)
		}
		return is
	})
}

// stranger reports whether tags are those of another cluster of the same name, and the UID
// of that. Instances launched before there was the tag belong to no other cluster.
func (s *Store) stranger(tags map[string]string) (uid string, is bool) {
	uid = tags[nodeclass.TagUID]
	return uid, uid != "" && s.UID != "" && uid != s.UID
}

func (s *Store) meet(id, uid string) {
	s.mu.Lock()
	known := s.met[id]
	s.met[id] = true
	s.mu.Unlock()
	if !known && s.Stranger != nil {
		s.Stranger(id, uid)
	}
}

// findTogether finds instances in one call with what other callers ask for.
func (s *Store) findTogether(ctx context.Context, ids []string) (found []types.Instance, err error) {
	answers, err := s.looks.Ask(ctx, ids...)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		switch a := answers[id]; {
		case a.Err != nil:
			return nil, a.Err
		case a.Value != nil:
			found = append(found, *a.Value)
		}
	}
	return found, nil
}

// look finds instances by ID; those that are not there are left out.
func (s *Store) look(ctx context.Context, ids []string) map[string]gather.Answer[*types.Instance] {
	answers := s.lookAmong(ctx, s.existing(), ids)
	for id, a := range answers {
		if a.Value == nil {
			continue
		}
		if _, is := s.stranger(tagMap(a.Value.Tags)); is {
			delete(answers, id)
		}
	}
	return answers
}

func (s *Store) lookAmong(ctx context.Context, filters []types.Filter, ids []string) map[string]gather.Answer[*types.Instance] {
	answers := map[string]gather.Answer[*types.Instance]{}
	for some := range slices.Chunk(ids, looksMax) {
		found, err := s.describe(ctx, filters, some)
		for _, id := range some {
			if err != nil {
				answers[id] = gather.Answer[*types.Instance]{Err: err}
			}
		}
		for _, i := range found {
			answers[aws.ToString(i.InstanceId)] = gather.Answer[*types.Instance]{Value: &i}
		}
	}
	return answers
}

// existing selects instances of the cluster that are not terminated.
func (s *Store) existing() []types.Filter { return append(s.owned(), notTerminated()) }

func notTerminated() types.Filter {
	return filter("instance-state-name",
		string(cloud.Pending), string(cloud.Running), string(cloud.Stopping), string(cloud.Stopped), string(cloud.ShuttingDown))
}

// owned selects instances of the cluster that a class was used for; other instances of the
// cluster, as those of managed node groups, lack its tag.
func (s *Store) owned() []types.Filter {
	return []types.Filter{
		filter("tag:"+nodeclass.TagOwned+s.cluster, nodeclass.ClusterOwned),
		filter("tag-key", nodeclass.TagClass),
	}
}

// describe returns what matches the filters, among the given ids if there are
// any. It asks for ids by filter, since EC2 answers nothing at all when one
// of many ids is unknown.
func (s *Store) describe(ctx context.Context, filters []types.Filter, ids []string) ([]types.Instance, error) {
	if len(ids) == 0 {
		return s.pages(ctx, filters)
	}
	room := idsMax
	for _, f := range filters {
		room -= len(f.Values)
	}
	var out []types.Instance
	for some := range slices.Chunk(ids, room) {
		found, err := s.pages(ctx, append(slices.Clone(filters), filter("instance-id", some...)))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// unread is most of what EC2 says of an instance: it is not read here.
var unread = client.Without("networkInterfaceSet", "blockDeviceMapping", "metadataOptions", "cpuOptions", "enclaveOptions", "hibernationOptions", "maintenanceOptions",
	"privateDnsNameOptions", "capacityReservationSpecification", "monitoring", "productCodes", "networkPerformanceOptions",
	"amiLaunchIndex", "architecture", "bootMode", "clientToken", "currentInstanceBootMode", "dnsName", "ebsOptimized", "enaSupport", "hypervisor", "platformDetails", "privateIpAddress", "reason",
	"rootDeviceName", "rootDeviceType", "sourceDestCheck", "usageOperation", "usageOperationUpdateTime", "virtualizationType", "vpcId")

func withoutUnread(o *ec2.Options) { o.APIOptions = append(o.APIOptions, unread) }

func (s *Store) pages(ctx context.Context, filters []types.Filter) ([]types.Instance, error) {
	var out []types.Instance
	pages := ec2.NewDescribeInstancesPaginator(s.api, &ec2.DescribeInstancesInput{Filters: filters, MaxResults: aws.Int32(pageMax)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx, withoutUnread)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeInstances", err)
		}
		for _, r := range page.Reservations {
			out = append(out, r.Instances...)
		}
	}
	return out, nil
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}

// ours reports whether an instance belongs to the cluster and to a class.
func (s *Store) ours(i types.Instance) bool {
	return s.owns(tagMap(i.Tags))
}

// owns reports whether tags are those of an instance of the cluster and of a class.
func (s *Store) owns(tags map[string]string) bool {
	_, classed := tags[nodeclass.TagClass]
	_, stranger := s.stranger(tags)
	return classed && !stranger && tags[nodeclass.TagOwned+s.cluster] == nodeclass.ClusterOwned
}

// isYoung reports whether an instance was launched so lately that EC2 may not know it
// everywhere.
func (s *Store) isYoung(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.young[id]
	return ok && s.now().Sub(at) <= hiddenFor
}
