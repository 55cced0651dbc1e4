package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/snapshot"
)

// state counts how often plans are made anew.
type state struct{ touched int }

func (*state) WaitForFirst(context.Context, ...client.Object) bool { return true }
func (s *state) Touch()                                            { s.touched++ }

// What may pass keeps the program from starting where plans would be wrong without the objects. What does not pass is
// logged once, and tried again.
func TestATypeIsFollowedOnceItCanBe(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "overlays"}, "", nil)
	notServed, busy := fmt.Errorf("list: %w", snapshot.ErrNotServed), apierrors.NewTooManyRequests("busy", 1)
	tests := map[string]struct {
		err    error
		vital  bool
		usual  bool
		starts bool
		said   int
	}{
		"forbidden":                     {fmt.Errorf("list: %w", forbidden), true, true, true, 1},
		"not served":                    {notServed, true, true, true, 1},
		"vital, and not served by most": {notServed, true, false, true, 0},
		"not served by most":            {notServed, false, false, true, 0},
		"busy":                          {busy, true, false, false, 1},
		"busy, and it does not matter":  {busy, false, false, true, 1},
		"followed at once":              {nil, true, true, true, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			lines, tries, s := &strings.Builder{}, 0, &state{}
			l := &late{Vital: tt.vital, Usual: tt.usual, Without: "without them", State: s}
			l.Log = slog.New(slog.NewTextHandler(lines, nil))
			watched := 0
			l.Watched = func(context.Context, client.Object) error { watched++; return nil }
			l.Follow = func(context.Context) error {
				if tries++; tries < 4 {
					return tt.err
				}
				return nil
			}
			if err := l.start(t.Context()); (err == nil) != tt.starts || err != nil && !errors.Is(err, tt.err) {
				t.Fatalf("it starts with %v, want that it starts: %v", err, tt.starts)
			}
			for range 5 {
				if _, err := l.round(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			wantTries, wantTouched := 4, 1
			if tt.err == nil {
				wantTries, wantTouched = 1, 0
			}
			got := strings.Count(lines.String(), "without them")
			if watched != 1 {
				t.Errorf("it is said to be watched %d times, want once", watched)
			}
			if got != tt.said || tries != wantTries || s.touched != wantTouched {
				t.Errorf("said %d times in %d tries, and planned anew %d times; want %d in %d, and %d:\n%s",
					got, tries, s.touched, tt.said, wantTries, wantTouched, lines)
			}
		})
	}
}

// That the API server does not serve devices is logged, since a flag asks for them. That it has no CapacityQuotas is
// usual.
func TestWhatTheAPIServerDoesNotServeIsLoggedWhereItWasAskedFor(t *testing.T) {
	lines := &strings.Builder{}
	parts := Parts{Log: slog.New(slog.NewTextHandler(lines, nil))}
	clusterState := &snapshot.ClusterState{}
	for l, says := range map[*late]bool{
		parts.devices(nil, clusterState): true, parts.quotas(nil, clusterState): false,
	} {
		l.Follow = func(context.Context) error { return snapshot.ErrNotServed }
		if err := l.start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(lines.String(), l.Without); said != says {
			t.Errorf("%q is logged: %v, want %v", l.Without, said, says)
		}
	}
}
