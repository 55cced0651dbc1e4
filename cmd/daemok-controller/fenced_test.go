package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/fence"
)

// reached counts the calls that got as far as the cloud.
type reached struct {
	cloud.Machines
	calls int
}

func (r *reached) Launch(context.Context, cloud.LaunchRequest) ([]cloud.Machine, error) {
	r.calls++
	return nil, nil
}
func (r *reached) Prepare(context.Context, cloud.LaunchRequest) error     { r.calls++; return nil }
func (r *reached) Terminate(context.Context, ...string) ([]string, error) { r.calls++; return nil, nil }
func (r *reached) Tag(context.Context, string, map[string]string) error   { r.calls++; return nil }
func (r *reached) List(context.Context, cloud.Filter) ([]cloud.Machine, error) {
	r.calls++
	return nil, nil
}

// Without a lease nothing is changed at the cloud; looking is free.
func TestWithoutALeaseNothingIsChangedAtTheCloud(t *testing.T) {
	inner := &reached{}
	m := fencedMachines{Machines: inner, fence: &fence.Fence{LeaseFor: time.Minute, CallFor: time.Second, Now: time.Now}}
	ctx := t.Context()
	_, launched := m.Launch(ctx, cloud.LaunchRequest{})
	_, given := m.Terminate(ctx, "i-1")
	for call, err := range map[string]error{
		"Launch": launched, "Terminate": given, "Prepare": m.Prepare(ctx, cloud.LaunchRequest{}), "Tag": m.Tag(ctx, "i-1", nil),
	} {
		if !errors.Is(err, fence.ErrNotLeading) {
			t.Errorf("%s = %v, want that we do not lead", call, err)
		}
	}
	if inner.calls != 0 {
		t.Errorf("%d calls reached the cloud", inner.calls)
	}
	if _, err := m.List(ctx, cloud.Filter{}); err != nil || inner.calls != 1 {
		t.Errorf("List = %v after %d calls", err, inner.calls)
	}
}
