package demo

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/daemok/daemok/examples"
	"github.com/daemok/daemok/ui/text"
)

// story goes through the steps in order, as the watches show them.
type story struct {
	user      *user
	sightings <-chan sighting
	world     *world
	out       io.Writer
	now       func() time.Time
	logs      string // folder of the lab's logs
	pods      int
	timeScale float64
}

// step is one thing that must come.
type step struct {
	name    string
	limit   time.Duration
	reached func(*world) bool
	instead func(*world) string // what is seen when it does not come
	log     string              // the component whose log says more
}

// act is steps that follow from one request, and what is shown of them.
type act struct {
	steps []step
	waits func(w *world, start time.Time, took map[string]time.Duration, now time.Time) []wait // nil: no chart
	least time.Duration                                                                        // scale of the chart while it grows
	say   func(w *world) []string                                                              // sentences at the end
}

// StepError says which step did not come, what was seen instead and which
// log to read.
type StepError struct {
	Step     string
	Limit    time.Duration
	Instead  string
	Warnings []string // newest events, oldest first
	Log      string
}

func (e *StepError) Error() string {
	text := fmt.Sprintf("demo: step %q did not come within %v\n  seen instead: %s", e.Step, e.Limit, e.Instead)
	for _, warning := range e.Warnings {
		text += "\n  warning event: " + warning
	}
	return text + "\n  read: " + e.Log
}

// report sets up what a user would, scales up and down, and shows what happens. Its last
// line gives the times.
func (s *story) report(ctx context.Context, clusterName string) error {
	for _, name := range []string{"v1/ec2nodeclass.yaml", "v1/nodepool.yaml", "v1/inflate.yaml"} {
		manifest, err := examples.Manifest(name, clusterName)
		if err != nil {
			return err
		}
		if err := s.user.apply(ctx, manifest); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "demo: applied examples/%s\n", name)
	}
	if _, err := s.follow(ctx, s.now(), settingUp()); err != nil {
		return err
	}
	up, err := s.scaleTo(ctx, s.pods, goingUp(s.pods, s.timeScale))
	if err != nil {
		return err
	}
	down, err := s.scaleTo(ctx, 0, goingDown(s.timeScale))
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "demo: ok decide=%v launch=%v registered=%v ready=%v running=%v removed=%v\n",
		up["decide"], up["launch"], up["registered"], up["ready"], up["running"], down["removed"])
	return nil
}

// scaleTo scales the deployment and follows the steps; times count from the
// moment the request was acknowledged.
func (s *story) scaleTo(ctx context.Context, replicas int, a act) (map[string]time.Duration, error) {
	if err := s.user.scale(ctx, replicas); err != nil {
		return nil, err
	}
	start := s.now()
	fmt.Fprintf(s.out, "\ndemo: scaled %s to %d; times count from here\n", deployment, replicas)
	return s.follow(ctx, start, a)
}

// follow waits for the steps in order and shows who is waited for. A step's time is when it was first seen to hold.
func (s *story) follow(ctx context.Context, start time.Time, a act) (map[string]time.Duration, error) {
	took := make(map[string]time.Duration, len(a.steps))
	shown := newChart(s.out, a.least)
	draw := func() {
		if a.waits != nil && shown.live() {
			shown.draw(bars(a.waits(s.world, start, took, s.now()), start, s.now()))
		}
	}
	mark(s.world, a.steps, took, max(0, s.now().Sub(start)))
	for _, step := range a.steps {
		if err := s.await(ctx, step, start, a.steps, took, draw); err != nil {
			return nil, err
		}
	}
	if a.waits != nil {
		shown.finish(bars(a.waits(s.world, start, took, s.now()), start, s.now()))
	}
	for _, line := range a.say(s.world) {
		shown.printer.Line(text.Of(line))
	}
	return took, nil
}

// redrawn is how often a growing chart is drawn again.
const redrawn = 500 * time.Millisecond

// await takes sightings in until step was reached or its limit is over.
func (s *story) await(ctx context.Context, want step, start time.Time, steps []step, took map[string]time.Duration, draw func()) error {
	limit, again := time.NewTimer(want.limit), time.NewTicker(redrawn)
	defer limit.Stop()
	defer again.Stop()
	for {
		draw()
		if _, ok := took[want.name]; ok {
			return nil
		}
		select {
		case seen := <-s.sightings:
			s.world.see(seen)
			mark(s.world, steps, took, max(0, seen.at.Sub(start)))
		case <-again.C:
		case <-limit.C:
			return &StepError{Step: want.name, Limit: want.limit, Instead: want.instead(s.world),
				Warnings: s.user.warnings(ctx, 3), Log: filepath.Join(s.logs, want.log+".log")}
		case <-ctx.Done():
			return fmt.Errorf("wait for step %q: %w", want.name, ctx.Err())
		}
	}
}

// mark records the time of every step that holds for the first time. A step counts only
// after those before it: pods do not run before their instance is launched, whatever the
// order in which the watches report.
func mark(w *world, steps []step, took map[string]time.Duration, at time.Duration) {
	for _, step := range steps {
		if _, ok := took[step.name]; ok {
			continue
		}
		if !step.reached(w) {
			return
		}
		took[step.name] = at.Round(time.Millisecond)
	}
}
