// Package demo runs the main story in a lab and times it: pending pods get nodes, and empty nodes are
// removed. It starts the lab, does what a user would do with the public API, watches what happens, and
// prints it with times.
//
// It promises that a step which does not happen ends the demo with an error that names the step, what
// was seen instead and which log to read, and that nothing but the lab's folder outlives it. It does
// not inspect the product: it knows only what watches and the lab's command line show.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Options says how to run the story.
type Options struct {
	Lab       string  // path of the program daemok-lab
	Command   string  // what the user types for the program daemok, such as bin/daemok
	Dir       string  // folder of the lab; made, and emptied of an earlier demo
	TimeScale float64 // of instance boots and stops; 1 is as slow as in life
	Pods      int     // how many pods of one CPU
	Once      bool    // end after the story and remove the folder; else stay up until ctx ends
	Out, Err  io.Writer
	Now       func() time.Time
}

// Run runs the story. It returns when the story has ended (Once), when ctx is done or when
// a step did not come; the lab is stopped in every case.
func Run(ctx context.Context, o Options) (err error) {
	lab := &lab{program: o.Lab, dir: o.Dir, out: o.Out, err: o.Err}
	if err := lab.claimFolder(ctx); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "demo: time scale %g: instances boot and terminate in %g of the time they take on EC2; nothing else is scaled\n", o.TimeScale, o.TimeScale)
	if err := lab.up(ctx, o.TimeScale); err != nil {
		return errors.Join(err, lab.down())
	}
	defer func() { err = errors.Join(err, lab.finish(err == nil && o.Once)) }()

	ctx, cancel := lab.whileUp(ctx)
	defer cancel()
	if err := report(ctx, o, lab); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			return cause
		}
		return err
	}
	if o.Once {
		return nil
	}
	fmt.Fprint(o.Out, nextThings(lab, o.Command))
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	fmt.Fprintln(o.Out, "\ndemo: stopping")
	return nil
}

// report connects to the lab and goes through the story.
func report(ctx context.Context, o Options, lab *lab) error {
	user, err := newUser(lab.kubeconfig)
	if err != nil {
		return err
	}
	watch, cancel := context.WithCancel(ctx)
	sightings, wait := user.watch(watch, o.Now)
	defer wait()
	defer cancel()
	s := &story{user: user, sightings: sightings, world: newWorld(), out: o.Out, now: o.Now, logs: lab.logs(), pods: o.Pods, timeScale: o.TimeScale}
	return s.report(ctx, lab.clusterName)
}

func nextThings(l *lab, command string) string {
	return fmt.Sprintf(`
The lab stays up; its kubeconfig is %[1]s.
Things to try, in another terminal:
  . %[2]s/lab.env                # kubeconfig and AWS settings for every command below
  %[4]s lab kubectl --dir %[2]s scale deployment inflate --replicas 20
  %[4]s lab kubectl --dir %[2]s get nodepools,nodeclaims,nodes
  %[4]s lab kubectl --dir %[2]s describe nodeclaims
  %[4]s snapshot > situation.txt     # what the controller knows, as text
  %[4]s plan --snapshot situation.txt
  tail -f %[3]s/controller.log
Ctrl-C here stops everything; what is left lies in %[2]s.
`, l.kubeconfig, l.dir, l.logs(), command)
}
