package fence

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/daemok/daemok/cloud"
)

// reached counts the calls that got as far as the cloud, and notes whether
// they must end.
type reached struct {
	calls   int
	bounded bool
}

func (r *reached) call(ctx context.Context) error {
	r.calls++
	_, r.bounded = ctx.Deadline()
	return nil
}

func (r *reached) Launch(ctx context.Context, _ cloud.LaunchRequest) ([]cloud.Instance, error) {
	return []cloud.Instance{{ID: "i-1"}}, r.call(ctx)
}
func (r *reached) Prepare(ctx context.Context, _ cloud.LaunchRequest) error { return r.call(ctx) }
func (r *reached) Terminate(ctx context.Context, ids ...string) ([]string, error) {
	return ids, r.call(ctx)
}
func (r *reached) Tag(ctx context.Context, _ cloud.Instance, _ map[string]string) error {
	return r.call(ctx)
}
func (r *reached) List(ctx context.Context, _ cloud.Filter) ([]cloud.Instance, error) {
	return nil, r.call(ctx)
}

func (r *reached) Adopt(ctx context.Context, _ cloud.Instance, _ cloud.Class, _ map[string]string) error {
	return r.call(ctx)
}
func (r *reached) Adoptable(ctx context.Context, id string) (cloud.Instance, error) {
	return cloud.Instance{ID: id}, r.call(ctx)
}

// changes are the calls that change something at the cloud.
func changes(m Instances) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Launch": func(ctx context.Context) error {
			got, err := m.Launch(ctx, cloud.LaunchRequest{})
			if err == nil && len(got) != 1 {
				return errors.New("the machine is lost")
			}
			return err
		},
		"Adopt": func(ctx context.Context) error {
			return Adopter{Inner: m.Inner.(cloud.Adopter), Fence: m.Fence}.Adopt(ctx, cloud.Instance{}, cloud.Class{}, nil)
		},
		"Prepare": func(ctx context.Context) error { return m.Prepare(ctx, cloud.LaunchRequest{}) },
		"Terminate": func(ctx context.Context) error {
			gone, err := m.Terminate(ctx, "i-1")
			if err == nil && len(gone) != 1 {
				return errors.New("the answer is lost")
			}
			return err
		},
		"Tag": func(ctx context.Context) error { return m.Tag(ctx, cloud.Instance{ID: "i-1"}, nil) },
	}
}

// Without a lease nothing is changed at the cloud; reading is always allowed.
func TestWithoutALeaseNothingIsChangedAtTheCloud(t *testing.T) {
	inner := &reached{}
	m := Instances{Inner: inner, Fence: &Fence{LeaseFor: time.Minute, CallFor: time.Second, Now: time.Now}}
	for name, call := range changes(m) {
		if err := call(t.Context()); !errors.Is(err, ErrNotLeading) {
			t.Errorf("%s = %v, want that we do not lead", name, err)
		}
	}
	if inner.calls != 0 {
		t.Errorf("%d calls reached the cloud", inner.calls)
	}
	if _, err := m.List(t.Context(), cloud.Filter{}); err != nil || inner.calls != 1 {
		t.Errorf("List = %v after %d calls", err, inner.calls)
	}
	if m, err := (Adopter{Inner: inner, Fence: m.Fence}).Adoptable(t.Context(), "i-1"); err != nil || m.ID != "i-1" || inner.calls != 2 {
		t.Errorf("Adoptable = %v, %v after %d calls", m, err, inner.calls)
	}
}

// With a lease calls go through, and end within what the fence counts on.
func TestWithALeaseCallsAreMadeAndEnd(t *testing.T) {
	f := &Fence{LeaseFor: time.Minute, CallFor: time.Second, Now: time.Now}
	_ = f.Watching(&fakeLock{}).Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"})
	for name, call := range changes(Instances{Inner: &reached{}, Fence: f}) {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s = %v with a lease", name, err)
		}
	}
	inner := &reached{}
	for name, call := range changes(Instances{Inner: inner, Fence: f}) {
		if inner.bounded = false; call(t.Context()) != nil || !inner.bounded {
			t.Errorf("%s may take for ever", name)
		}
	}
}
