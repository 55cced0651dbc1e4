package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/daemok/daemok/cloud"
)

// region is an emulated EC2 whose instances end a minute after they were terminated, and
// that counts calls.
type region struct {
	mu        sync.Mutex
	ids       []string
	endsAt    map[string]time.Time
	protected []string // may not be terminated
	named     bool     // a refusal names the instance that it is for
	looks     int
	ends      int
}

func (r *region) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks++
	var found []types.Instance
	for _, id := range r.ids {
		state := "running"
		if at, given := r.endsAt[id]; given {
			if state = "shutting-down"; !time.Now().Before(at) {
				state = "terminated"
			}
		}
		if m := instance(id, "prod", state); matches(m, in.Filters) {
			found = append(found, m)
		}
	}
	return &ec2.DescribeInstancesOutput{Reservations: []types.Reservation{{Instances: found}}}, nil
}

func (r *region) TerminateInstances(_ context.Context, in *ec2.TerminateInstancesInput, _ ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends++
	for _, id := range in.InstanceIds {
		if slices.Contains(r.protected, id) {
			text := "a machine may not be terminated"
			if r.named {
				text = fmt.Sprintf("The instance '%s' may not be terminated.", id)
			}
			return nil, &smithy.GenericAPIError{Code: "OperationNotPermitted", Message: text}
		}
	}
	for _, id := range in.InstanceIds {
		r.endsAt[id] = time.Now().Add(time.Minute)
	}
	return &ec2.TerminateInstancesOutput{}, nil
}

func (r *region) CreateTags(context.Context, *ec2.CreateTagsInput, ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error) {
	return nil, errors.New("nothing is to be tagged")
}

func regionOf(n int) *region {
	r := &region{endsAt: map[string]time.Time{}}
	for i := range n {
		r.ids = append(r.ids, fmt.Sprintf("i-%017x", i))
	}
	return r
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave is the end of one instance, as the loop over nodes goes through it.
func leave(ctx context.Context, s *Store, id string, step func(func())) error {
	var err error
	step(func() { _, err = s.Terminate(ctx, id) })
	for _, pause := range []time.Duration{2, 4, 8, 15, 15, 15, 15} {
		if err != nil {
			return err
		}
		time.Sleep(pause * time.Second)
		var left []cloud.Instance
		if step(func() { left, err = s.List(ctx, cloud.Filter{IDs: []string{id}}) }); err == nil && len(left) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s is still there", id)
}

// TestManyInstancesLeaveInFewCalls: all at once, a hundred of them handled at a time, each
// asking for itself alone.
func TestManyInstancesLeaveInFewCalls(t *testing.T) {
	tests := map[string]struct{ instances, looks, ends int }{
		"thirty":     {30, 8, 1},
		"a thousand": {1000, 80, 10},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := regionOf(tt.instances)
				s := New(r, "prod", time.Now, wait)
				workers := make(chan struct{}, 100)
				step := func(do func()) {
					workers <- struct{}{}
					defer func() { <-workers }()
					do()
				}
				var all sync.WaitGroup
				for _, id := range r.ids {
					all.Go(func() {
						if err := leave(t.Context(), s, id, step); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				t.Logf("%d machines: %d calls of DescribeInstances, %d of TerminateInstances", tt.instances, r.looks, r.ends)
				if r.looks > tt.looks || r.ends > tt.ends {
					t.Errorf("%d machines took %d looks and %d ends, want at most %d and %d", tt.instances, r.looks, r.ends, tt.looks, tt.ends)
				}
			})
		})
	}
}

// TestAInstanceThatMayNotEndKeepsNoOther: EC2 refuses a call about many for the
// sake of one, and may not say for which.
func TestAInstanceThatMayNotEndKeepsNoOther(t *testing.T) {
	tests := map[string]struct {
		named bool
		calls int
	}{
		"named by EC2":     {true, 2},
		"not named by EC2": {false, 17},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := regionOf(200)
			bad := r.ids[77]
			r.protected, r.named = []string{bad}, tt.named
			_, err := open(r, time.Now).Terminate(t.Context(), r.ids...)
			if err == nil || !strings.Contains(err.Error(), "OperationNotPermitted") {
				t.Errorf("Terminate = %v, want the refusal", err)
			}
			if _, given := r.endsAt[bad]; given || len(r.endsAt) != 199 || r.ends > tt.calls {
				t.Errorf("%d of 199 were given back in %d calls, want at most %d", len(r.endsAt), r.ends, tt.calls)
			}
		})
	}
}

// TestARefusalOfAllIsNotPartedWithoutEnd: where no instance may be ended, that is found out
// in a bounded number of calls.
func TestARefusalOfAllIsNotPartedWithoutEnd(t *testing.T) {
	for name, named := range map[string]bool{"named by EC2": true, "not named by EC2": false} {
		t.Run(name, func(t *testing.T) {
			r := regionOf(200)
			r.protected, r.named = r.ids, named
			if gone, err := open(r, time.Now).Terminate(t.Context(), r.ids...); err == nil || len(gone) > 0 {
				t.Errorf("Terminate = %v, %v", gone, err)
			}
			if r.ends > 2*callsMax {
				t.Errorf("%d calls, want at most %d", r.ends, 2*callsMax)
			}
		})
	}
}

// TestOneThatEC2DoesNotKnowKeepsNoOther: an instance that vanishes between
// DescribeInstances and TerminateInstances is gone, and the others are terminated in a
// second call.
func TestOneThatEC2DoesNotKnowKeepsNoOther(t *testing.T) {
	r := &vanishing{region: regionOf(50)}
	r.vanished = r.ids[7]
	gone, err := open(r, time.Now).Terminate(t.Context(), r.ids...)
	if err != nil || !slices.Equal(gone, []string{r.vanished}) || len(r.endsAt) != 49 || r.calls != 2 {
		t.Errorf("Terminate = gone %v, %v; %d given back in %d calls", gone, err, len(r.endsAt), r.calls)
	}
}

// vanishing is a region where an instance vanishes after it was checked.
type vanishing struct {
	*region
	vanished string
	calls    int
}

func (v *vanishing) TerminateInstances(ctx context.Context, in *ec2.TerminateInstancesInput, o ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error) {
	v.calls++
	if slices.Contains(in.InstanceIds, v.vanished) {
		return nil, &smithy.GenericAPIError{Code: "InvalidInstanceID.NotFound",
			Message: "The instance ID '" + v.vanished + "' does not exist"}
	}
	return v.region.TerminateInstances(ctx, in, o...)
}
