package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

// account is a emulated EC2 with two instances a page.
type account struct {
	instances  []types.Instance
	hidden     []string // exist, but no call sees them yet
	terminated []string
	tagged     map[string]string
	describes  int
}

func (a *account) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	a.describes++
	if values := valuesOf(in.Filters); values > 200 {
		return nil, &smithy.GenericAPIError{Code: "FilterLimitExceeded", Message: "The maximum number of filter values specified on a single call is 200"}
	}
	var found []types.Instance
	for _, m := range a.instances {
		if !slices.Contains(a.hidden, *m.InstanceId) && matches(m, in.Filters) {
			found = append(found, m)
		}
	}
	from := len(aws.ToString(in.NextToken))
	out := &ec2.DescribeInstancesOutput{}
	if to := from + 2; to < len(found) {
		out.NextToken, found = aws.String(strings.Repeat("x", to)), found[:to]
	}
	out.Reservations = []types.Reservation{{Instances: found[min(from, len(found)):]}}
	return out, nil
}

func matches(m types.Instance, filters []types.Filter) bool {
	tags := tagMap(m.Tags)
	for _, f := range filters {
		var ok bool
		switch name := *f.Name; name {
		case "instance-id":
			ok = slices.Contains(f.Values, *m.InstanceId)
		case "instance-state-name":
			ok = slices.Contains(f.Values, string(m.State.Name))
		case "tag-key":
			_, ok = tags[f.Values[0]]
		default:
			ok = slices.Contains(f.Values, tags[name[len("tag:"):]])
		}
		if !ok {
			return false
		}
	}
	return true
}

// valuesOf is how many values filters have together.
func valuesOf(filters []types.Filter) (n int) {
	for _, f := range filters {
		n += len(f.Values)
	}
	return n
}

func (a *account) known(id string) bool {
	return !slices.Contains(a.hidden, id) &&
		slices.ContainsFunc(a.instances, func(m types.Instance) bool { return *m.InstanceId == id })
}

func (a *account) TerminateInstances(_ context.Context, in *ec2.TerminateInstancesInput, _ ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error) {
	for _, id := range in.InstanceIds {
		if !a.known(id) {
			return nil, &smithy.GenericAPIError{Code: "InvalidInstanceID.NotFound", Message: id}
		}
	}
	a.terminated = append(a.terminated, in.InstanceIds...)
	return &ec2.TerminateInstancesOutput{}, nil
}

func (a *account) CreateTags(_ context.Context, in *ec2.CreateTagsInput, _ ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error) {
	if !a.known(in.Resources[0]) {
		return nil, &smithy.GenericAPIError{Code: "InvalidInstanceID.NotFound"}
	}
	a.tagged = tagMap(in.Tags)
	return &ec2.CreateTagsOutput{}, nil
}

func instance(id, clusterName, state string, more ...string) types.Instance {
	tags := []types.Tag{{Key: aws.String("kubernetes.io/cluster/" + clusterName), Value: aws.String("owned")},
		{Key: aws.String("karpenter.k8s.aws/ec2nodeclass"), Value: aws.String("default")}}
	for i := 0; i < len(more); i += 2 {
		tags = append(tags, types.Tag{Key: &more[i], Value: &more[i+1]})
	}
	return types.Instance{InstanceId: &id, Tags: tags, State: &types.InstanceState{Name: types.InstanceStateName(state)},
		InstanceType: "m5.large", Placement: &types.Placement{AvailabilityZone: aws.String("us-east-1a"), AvailabilityZoneId: aws.String("use1-az1")}}
}

func standing() *account {
	managed := instance("i-managed", "prod", "running")
	managed.Tags = managed.Tags[:1] // a managed node group's: of the cluster, of no class
	return &account{instances: []types.Instance{
		instance("i-3", "prod", "running", "daemok.sh/batch", "b1"), instance("i-1", "prod", "pending"),
		instance("i-2", "prod", "shutting-down"), instance("i-gone", "prod", "terminated"),
		instance("i-other", "test", "running"), managed,
	}}
}

var start = time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)

// open opens the store of the cluster "prod" that does not wait for other callers.
func open(a api, now func() time.Time) *Store {
	return New(a, "prod", now, func(ctx context.Context, _ time.Duration) error { return ctx.Err() })
}

func ids(instances []cloud.Instance) []string {
	var out []string
	for _, m := range instances {
		out = append(out, m.ID)
	}
	return out
}

func TestList(t *testing.T) {
	tests := map[string]struct {
		filter cloud.Filter
		want   []string
	}{
		"all of this cluster but those terminated": {cloud.Filter{}, []string{"i-1", "i-2", "i-3"}},
		"by batch":                     {cloud.Filter{Batch: "b1"}, []string{"i-3"}},
		"by id, unknown ones left out": {cloud.Filter{IDs: []string{"i-3", "i-1", "i-none", "i-other"}}, []string{"i-1", "i-3"}},
		"by id and batch":              {cloud.Filter{IDs: []string{"i-1"}, Batch: "b1"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := open(standing(), func() time.Time { return start }).List(t.Context(), tt.filter)
			if err != nil || !slices.Equal(ids(got), tt.want) {
				t.Errorf("List(%+v) = %v, %v; want %v", tt.filter, ids(got), err, tt.want)
			}
		})
	}
}

func TestConvert(t *testing.T) {
	spot := instance("i-1", "prod", "running", "daemok.sh/batch", "b1")
	spot.InstanceLifecycle, spot.PrivateDnsName = types.InstanceLifecycleTypeSpot, aws.String("ip-10-0-0-1.ec2.internal")
	got := convert(spot)
	if got.ProviderID != "aws:///us-east-1a/i-1" || got.Option != cluster.Spot || got.ZoneID != "use1-az1" || got.Class != "default" ||
		got.Batch != "b1" || got.State != cloud.Running || got.PrivateDNS != "ip-10-0-0-1.ec2.internal" || got.Kind != "m5.large" {
		t.Errorf("convert = %+v", got)
	}
	reserved := instance("i-1", "prod", "running")
	reserved.CapacityReservationId = aws.String("cr-1")
	if got := convert(reserved); got.Option != cluster.Reserved {
		t.Errorf("a machine in a reservation is %s", got.Option)
	}
}

func TestTerminate(t *testing.T) {
	tests := map[string]struct {
		ids        []string
		gone, done []string
	}{
		"machines of ours":                 {[]string{"i-3", "i-1", "i-3"}, nil, []string{"i-1", "i-3"}},
		"one that shuts down is let be":    {[]string{"i-2"}, nil, nil},
		"one that is terminated is gone":   {[]string{"i-gone", "i-1"}, []string{"i-gone"}, []string{"i-1"}},
		"one that nobody knows is gone":    {[]string{"i-none"}, []string{"i-none"}, nil},
		"another cluster's is not touched": {[]string{"i-other"}, []string{"i-other"}, nil},
		"a managed node's is not touched":  {[]string{"i-managed"}, []string{"i-managed"}, nil},
		"one just bought is not visible":   {[]string{"i-young", "i-1"}, nil, []string{"i-1"}},
		"nothing asks nobody":              {nil, nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := standing()
			a.instances, a.hidden = append(a.instances, instance("i-young", "prod", "pending")), []string{"i-young"}
			s := open(a, func() time.Time { return start })
			s.Launched("i-young")
			gone, err := s.Terminate(t.Context(), tt.ids...)
			slices.Sort(a.terminated)
			if slices.Contains(tt.ids, "i-young") != cloud.IsNotVisible(err) || !cloud.IsNotVisible(err) && err != nil || !slices.Equal(gone, tt.gone) || !slices.Equal(a.terminated, tt.done) {
				t.Errorf("Terminate(%v) = gone %v, %v; terminated %v; want gone %v, terminated %v", tt.ids, gone, err, a.terminated, tt.gone, tt.done)
			}
		})
	}
}

// Two clusters of an account may have one name. Whatever carries the UID of the other is
// neither listed nor terminated nor tagged, and reported once; what carries none is the
// cluster's.
func TestInstancesOfAnotherClusterOfTheNameAreLeftAlone(t *testing.T) {
	const uid = "daemok.sh/cluster-uid"
	a := &account{instances: []types.Instance{
		instance("i-1", "prod", "running", uid, "uid-1"), instance("i-2", "prod", "running", uid, "uid-2"), instance("i-3", "prod", "running")}}
	s := open(a, func() time.Time { return start })
	s.UID = "uid-1"
	var reported []string
	s.Stranger = func(id, uid string) { reported = append(reported, id+" of "+uid) }
	for _, f := range []cloud.Filter{{}, {IDs: []string{"i-1", "i-2", "i-3"}}, {}} {
		if got, err := s.List(t.Context(), f); err != nil || !slices.Equal(ids(got), []string{"i-1", "i-3"}) {
			t.Errorf("List(%+v) = %v, %v", f, ids(got), err)
		}
	}
	if !slices.Equal(reported, []string{"i-2 of uid-2"}) {
		t.Errorf("told of %q", reported)
	}
	if gone, err := s.Terminate(t.Context(), "i-1", "i-2"); err != nil || !slices.Equal(gone, []string{"i-2"}) || !slices.Equal(a.terminated, []string{"i-1"}) {
		t.Errorf("Terminate = gone %v, %v; terminated %v", gone, err, a.terminated)
	}
	if err := s.Tag(t.Context(), convert(a.instances[1]), map[string]string{"Name": "x"}); !isMissing(err, "i-2") || a.tagged != nil {
		t.Errorf("Tag = %v, tagged %v", err, a.tagged)
	}
}

func TestAInstanceUnseenForAMinuteIsGone(t *testing.T) {
	now := start
	a := &account{}
	s := open(a, func() time.Time { return now })
	s.Launched("i-young")
	if gone, err := s.Terminate(t.Context(), "i-young"); !cloud.IsNotVisible(err) || len(gone) > 0 {
		t.Errorf("at once: gone %v, %v", gone, err)
	}
	now = now.Add(hiddenFor + time.Second)
	if gone, err := s.Terminate(t.Context(), "i-young"); err != nil || !slices.Equal(gone, []string{"i-young"}) {
		t.Errorf("after a minute: gone %v, %v", gone, err)
	}
}

func TestTag(t *testing.T) {
	a := standing()
	s := open(a, func() time.Time { return start })
	listed, err := s.List(t.Context(), cloud.Filter{IDs: []string{"i-1"}})
	if err != nil || len(listed) != 1 {
		t.Fatalf("List = %v, %v", listed, err)
	}
	looks := a.describes
	if err := s.Tag(t.Context(), listed[0], map[string]string{"Name": "node-1"}); err != nil || a.tagged["Name"] != "node-1" || a.describes != looks {
		t.Errorf("Tag = %v, tagged %v with %d more looks", err, a.tagged, a.describes-looks)
	}
	a.tagged = nil
	foreign, unknown := listed[0], listed[0]
	foreign.Tags = map[string]string{"kubernetes.io/cluster/other": "owned", "karpenter.k8s.aws/ec2nodeclass": "default"}
	unknown.ID = "i-none"
	for what, m := range map[string]cloud.Instance{"one that EC2 does not know": unknown, "another cluster's": foreign} {
		err := s.Tag(t.Context(), m, map[string]string{"Name": "x"})
		if missing, ok := errors.AsType[*cloud.NotFoundError](err); !ok || missing.InstanceID != m.ID || a.tagged != nil {
			t.Errorf("Tag of %s = %v, tagged %v; want it not found, and no call that tags it", what, err, a.tagged)
		}
	}
}

// However many are asked for, each call stays within what EC2 takes.
func TestManyInstancesAreListedWithinTheLimitOfFilters(t *testing.T) {
	a := &account{}
	var all []string
	for i := range 500 {
		id := fmt.Sprintf("i-%03d", i)
		a.instances, all = append(a.instances, instance(id, "prod", "running")), append(all, id)
	}
	s := open(a, func() time.Time { return start })
	if got, err := s.List(t.Context(), cloud.Filter{IDs: all}); err != nil || len(got) != len(all) {
		t.Errorf("List of %d = %d machines, %v", len(all), len(got), err)
	}
	if gone, err := s.Terminate(t.Context(), all...); err != nil || len(gone) != 0 || len(a.terminated) != len(all) {
		t.Errorf("Terminate of %d ended %d, gone %v, %v", len(all), len(a.terminated), gone, err)
	}
}
