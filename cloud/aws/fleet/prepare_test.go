package fleet

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"
)

// What a launch needs is there before it, and nothing is launched for that.
func TestPreparingLeavesTheFleetCallAlone(t *testing.T) {
	a := newAccount(delivers(1))
	b := launcher(a)
	hint := request(t, func(r *Request) { r.Launch.Token, r.Launch.Batch, r.Launch.Count = "", "", 0 })
	for range 2 {
		if err := b.Prepare(t.Context(), hint); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.fleets) > 0 || len(a.created) != 3 {
		t.Fatalf("preparing made %d fleets and %d calls for templates, want three templates alone", len(a.fleets), len(a.created))
	}
	if _, err := b.Launch(t.Context(), request(t, nil)); err != nil {
		t.Fatal(err)
	}
	if len(a.created) != 3 || len(a.fleets) != 1 {
		t.Errorf("the launch made %d templates and %d fleet calls, want none and one", len(a.created)-3, len(a.fleets))
	}
}

// Several who need a template make one call.
func TestNoTemplateIsMadeTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount(delivers(1))
		a.hold = make(chan struct{})
		b := launcher(a)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if err := b.Prepare(t.Context(), request(t, nil)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(a.hold)
		all.Wait()
		slices.Sort(a.created)
		if len(slices.Compact(slices.Clone(a.created))) != 3 || len(a.created) != 3 {
			t.Errorf("templates asked for: %v; want each of three once", a.created)
		}
	})
}

// A template that EC2 refuses is refused for all who wait for it, and tried
// again by whoever comes later.
func TestARefusedTemplateIsReportedToAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount(delivers(1))
		a.hold, a.refuse = make(chan struct{}), &smithy.GenericAPIError{Code: "UnauthorizedOperation"}
		b := launcher(a)
		errs := make(chan error, 2)
		for range 2 {
			go func() { errs <- b.Templates.ensure(t.Context(), template{name: "x"}) }()
		}
		synctest.Wait()
		close(a.hold)
		if first, second := <-errs, <-errs; first == nil || second == nil || len(a.created) != 1 {
			t.Errorf("ensure = %v and %v after %d calls, want both refused by one", first, second, len(a.created))
		}
		a.refuse = nil
		if err := b.Templates.ensure(t.Context(), template{name: "x"}); err != nil {
			t.Errorf("ensure later = %v", err)
		}
	})
}

// Whoever makes a template may be told to stop; others who wait for it go on.
func TestAMakerThatGivesUpLeavesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount(delivers(1))
		templates := NewTemplates(slow{a}, "prod", time.Now)
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() {
			if err := templates.ensure(hurried, template{name: "x"}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ensure of who gave up = %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if err := templates.ensure(t.Context(), template{name: "x"}); err != nil {
				t.Errorf("ensure of who waited = %v", err)
			}
		})
		all.Wait()
	})
}

// slow is an EC2 that takes two seconds to make a template.
type slow struct{ *account }

func (s slow) CreateLaunchTemplate(ctx context.Context, in *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(2 * time.Second):
		return s.account.CreateLaunchTemplate(ctx, in)
	}
}

// EC2 sees most templates within a second: the call is repeated soon, and more
// rarely when that did not help.
func TestCallsForUnseenTemplatesComeSoon(t *testing.T) {
	a := newAccount(refuses("InvalidLaunchTemplateName.NotFoundException"))
	b := launcher(a)
	var pauses []time.Duration
	pause := b.Pause
	b.Pause = func(ctx context.Context, d time.Duration) error {
		pauses = append(pauses, d)
		return pause(ctx, d)
	}
	if _, err := b.Launch(t.Context(), request(t, nil)); err == nil {
		t.Fatal("a template that is never seen brought machines")
	}
	if slices.Max(pauses[:20]) > 100*time.Millisecond || len(pauses) > 40 || b.Now().Sub(start) < 6*time.Second {
		t.Errorf("%d pauses %v over %v", len(pauses), pauses, b.Now().Sub(start))
	}
}
