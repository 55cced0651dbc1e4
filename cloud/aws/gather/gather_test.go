package gather_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/cloud/aws/gather"
)

// calls is a fake call that receives ids and answers each with itself.
type calls struct {
	mu   sync.Mutex
	made [][]string
	took time.Duration // of every call
}

var errBad = errors.New("a bad one")

func (c *calls) do(ctx context.Context, ids []string) map[string]gather.Answer[string] {
	_ = pause(ctx, c.took)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, ids)
	answers := map[string]gather.Answer[string]{}
	for _, id := range ids {
		if answers[id] = (gather.Answer[string]{Value: id}); id == "bad" {
			answers[id] = gather.Answer[string]{Err: errBad}
		}
	}
	return answers
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func joined(c *calls) *gather.Calls[string] {
	return &gather.Calls[string]{Do: c.do, For: 100 * time.Millisecond, Max: 200, Pause: pause}
}

func TestCallersOfOneMomentShareACall(t *testing.T) {
	tests := map[string]struct {
		callers int
		want    []int // IDs in each call
		waited  time.Duration
	}{
		"one waits for others that do not come": {1, []int{1}, 100 * time.Millisecond},
		"thirty share one":                      {30, []int{30}, 100 * time.Millisecond},
		"enough do not wait":                    {200, []int{200}, 0},
		"a thousand share five":                 {1000, []int{200, 200, 200, 200, 200}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, began := &calls{}, time.Now()
				g := joined(c)
				var all sync.WaitGroup
				for i := range tt.callers {
					id := fmt.Sprintf("i-%d", i)
					all.Go(func() {
						if got, err := g.Ask(t.Context(), id); err != nil || got[id].Value != id {
							t.Errorf("Ask(%s) = %v, %v", id, got[id], err)
						}
					})
				}
				all.Wait()
				var sizes []int
				for _, ids := range c.made {
					sizes = append(sizes, len(ids))
				}
				if !slices.Equal(sizes, tt.want) || time.Since(began) != tt.waited {
					t.Errorf("calls of %v after %v, want %v after %v", sizes, time.Since(began), tt.want, tt.waited)
				}
			})
		})
	}
}

func TestABadOneDoesNotFailTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := joined(&calls{})
		got, err := g.Ask(t.Context(), "good", "bad", "good")
		want := map[string]gather.Answer[string]{"good": {Value: "good"}, "bad": {Err: errBad}}
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("Ask = %v, %v; want %v", got, err, want)
		}
	})
}

// TestACallerThatGivesUpCancelsNoOther: the caller that makes the call for another
// ends before the call, or in its middle; the other is answered all the same.
func TestACallerThatGivesUpCancelsNoOther(t *testing.T) {
	for name, after := range map[string]time.Duration{
		"while waiting":  50 * time.Millisecond,
		"while it calls": 150 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := joined(&calls{took: time.Second})
				brief, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				var both sync.WaitGroup
				both.Go(func() {
					if _, err := g.Ask(brief, "first"); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("who gave up got %v", err)
					}
				})
				synctest.Wait()
				both.Go(func() {
					if got, err := g.Ask(t.Context(), "second"); err != nil || got["second"].Value != "second" {
						t.Errorf("the other got %v, %v", got["second"], err)
					}
				})
				both.Wait()
			})
		})
	}
}

// TestAFollowerMayGiveUp: it returns at its own end, and the call goes on.
func TestAFollowerMayGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := joined(&calls{took: time.Second})
		var both sync.WaitGroup
		both.Go(func() {
			if got, err := g.Ask(t.Context(), "first"); err != nil || got["first"].Value != "first" {
				t.Errorf("who made the call got %v, %v", got["first"], err)
			}
		})
		synctest.Wait()
		brief, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, err := g.Ask(brief, "second"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Millisecond {
			t.Errorf("the follower got %v after %v", err, time.Since(began))
		}
		both.Wait()
	})
}
