package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/fence"
)

// reached notes the calls that got as far as the adapter.
type reached struct{ calls []string }

func (r *reached) call(name string) error { r.calls = append(r.calls, name); return nil }

func (r *reached) Launch(context.Context, cloud.LaunchRequest) ([]cloud.Instance, error) {
	return nil, r.call("Launch")
}
func (r *reached) Prepare(context.Context, cloud.LaunchRequest) error { return r.call("Prepare") }
func (r *reached) Terminate(context.Context, ...string) ([]string, error) {
	return nil, r.call("Terminate")
}
func (r *reached) List(context.Context, cloud.Filter) ([]cloud.Instance, error) {
	return nil, r.call("List")
}
func (r *reached) Tag(context.Context, cloud.Instance, map[string]string) error { return r.call("Tag") }
func (r *reached) Kinds(context.Context, cloud.Class) (*cluster.Catalogue, error) {
	return nil, r.call("Kinds")
}
func (r *reached) Subnets(context.Context, nodeclass.Class) ([]nodeclass.Subnet, error) {
	return nil, r.call("Subnets")
}
func (r *reached) Groups(context.Context, nodeclass.Class) ([]nodeclass.Group, error) {
	return nil, r.call("Groups")
}
func (r *reached) Reservations(context.Context, nodeclass.Class) ([]nodeclass.Reservation, error) {
	return nil, r.call("Reservations")
}
func (r *reached) Placement(context.Context, nodeclass.Class) (*nodeclass.PlacementGroup, error) {
	return nil, r.call("Placement")
}
func (r *reached) Images(context.Context, nodeclass.Class) ([]nodeclass.Image, error) {
	return nil, r.call("Images")
}
func (r *reached) Profile(context.Context, nodeclass.Class) (string, error) {
	return "", r.call("Profile")
}
func (r *reached) KubernetesVersion(context.Context) (string, error) {
	return "", r.call("KubernetesVersion")
}
func (r *reached) Unsized(context.Context, nodeclass.Class) (nodeclass.Unsized, error) {
	return nodeclass.Unsized{}, r.call("Unsized")
}
func (r *reached) Crowded(context.Context, nodeclass.Class) (nodeclass.Crowded, error) {
	return nodeclass.Crowded{}, r.call("Crowded")
}
func (r *reached) UserDataBytes(context.Context, nodeclass.Class) (int, error) {
	return 0, r.call("UserDataBytes")
}
func (r *reached) CollectProfiles(context.Context, map[string]bool) ([]string, error) {
	return nil, r.call("CollectProfiles")
}
func (r *reached) Verify(context.Context, nodeclass.Class) error { return r.call("Verify") }
func (r *reached) Drop(string)                                   {}

func (r *reached) Forget(context.Context, nodeclass.Class) error { return r.call("Forget") }
func (r *reached) RefreshTypes(context.Context) error            { return r.call("RefreshTypes") }
func (r *reached) RefreshOnDemand(context.Context) error         { return r.call("RefreshOnDemand") }
func (r *reached) RefreshCommitments(context.Context) error      { return r.call("RefreshCommitments") }
func (r *reached) RefreshQuotas(context.Context) error           { return r.call("RefreshQuotas") }
func (r *reached) RefreshSpot(context.Context) error             { return r.call("RefreshSpot") }
func (r *reached) RefreshTemplates(context.Context) error        { return r.call("RefreshTemplates") }

// Without a lease only reads reach AWS. Every method that the program uses is called; one that is
// not named here is taken for one that changes something.
func TestWithoutALeaseNothingIsChangedAtAWS(t *testing.T) {
	looks := []string{"Crowded", "Groups", "Images", "Kinds", "KubernetesVersion", "List", "Placement",
		"RefreshCommitments", "RefreshOnDemand", "RefreshQuotas", "RefreshSpot", "RefreshTypes", "Reservations",
		"Subnets", "Unsized", "UserDataBytes", "Verify"}
	inner := &reached{}
	p := provider(behind(&fence.Fence{LeaseFor: time.Minute, CallFor: time.Second, Now: time.Now}, inner))
	every := reflect.TypeFor[provider]()
	for i := range every.NumMethod() {
		name := every.Method(i).Name
		if name == "Drop" {
			continue // of this process's memory
		}
		err := callWithZeros(t.Context(), reflect.ValueOf(p).MethodByName(name))
		if looks := slices.Contains(looks, name); looks && err != nil || !looks && !errors.Is(err, fence.ErrNotLeading) {
			t.Errorf("%s without a lease = %v", name, err)
		}
	}
	slices.Sort(inner.calls)
	if !slices.Equal(inner.calls, looks) {
		t.Errorf("these reached AWS without a lease: %v, want %v", inner.calls, looks)
	}
}

// callWithZeros calls a method whose first argument is a context and whose
// last answer is an error.
func callWithZeros(ctx context.Context, method reflect.Value) error {
	args := []reflect.Value{reflect.ValueOf(ctx)}
	kind := method.Type()
	for i := 1; i < kind.NumIn() && (!kind.IsVariadic() || i < kind.NumIn()-1); i++ {
		args = append(args, reflect.Zero(kind.In(i)))
	}
	out := method.Call(args)
	err, _ := out[len(out)-1].Interface().(error)
	return err
}

// Events are written by a client of their own: it stands behind the fence too.
func TestWithoutALeaseNoEventIsWritten(t *testing.T) {
	written := 0
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		written++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"default"}}`))
	}))
	defer api.Close()
	config := &rest.Config{Host: api.URL}
	for _, tt := range []struct {
		says  string
		o     options
		wants int
	}{
		{"with a lease that was not taken", options{leaderElection: true}, 0},
		{"without leader election", options{}, 1},
	} {
		written = 0
		sink, err := eventSink(fencedConfig(tt.o, config, &fence.Fence{LeaseFor: time.Minute, CallFor: time.Second, Now: time.Now}))
		if err != nil {
			t.Fatal(err)
		}
		event := &corev1.Event{}
		event.Name, event.Namespace = "e", "default"
		_, err = sink.Create(event)
		if written != tt.wants || (err == nil) != (tt.wants == 1) {
			t.Errorf("%s: %d events were written, %v; want %d", tt.says, written, err, tt.wants)
		}
	}
}
