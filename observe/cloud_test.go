package observe_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

// slow is a cloud whose calls take a second and end as it says.
type slow struct {
	cloud.Instances
	now *time.Time
	err error
}

func (s slow) pass() error {
	*s.now = s.now.Add(time.Second)
	return s.err
}

func (s slow) Launch(context.Context, cloud.LaunchRequest) ([]cloud.Instance, error) {
	return []cloud.Instance{{ID: "i-1"}}, s.pass()
}
func (s slow) Prepare(context.Context, cloud.LaunchRequest) error           { return s.pass() }
func (s slow) Tag(context.Context, cloud.Instance, map[string]string) error { return s.pass() }
func (s slow) Terminate(context.Context, ...string) ([]string, error) {
	return []string{"i-1"}, s.pass()
}
func (s slow) List(context.Context, cloud.Filter) ([]cloud.Instance, error) {
	return []cloud.Instance{{ID: "i-1"}}, s.pass()
}

func TestCallsOfTheCloudAreMeasured(t *testing.T) {
	ctx := t.Context()
	launch := func(m observe.Instances) error {
		_, err := m.Launch(ctx, cloud.LaunchRequest{Count: 3, Options: []cloud.OfferingChoice{{Option: cluster.Spot}}})
		return err
	}
	short := &cloud.NoCapacityError{Offerings: []cloud.OfferingChoice{
		{Kind: "m5.large", Zone: "a", Option: cluster.Spot}, {Kind: "m5.xlarge", Zone: "a", Option: cluster.Spot},
		{Kind: "m5.large", Zone: "b", ZoneID: "use1-az2", Option: cluster.Spot},
	}}
	tests := map[string]struct {
		err  error
		call func(observe.Instances) error
		want []string
	}{
		"a launch": {nil, launch, []string{batch + "batcher=create_fleet 1 in 3s", took + "method=Create provider=aws 1 in 1s"}},
		"a launch that is short counts once a zone": {short, launch, []string{
			batch + "batcher=create_fleet 1 in 3s", took + "method=Create provider=aws 1 in 1s",
			failed + "error=InsufficientCapacityError method=Create provider=aws 1",
			launches + "capacity_type=spot reason=InsufficientCapacity zone=a 1", launches + "capacity_type=spot reason=InsufficientCapacity zone=b zone_id=use1-az2 1",
		}},
		"a launch that is refused": {&cloud.RefusedError{Reason: "Unauthorized"}, launch, []string{
			batch + "batcher=create_fleet 1 in 3s", took + "method=Create provider=aws 1 in 1s",
			failed + "error=CreateError method=Create provider=aws 1", launches + "capacity_type=spot reason=Unauthorized 1",
		}},
		"a launch under a used token": {&cloud.TokenMismatchError{}, launch, []string{
			batch + "batcher=create_fleet 1 in 3s", took + "method=Create provider=aws 1 in 1s",
			failed + "error=TokenMismatchError method=Create provider=aws 1",
		}},
		"preparing": {nil, func(m observe.Instances) error { return m.Prepare(ctx, cloud.LaunchRequest{}) },
			[]string{took + "method=Prepare provider=aws 1 in 1s"}},
		"giving back": {&cloud.ThrottledError{}, func(m observe.Instances) error { _, err := m.Terminate(ctx, "i-1", "i-2"); return err },
			[]string{batch + "batcher=terminate_instances 1 in 2s", took + "method=Delete provider=aws 1 in 1s",
				failed + "error=ThrottledError method=Delete provider=aws 1"}},
		"a look at all machines": {errors.New("connection reset"), func(m observe.Instances) error { _, err := m.List(ctx, cloud.Filter{}); return err },
			[]string{took + "method=List provider=aws 1 in 1s", failed + "method=List provider=aws 1"}},
		"a look at one machine": {nil, func(m observe.Instances) error { _, err := m.List(ctx, cloud.Filter{IDs: []string{"i-1"}}); return err },
			[]string{took + "method=Get provider=aws 1 in 1s"}},
		"tagging what is gone": {&cloud.NotFoundError{}, func(m observe.Instances) error { return m.Tag(ctx, cloud.Instance{ID: "i-1"}, nil) },
			[]string{took + "method=Tag provider=aws 1 in 1s", failed + "error=NodeClaimNotFoundError method=Tag provider=aws 1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			registry := prometheus.NewPedanticRegistry()
			m := observe.Instances{Instances: slow{now: &now, err: tt.err}, Metrics: observe.NewMetrics(registry, "", "", "", ""),
				Controller: "loop", Provider: "aws", Now: func() time.Time { return now }}
			if err := tt.call(m); !errors.Is(err, tt.err) {
				t.Errorf("the call returned %v, want %v", err, tt.err)
			}
			expect(t, registry, tt.want, strings.Fields(took)[0], strings.Fields(failed)[0], strings.Fields(launches)[0], strings.Fields(batch)[0])
		})
	}
}

// How lines of these metrics begin.
const (
	took     = "karpenter_cloudprovider_duration_seconds controller=loop "
	failed   = "karpenter_cloudprovider_errors_total controller=loop "
	launches = "karpenter_cloudprovider_instance_launch_failures_total "
	batch    = "karpenter_cloudprovider_batcher_batch_size "
)

func expect(t *testing.T, from prometheus.Gatherer, want []string, names ...string) {
	t.Helper()
	got, err := scraped.Lines(from, names...)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRetriesOfRequestsAreCounted(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	reported := observe.NewMetrics(registry, "", "", "", "")
	reported.ObserveAWS("EC2", "CreateFleet", "200", time.Second, 3)
	reported.ObserveAWS("EC2", "CreateFleet", "RequestLimitExceeded", 2*time.Second, 1)
	expect(t, registry, []string{
		"aws_sdk_go_request_retry_count action=CreateFleet service=EC2 2 in 2s",
		"aws_sdk_go_request_total action=CreateFleet service=EC2 status_code=200 1",
		"aws_sdk_go_request_total action=CreateFleet service=EC2 status_code=RequestLimitExceeded 1",
		"aws_sdk_go_request_duration_seconds action=CreateFleet service=EC2 status_code=200 1 in 1s",
		"aws_sdk_go_request_duration_seconds action=CreateFleet service=EC2 status_code=RequestLimitExceeded 1 in 2s",
	}, "aws_sdk_go_request_retry_count", "aws_sdk_go_request_total", "aws_sdk_go_request_duration_seconds")
}

func TestTriesOfRequestsAreCounted(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	reported := observe.NewMetrics(registry, "", "", "", "")
	reported.ObserveAttempt("EC2", "CreateFleet", "RequestLimitExceeded", time.Second)
	reported.ObserveAttempt("EC2", "CreateFleet", "200", 2*time.Second)
	expect(t, registry, []string{
		"aws_sdk_go_request_attempt_total action=CreateFleet service=EC2 status_code=200 1",
		"aws_sdk_go_request_attempt_total action=CreateFleet service=EC2 status_code=RequestLimitExceeded 1",
		"aws_sdk_go_request_attempt_duration_seconds action=CreateFleet service=EC2 status_code=200 1 in 2s",
		"aws_sdk_go_request_attempt_duration_seconds action=CreateFleet service=EC2 status_code=RequestLimitExceeded 1 in 1s",
	}, "aws_sdk_go_request_attempt_total", "aws_sdk_go_request_attempt_duration_seconds")
}

func TestUnsyncedTimeEnds(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	reported := observe.NewMetrics(registry, "", "", "", "")
	const synced, unsynced = "karpenter_cluster_state_synced", "karpenter_cluster_state_unsynced_time_seconds"
	expect(t, registry, []string{synced + " 0"}, synced)
	if got, err := scraped.Lines(registry, unsynced); err != nil || len(got) != 1 || got[0] == unsynced+" 0" {
		t.Errorf("before everything was seen: %v, %v; want a time", got, err)
	}
	reported.Synced()
	expect(t, registry, []string{synced + " 1", unsynced + " 0"}, synced, unsynced)
}
