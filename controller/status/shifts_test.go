package status

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/observe"
)

// region is a cloud with shifts, and what users heard of them.
type region struct {
	shifts []cloud.Shift
	err    error
	heard  []string
	plans  int
	now    time.Time
	log    strings.Builder
}

func (r *region) Shifts(context.Context) ([]cloud.Shift, error) { return r.shifts, r.err }

func (r *region) Publish(e observe.Event) {
	r.heard = append(r.heard, e.Key+" "+e.Reason+" "+e.Message)
}

// watch is a watcher of a cluster whose class web has subnets in two zones.
func (r *region) watch(t *testing.T) *Shifts {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{awsv1.AddToScheme, awsv1alpha1.AddToScheme, v1alpha5.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web"}}
	class.Status.Subnets = []awsv1.Subnet{{ID: "subnet-1", Zone: "us-east-1a", ZoneID: "use1-az1"}, {ID: "subnet-2", Zone: "us-east-1b", ZoneID: "use1-az2"}}
	template := &awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
	template.Status.Subnets = class.Status.Subnets[:1]
	inline, named := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "inline"}}, &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "named"}}
	inline.Status.Provider = &template.Status
	store := fake.NewClientBuilder().WithScheme(s).WithObjects(class, template, inline, named).Build()
	return &Shifts{Reporter: Reporter{Store: store, Events: r, Log: slog.New(slog.NewTextHandler(&r.log, nil)), Now: func() time.Time { return r.now }}, Cloud: r, Again: func() { r.plans++ }}
}

func (r *region) look(t *testing.T, w *Shifts) error {
	t.Helper()
	r.heard = nil
	again, err := w.Round(t.Context())
	if again != shiftsEvery {
		t.Errorf("looks again in %v, want %v", again, shiftsEvery)
	}
	return err
}

func TestUsersHearOfAShiftOnce(t *testing.T) {
	ends := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	first, second := cloud.Shift{ZoneID: "use1-az1", EndsAt: ends}, cloud.Shift{ZoneID: "use1-az2"}
	r := &region{}
	w := r.watch(t)
	for _, step := range []struct {
		what   string
		shifts []cloud.Shift
		heard  []string
	}{
		{"nothing is shifted", nil, nil},
		{"a zone is shifted", []cloud.Shift{first}, []string{"EC2NodeClass/web ZonalShiftActive us-east-1a (use1-az1): work is shifted away from this zone, until 2026-01-01T12:00:00Z or until it is cancelled: instances are launched in others, and those that are there stay"}},
		{"it still is", []cloud.Shift{first}, nil},
		{"another is, by AWS", []cloud.Shift{first, second}, []string{"EC2NodeClass/web ZonalShiftActive us-east-1b (use1-az2): work is shifted away from this zone, until AWS ends the autoshift: instances are launched in others, and those that are there stay"}},
		{"the first is over while the other goes on", []cloud.Shift{second}, []string{"EC2NodeClass/web ZonalShiftCleared us-east-1a (use1-az1): work is no longer shifted away from this zone: instances are launched there again"}},
		{"one is shifted that no class is in", []cloud.Shift{second, {ZoneID: "use1-az6"}}, nil},
	} {
		r.shifts = step.shifts
		if err := r.look(t, w); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.heard, step.heard) {
			t.Errorf("%s: users hear %q, want %q", step.what, r.heard, step.heard)
		}
	}
	if w.Shifted("use1-az1") || !w.Shifted("use1-az2") || r.plans != 4 {
		t.Errorf("shifted are %v, after %d new plans; want the second zone, and a plan for each of four changes", w.shifts, r.plans)
	}
}

// A class that is made while a zone is shifted away from, or whose subnets are found then, has users who hear of it too.
func TestUsersOfALaterClassHearOfAShift(t *testing.T) {
	r := &region{shifts: []cloud.Shift{{ZoneID: "use1-az1"}}}
	w := r.watch(t)
	hears := func(when string, want ...string) {
		t.Helper()
		if err := r.look(t, w); err != nil {
			t.Fatal(err)
		}
		for i, said := range r.heard {
			r.heard[i], _, _ = strings.Cut(said, " us-")
		}
		if !slices.Equal(r.heard, want) {
			t.Errorf("%s users hear %q, want %q", when, r.heard, want)
		}
	}
	hears("at first", "EC2NodeClass/web ZonalShiftActive")
	store := w.Store
	later := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "later", UID: "later"}}
	if err := store.Create(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	hears("before its subnets are found")
	later.Status.Subnets = []awsv1.Subnet{{ID: "subnet-1", Zone: "us-east-1a", ZoneID: "use1-az1"}}
	if err := store.Update(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	hears("once they are", "EC2NodeClass/later ZonalShiftActive")
	hears("after that")
	r.shifts = nil
	hears("when it is over", "EC2NodeClass/later ZonalShiftCleared", "EC2NodeClass/web ZonalShiftCleared")
}

func TestAShiftGoesOnWhileAWSDoesNotAnswer(t *testing.T) {
	r := &region{shifts: []cloud.Shift{{ZoneID: "use1-az1"}}}
	w := r.watch(t)
	if err := r.look(t, w); err != nil {
		t.Fatal(err)
	}
	r.shifts, r.err = nil, errors.New("connection reset")
	if err := r.look(t, w); err == nil || !w.Shifted("use1-az1") || len(r.heard) > 0 {
		t.Errorf("Round = %v, shifted %v, users hear %v; want the error, and the shift to go on", err, w.shifts, r.heard)
	}
}

// A shift is over when it was to end, whether or not the cloud can be asked then, and when
// zonal shift is turned off for the cluster. Without the right to ask it goes on.
func TestAShiftEndsWhileAWSDoesNotAnswer(t *testing.T) {
	ends := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	reset := errors.New("connection reset")
	denied := &cloud.RefusedError{Reason: "Unauthorized", Cause: "it may not be asked"}
	off := &cloud.RefusedError{Reason: cloud.ShiftsNotRegistered, Cause: "cluster c is not registered"}
	tests := map[string]struct {
		endsAt time.Time
		err    error
		at     time.Time
		on     bool
	}{
		"before its end":                {ends, reset, ends.Add(-time.Second), true},
		"at its end":                    {ends, reset, ends, false},
		"at its end, without a right":   {ends, denied, ends, false},
		"before, without a right":       {ends, denied, ends.Add(-time.Second), true},
		"one that AWS ends":             {time.Time{}, reset, ends.AddDate(1, 0, 0), true},
		"one that AWS ends, turned off": {time.Time{}, off, ends, false},
		"turned off before its end":     {ends, off, ends.Add(-time.Hour), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &region{shifts: []cloud.Shift{{ZoneID: "use1-az1", EndsAt: tt.endsAt}}}
			w := r.watch(t)
			if err := r.look(t, w); err != nil {
				t.Fatal(err)
			}
			r.shifts, r.err, r.now, r.plans = nil, tt.err, tt.at, 0
			_ = r.look(t, w)
			reported := slices.ContainsFunc(r.heard, func(s string) bool { return strings.HasPrefix(s, "EC2NodeClass/web ZonalShiftCleared ") })
			if w.Shifted("use1-az1") != tt.on || reported == tt.on || (r.plans > 0) == tt.on {
				t.Errorf("shifted: %v, told that it is over: %v, %d new plans; want it to go on: %v", w.Shifted("use1-az1"), reported, r.plans, tt.on)
			}
		})
	}
}

func TestThatShiftsCannotBeFollowedIsSaidOnce(t *testing.T) {
	r := &region{err: &cloud.RefusedError{Reason: cloud.ShiftsNotRegistered, Cause: "cluster c is not registered"}}
	w := r.watch(t)
	for range 3 {
		if err := r.look(t, w); err != nil {
			t.Fatal(err)
		}
	}
	if said := strings.Count(r.log.String(), "cluster c is not registered"); said != 1 {
		t.Errorf("said %d times: %s", said, r.log.String())
	}
}

// Users of templates, and of settings inline, hear of it too where these are served.
func TestUsersOfTheOlderGenerationHearOfAShift(t *testing.T) {
	r := &region{shifts: []cloud.Shift{{ZoneID: "use1-az1"}}}
	w := r.watch(t)
	w.Older = true
	if err := r.look(t, w); err != nil {
		t.Fatal(err)
	}
	var about []string
	for _, text := range r.heard {
		key, _, _ := strings.Cut(text, " ")
		about = append(about, key)
	}
	if want := []string{"EC2NodeClass/web", "AWSNodeTemplate/old", "Provisioner/inline"}; !slices.Equal(about, want) {
		t.Errorf("users of %v hear of it, want those of %v", about, want)
	}
}
