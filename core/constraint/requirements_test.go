package constraint_test

import (
	"testing"

	"github.com/daemok/daemok/core/constraint"
)

func requirement(key string, op constraint.Operator, values ...string) constraint.Requirement {
	set, err := constraint.NewSet(op, values...)
	if err != nil {
		panic(err)
	}
	return constraint.Requirement{Key: key, Set: set}
}

func TestRequirementsAllow(t *testing.T) {
	labels := constraint.NewLabels(map[string]string{"zone": "a", "cpu": "4"})
	tests := map[string]struct {
		requirements constraint.Requirements
		failed       string
	}{
		"nothing asks for nothing":          {nil, ""},
		"all that is asked for is there":    {constraint.NewRequirements(requirement("zone", constraint.In, "a"), requirement("cpu", constraint.Gt, "3")), ""},
		"a wrong value is named":            {constraint.NewRequirements(requirement("zone", constraint.In, "b")), "zone"},
		"a missing label is named":          {constraint.NewRequirements(requirement("arch", constraint.Exists)), "arch"},
		"a missing label may be unwanted":   {constraint.NewRequirements(requirement("arch", constraint.NotIn, "arm64")), ""},
		"a label that must not be is named": {constraint.NewRequirements(requirement("zone", constraint.DoesNotExist)), "zone"},
		"the first in order is named":       {constraint.NewRequirements(requirement("zone", constraint.In, "b"), requirement("cpu", constraint.Lt, "3")), "cpu"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			failed, ok := tt.requirements.Allow(labels)
			if failed != tt.failed || ok != (tt.failed == "") {
				t.Errorf("%s allows %v: %q, %v; want %q", tt.requirements, labels, failed, ok, tt.failed)
			}
		})
	}
}

func TestRequirementsOfOneKeyAreJoined(t *testing.T) {
	few := requirement("zone", constraint.In, "a", "b")
	few.MinValues = 1
	more := requirement("zone", constraint.NotIn, "b")
	more.MinValues = 2
	got := constraint.NewRequirements(few, requirement("arch", constraint.Exists), more)
	if want := "arch exists; zone in a minvalues 2"; got.String() != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := few.Set.String(); s != "in a,b" {
		t.Errorf("joining changed what was joined: %s", s)
	}
}

// SC-47: the order in which requirements were given does not show.
func TestRequirementsArePrintedInOneOrder(t *testing.T) {
	zone, arch, size := requirement("zone", constraint.In, "b", "a"), requirement("arch", constraint.Exists), requirement("size", constraint.NotIn, "s")
	want := "arch exists; size notin s; zone in a,b"
	for _, list := range [][]constraint.Requirement{{zone, arch, size}, {size, zone, arch}, {arch, size, zone}} {
		if got := constraint.NewRequirements(list...).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestConflictNamesTheKey(t *testing.T) {
	a := constraint.NewRequirements(requirement("team", constraint.In, "x"), requirement("zone", constraint.In, "a"))
	b := constraint.NewRequirements(requirement("zone", constraint.In, "b"))
	if key, conflict := a.Conflict(b); key != "zone" || !conflict {
		t.Errorf("Conflict = %q, %v", key, conflict)
	}
	if key, conflict := a.Conflict(constraint.NewRequirements(requirement("zone", constraint.NotIn, "b"))); conflict {
		t.Errorf("Conflict = %q", key)
	}
}

func TestLabelsAreNeverWritten(t *testing.T) {
	a := constraint.NewLabels(map[string]string{"k": "old", "z": "1"})
	b := a.With("k", "new").With("a", "first").Merge(constraint.Labels{{Key: "z", Value: "2"}})
	if v, _ := a.Get("k"); v != "old" || len(a) != 2 {
		t.Errorf("the original changed: %v", a)
	}
	if got := b.Map(); len(got) != 3 || got["k"] != "new" || got["a"] != "first" || got["z"] != "2" {
		t.Errorf("got %v", b)
	}
}

func TestTolerates(t *testing.T) {
	taint := constraint.Taint{Key: "dedicated", Value: "db", Effect: constraint.NoSchedule}
	tests := map[string]struct {
		toleration constraint.Toleration
		want       bool
	}{
		"an equal one":                     {constraint.Toleration{Key: "dedicated", Value: "db", Effect: constraint.NoSchedule}, true},
		"any effect":                       {constraint.Toleration{Key: "dedicated", Value: "db"}, true},
		"any value":                        {constraint.Toleration{Key: "dedicated", Exists: true}, true},
		"everything":                       {constraint.Toleration{Exists: true}, true},
		"another value":                    {constraint.Toleration{Key: "dedicated", Value: "web"}, false},
		"another effect":                   {constraint.Toleration{Key: "dedicated", Exists: true, Effect: constraint.NoExecute}, false},
		"another key":                      {constraint.Toleration{Key: "other", Exists: true}, false},
		"no key without Exists is nothing": {constraint.Toleration{Value: "db"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.toleration.Tolerates(taint); got != tt.want {
				t.Errorf("%s tolerates %s: %v, want %v", tt.toleration, taint, got, tt.want)
			}
		})
	}
}

func TestUntoleratedSkipsWhatOnlyPrefers(t *testing.T) {
	soft := constraint.Taint{Key: "soft", Effect: constraint.PreferNoSchedule}
	hard := constraint.Taint{Key: "hard", Effect: constraint.NoExecute}
	if got, found := constraint.Untolerated([]constraint.Taint{soft, hard}, nil); !found || got != hard {
		t.Errorf("got %v, %v; want %v", got, found, hard)
	}
	if got, found := constraint.Untolerated([]constraint.Taint{soft}, nil); found {
		t.Errorf("got %v", got)
	}
}
