package profile

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

func none(context.Context) (map[string]bool, error) { return nil, nil }

// The life of profiles of one class whose role is changed: that of the earlier
// role stays while anything uses it, and an hour longer.
func TestProfilesOfEarlierRolesGo(t *testing.T) {
	a, now := newAccount(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	k := Profiles{API: a, Cluster: "prod", Region: "us-east-1"}
	var names []string
	for _, profiles := range []Profiles{k, {API: a, Cluster: "prod-2", Region: "us-east-1"}, {API: a, Cluster: "prod", Region: "eu-west-1"}} {
		for _, role := range []string{"node-a", "node-b"} {
			name, err := profiles.Ensure(t.Context(), class(role))
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	before, after := names[0], names[1]
	c := NewCollector(k, func() time.Time { return now })
	for _, step := range []struct {
		says    string
		later   time.Duration
		used    []string
		running []string
		removed string
	}{
		{"both are in use", 0, []string{before, after}, nil, ""},
		{"the role changes, and nothing has the old profile any more", 2 * time.Hour, []string{after}, nil, ""},
		{"it has had no user for less than an hour", 59 * time.Minute, []string{after}, nil, ""},
		{"a claim turns up that was launched with it", time.Minute, []string{before, after}, nil, ""},
		{"that claim has gone", time.Minute, []string{after}, nil, ""},
		{"a machine runs with it that no claim tells of", time.Hour, []string{after}, []string{before}, ""},
		{"that machine has gone", time.Hour, []string{after}, nil, ""},
		{"and an hour later", time.Hour, []string{after}, nil, before},
		{"there is nothing left to do", time.Hour, []string{after}, nil, ""},
	} {
		now = now.Add(step.later)
		used, running := map[string]bool{}, map[string]bool{}
		for _, name := range step.used {
			used[name] = true
		}
		for _, name := range step.running {
			running[name] = true
		}
		got, err := c.Collect(t.Context(), used, func(context.Context) (map[string]bool, error) { return running, nil })
		if err != nil || strings.Join(got, " ") != step.removed {
			t.Errorf("%s: removed %v, %v; want %q", step.says, got, err, step.removed)
		}
	}
	if len(a.profiles) != 5 || a.profiles[before] != nil {
		t.Errorf("%d profiles are left, want all but the one: those of other clusters and regions as well", len(a.profiles))
	}
}

func TestProfilesStayWhereInstancesCannotBeLookedAt(t *testing.T) {
	a, now := newAccount(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	k := Profiles{API: a, Cluster: "prod", Region: "us-east-1"}
	if _, err := k.Ensure(t.Context(), nodeclass.Class{UID: "uid-1", Spec: nodeclass.Spec{Role: "node-a"}}); err != nil {
		t.Fatal(err)
	}
	c := NewCollector(k, func() time.Time { return now })
	if _, err := c.Collect(t.Context(), nil, none); err != nil {
		t.Fatal(err)
	}
	now = now.Add(KeepUnused)
	throttled := errors.New("throttled")
	if got, err := c.Collect(t.Context(), nil, func(context.Context) (map[string]bool, error) { return nil, throttled }); !errors.Is(err, throttled) || len(got) > 0 || len(a.profiles) != 1 {
		t.Errorf("removed %v, %v, %d are left; want the error and the profile", got, err, len(a.profiles))
	}
	if got, err := c.Collect(t.Context(), nil, none); err != nil || len(got) != 1 || len(a.profiles) != 0 {
		t.Errorf("removed %v, %v; want it once machines can be looked at", got, err)
	}
}

// An endpoint that does not go by the path lists profiles that others made. None of them is removed.
func TestProfilesOfOthersStayWhereIAMListsAll(t *testing.T) {
	a := newAccount()
	a.listsAll = true
	mine, other := Profiles{API: a, Cluster: "prod", Region: "us-east-1"}, Profiles{API: a, Cluster: "prod-2", Region: "us-east-1"}
	for _, k := range []Profiles{mine, other} {
		if _, err := k.Ensure(t.Context(), class("node-a")); err != nil {
			t.Fatal(err)
		}
	}
	if err := mine.Delete(t.Context(), class("node-a").UID); err != nil {
		t.Fatal(err)
	}
	if len(a.profiles) != 1 || a.profiles[other.Name(class("node-a"))] == nil {
		t.Errorf("%d profiles are left, want that of the other cluster", len(a.profiles))
	}
}
