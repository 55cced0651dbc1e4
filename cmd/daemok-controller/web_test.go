package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/ui/view"
)

// A pod that does not lead says where to look, and does not report that no controller acts.
func TestPodsOfTheControllerSayWhetherTheyLead(t *testing.T) {
	for name, c := range map[string]struct {
		leads  bool
		leader string
		says   string
	}{
		"a pod that leads":         {true, "daemok-1", ""},
		"a pod that does not lead": {false, "", "open the pages of the pod that holds the lease kube-system/daemok"},
	} {
		in := view.Input{Snapshot: &cluster.Snapshot{Now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}}
		role{"daemok-1", "kube-system/daemok", c.leads}.addTo(&in)
		got := view.Of(in)
		leader := got.Controller.Leader
		if said := strings.Join(got.Troubles, " "); leader != c.leader || !strings.Contains(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%s: got leader %q and troubles %q, want %q and %q", name, leader, said, c.leader, c.says)
		}
		if len(got.Problems) > 0 {
			t.Errorf("%s has problems: %v", name, got.Problems)
		}
	}
}

// Caches go on having what was so when the API server answered last: the pages say since when.
func TestThePagesSayThatTheAPIServerDoesNotAnswer(t *testing.T) {
	var answers error
	c := contact{ask: func(context.Context) error { return answers }}
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	refused := errors.New("connect: connection refused")
	for _, step := range []struct {
		answers error
		doubt   string
		want    string
	}{
		{nil, "", ""},
		{refused, "", "has not answered this pod since 09:00:10 UTC, and what is shown is of then: connect: connection refused."},
		{refused, "", "since 09:00:10 UTC"},
		{nil, "", ""},
		{nil, "the clock is behind", "Ages may be wrong, and no node is disrupted: the clock is behind."},
	} {
		at, answers = at.Add(contactEvery), step.answers
		c.again(t.Context(), func() time.Time { return at })
		if got := strings.Join(c.troubles(step.doubt), " "); !strings.Contains(got, step.want) || step.want == "" && got != "" {
			t.Errorf("at %v: got %q, want %q", at, got, step.want)
		}
	}
}

func TestUsageIsShownForAMinute(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	m := &measured{map[string]quantity.Resources{"a": {CPU: 1}}, at}
	for after, want := range map[time.Duration]int{0: 1, usedFor: 1, usedFor + 1: 0} {
		if got := m.of(at.Add(after)); len(got) != want {
			t.Errorf("after %v: got %v", after, got)
		}
	}
	if got := (*measured)(nil).of(at); got != nil {
		t.Errorf("before the first: got %v", got)
	}
}

// The page Plan of a controller has what it decided last, and what it did last.
func TestThePagesShowTheNewestPlanAndTheNewestThatDidAnything(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	s := func(after time.Duration) *cluster.Snapshot { return &cluster.Snapshot{Now: at.Add(after)} }
	gone := plan.Plan{Withdrawals: []plan.Withdrawal{{Claim: "default-x2x8p", Note: "no pod needs it"}}}
	made := &madePlans{}
	_, err := made.Plan(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the pod that leads makes plans") {
		t.Errorf("without a plan: %v", err)
	}
	for _, step := range []struct {
		s      *cluster.Snapshot
		p      plan.Plan
		title  string
		before string // when the plan was made that is shown below
	}{
		{s(0), plan.Plan{}, "Plan: nothing to do", ""},
		{s(time.Minute), gone, "Plan: -1 NodeClaim withdrawn", ""},
		{s(2 * time.Minute), plan.Plan{}, "Plan: nothing to do", "09:01:00"},
	} {
		made.take(step.s, step.p)
		got, err := made.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before := ""
		for _, b := range got.Blocks {
			if strings.HasPrefix(b.Heading, "The plan before") {
				before = b.Lines[0][0].Text
			}
		}
		below := (before == "") == (step.before == "") && strings.Contains(before, step.before)
		if got.Title != step.title || !below {
			t.Errorf("at %v: got %q and below %q, want %q and %q",
				step.s.Now, got.Title, before, step.title, step.before)
		}
	}
}
