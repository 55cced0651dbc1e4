package interruption

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/test/scraped"
)

// clinic is a cloud that says the same of its instances again and again.
type clinic struct {
	troubles []cloud.Trouble
	err      error
}

func (c *clinic) Troubles(context.Context) ([]cloud.Trouble, error) { return c.troubles, c.err }

func TestWhatFollowsFromStatusChecks(t *testing.T) {
	at := start.Add(time.Hour)
	tests := map[string]struct {
		trouble cloud.Trouble
		rounds  int // a minute apart
		leaves  bool
		drainBy string
		endsAt  string
	}{
		"a check that has failed for two minutes": {cloud.Trouble{Kind: cloud.SystemFails, Since: at.Add(-2 * time.Minute)}, 1, true, "2026-01-01T01:00:00Z", ""},
		"a check that has failed for less":        {cloud.Trouble{Kind: cloud.SystemFails, Since: at.Add(-119 * time.Second)}, 1, false, "", ""},
		"and then for long enough":                {cloud.Trouble{Kind: cloud.InstanceFails, Since: at.Add(-119 * time.Second)}, 2, true, "2026-01-01T01:01:00Z", ""},
		"nobody says since when, at first":        {cloud.Trouble{Kind: cloud.InstanceFails}, 2, false, "", ""},
		"nobody says since when, in the end":      {cloud.Trouble{Kind: cloud.InstanceFails}, 3, true, "2026-01-01T01:02:00Z", ""},
		"a change that is scheduled":              {cloud.Trouble{Kind: cloud.Scheduled, What: "instance-retirement", StartsAt: at.Add(time.Hour)}, 1, true, "", "2026-01-01T02:00:00Z"},
		"SC-472 a capacity block that ends":       {cloud.Trouble{Kind: cloud.CapacityEnds, What: "capacity block cr-1 ends", StartsAt: at.Add(10 * time.Minute)}, 1, true, "", "2026-01-01T01:10:00Z"},
		"a machine of somebody else":              {cloud.Trouble{InstanceID: "i-9", Kind: cloud.SystemFails, Since: start}, 3, false, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d, now := newEvaluator(t), at
			d.claim("one", "i-1")
			d.Now = func() time.Time { return now }
			if tt.trouble.InstanceID == "" {
				tt.trouble.InstanceID = "i-1"
			}
			checker := &Checker{Actor: d.Actor, Checks: &clinic{troubles: []cloud.Trouble{tt.trouble}}}
			for i := range tt.rounds {
				now = at.Add(time.Duration(i) * time.Minute)
				if after, err := checker.Round(context.Background()); err != nil || after != time.Minute {
					t.Fatalf("Round = %v, %v", after, err)
				}
			}
			c := d.one()
			if left := c.DeletionTimestamp != nil; left != tt.leaves || c.Annotations[api.AnnotationTerminationTimestamp] != tt.drainBy || c.Annotations[api.AnnotationEnds] != tt.endsAt {
				t.Errorf("it leaves: %v, drained by %q, ends at %q; want %v, %q, %q", left,
					c.Annotations[api.AnnotationTerminationTimestamp], c.Annotations[api.AnnotationEnds], tt.leaves, tt.drainBy, tt.endsAt)
			}
			reason := "InstanceUnhealthy"
			if tt.trouble.Kind == cloud.CapacityEnds {
				reason = "CapacityReservationInstanceInterrupted"
			}
			if tt.leaves && !slices.Contains(d.events, "NodeClaim/one "+reason) {
				t.Errorf("events %q, want %s", d.events, reason)
			}
		})
	}
}

// By a clock that is in doubt nothing has failed for long enough.
func TestNoInstanceFailsForTooLongByAClockInDoubt(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	d.Doubt = func() string { return "the clock is two hours ahead" }
	checker := &Checker{Actor: d.Actor, Checks: &clinic{troubles: []cloud.Trouble{{InstanceID: "i-1", Kind: cloud.SystemFails, Since: start.Add(-time.Hour)}}}}
	if _, err := checker.Round(t.Context()); err != nil || d.one().DeletionTimestamp != nil {
		t.Errorf("it leaves: %v, %v", d.one().DeletionTimestamp, err)
	}
}

// An instance that fails goes without regard to its pods, and is counted so.
func TestAInstanceThatFailsIsCountedAsForceful(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	checker := &Checker{Actor: d.Actor, Checks: &clinic{troubles: []cloud.Trouble{{InstanceID: "i-1", Kind: cloud.SystemFails, Since: start.Add(-time.Hour)}}}}
	if _, err := checker.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines, err := scraped.Lines(d.metrics, "karpenter_nodeclaims_disrupted_total")
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], "termination_mode=forceful") {
		t.Errorf("counted %q, %v; want it as forceful", lines, err)
	}
}

// An end of the drain that is set already stays.
func TestADrainThatMustEndIsNotHastened(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	c := d.one()
	c.Annotations = map[string]string{api.AnnotationTerminationTimestamp: "2026-01-01T05:00:00Z"}
	if err := d.hand.Update(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	checker := &Checker{Actor: d.Actor, Checks: &clinic{troubles: []cloud.Trouble{{InstanceID: "i-1", Kind: cloud.SystemFails, Since: start.Add(-time.Hour)}}}}
	if _, err := checker.Round(context.Background()); err != nil || d.one().Annotations[api.AnnotationTerminationTimestamp] != "2026-01-01T05:00:00Z" || len(d.leaving()) != 1 {
		t.Errorf("Round: %v; the claim is %+v", err, d.one().ObjectMeta)
	}
}

// noDeletes is an API server that refuses to delete.
type noDeletes struct{ client.Client }

func (noDeletes) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	return errors.New("not now")
}

// A claim that could not be let go keeps the time of its drain: its instance may be well
// again before the next check.
func TestAClaimThatStaysIsNotHastened(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	d.Actor.Store = noDeletes{d.Actor.Store}
	checker := &Checker{Actor: d.Actor, Checks: &clinic{troubles: []cloud.Trouble{{InstanceID: "i-1", Kind: cloud.SystemFails, Since: start.Add(-time.Hour)}}}}
	if _, err := checker.Round(context.Background()); err == nil {
		t.Error("Round: no error, want that of the API server")
	}
	if c := d.one(); c.Annotations[api.AnnotationTerminationTimestamp] != "" {
		t.Errorf("the claim stays, and its drain is to end by %s", c.Annotations[api.AnnotationTerminationTimestamp])
	}
}

// Each is counted once until it is over, and again if it comes back.
func TestInstancesThatFailAreCountedOnce(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	fails := []cloud.Trouble{{InstanceID: "i-1", Kind: cloud.SystemFails, Since: start.Add(-time.Hour)}}
	c := &clinic{}
	checker := &Checker{Actor: d.Actor, Checks: c}
	for _, c.troubles = range [][]cloud.Trouble{fails, fails, nil, fails} {
		if _, err := checker.Round(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := scraped.Lines(d.metrics, "karpenter_interruption_instance_status_unhealthy_total")
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], `category=system_status`) || !strings.HasSuffix(lines[0], " 2") {
		t.Errorf("counted %q, %v; want it twice", lines, err)
	}
}

// Who may not ask says so on every pool, asks again rarely, and goes on when it may.
func TestStatusChecksThatAreDeniedAreAskedForAgain(t *testing.T) {
	d := newEvaluator(t)
	d.heeds("")
	c := &clinic{err: &cloud.RefusedError{Reason: cloud.ChecksDenied, Cause: "it may not"}}
	checker := &Checker{Actor: d.Actor, Checks: c}
	if after, err := checker.Round(context.Background()); err == nil || after != 10*time.Minute || !slices.Contains(d.events, "NodePool/web StatusChecksDenied") {
		t.Errorf("Round = %v, %v, events %q", after, err, d.events)
	}
	c.err = errors.New("the connection broke")
	if after, err := checker.Round(context.Background()); err == nil || after != time.Minute {
		t.Errorf("Round = %v, %v", after, err)
	}
	c.err = nil
	if after, err := checker.Round(context.Background()); err != nil || after != time.Minute {
		t.Errorf("Round = %v, %v", after, err)
	}
}
