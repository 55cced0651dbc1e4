package process

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"
)

const (
	backoffMin  = 200 * time.Millisecond
	backoffMax  = 10 * time.Second
	steadyAfter = 30 * time.Second // a run of this length resets the back-off
)

// ErrStopped is what a request to a keeper returns when it has stopped.
var ErrStopped = errors.New("stopped")

// Exit tells of a run that ended without being asked to.
type Exit struct {
	Name    string
	Err     error         // how it ended; nil for exit code 0
	RanFor  time.Duration // since it was started
	Retry   time.Duration // until it is started again
	LogFile string
}

// Keeper keeps one program running until it is stopped: a run that ends by
// itself is started again after a pause that grows while runs are short.
type Keeper struct {
	program  Program
	onExit   func(Exit)
	requests chan request
	done     chan struct{}
	cancel   context.CancelFunc

	// Owned by the goroutine of run.
	child     *child // nil between two runs
	startedAt time.Time
	pause     time.Duration
	retry     <-chan time.Time // fires when the pause is over; nil while a child runs
}

// request is something to do with the child between two events.
type request struct {
	do   func() error
	done chan error
}

// Keep starts the program and keeps it. It returns the error of the first
// start; later trouble goes to onExit, which must not call the keeper.
func Keep(program Program, onExit func(Exit)) (*Keeper, error) {
	ctx, cancel := context.WithCancel(context.Background())
	k := &Keeper{
		program: program, onExit: onExit, cancel: cancel, pause: backoffMin,
		requests: make(chan request), done: make(chan struct{}),
	}
	first := make(chan error)
	go k.run(ctx, first)
	if err := <-first; err != nil {
		cancel()
		return nil, err
	}
	return k, nil
}

// Name is the program's name.
func (k *Keeper) Name() string { return k.program.Name }

// PID is the number of the running process, or 0 between two runs and after
// Stop.
func (k *Keeper) PID() int {
	pid := 0
	err := k.ask(func() error {
		if k.child != nil {
			pid = k.child.command.Process.Pid
		}
		return nil
	})
	if err != nil {
		return 0
	}
	return pid
}

// Restart stops the program as Stop does and starts it again at once.
func (k *Keeper) Restart() error {
	return k.ask(func() error {
		k.end(k.program.Grace)
		return k.begin()
	})
}

// Kill ends the running process without warning. It is started again as after
// any other death.
func (k *Keeper) Kill() error {
	return k.ask(func() error {
		if k.child != nil {
			k.child.signal(syscall.SIGKILL)
		}
		return nil
	})
}

// Stop ends the program and returns when it is gone. A second Stop does
// nothing.
func (k *Keeper) Stop() {
	k.cancel()
	<-k.done
}

// ask runs do on the goroutine that owns the child.
func (k *Keeper) ask(do func() error) error {
	r := request{do: do, done: make(chan error, 1)}
	select {
	case k.requests <- r:
		return <-r.done
	case <-k.done:
		return fmt.Errorf("%s: %w", k.program.Name, ErrStopped)
	}
}

// run owns the child. It stays on one thread for good, because the kernel ties
// the child's life to the thread that started it.
func (k *Keeper) run(ctx context.Context, first chan<- error) {
	runtime.LockOSThread()
	defer close(k.done)
	err := k.begin()
	first <- err
	if err != nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			k.end(k.program.Grace)
			return
		case r := <-k.requests:
			r.done <- r.do()
		case <-k.exited():
			k.ended(k.child.err)
		case <-k.retry:
			if err := k.begin(); err != nil {
				k.ended(err)
			}
		}
	}
}

func (k *Keeper) exited() <-chan struct{} {
	if k.child == nil {
		return nil
	}
	return k.child.exited
}

func (k *Keeper) begin() error {
	c, err := start(k.program)
	if err != nil {
		return err
	}
	k.child, k.startedAt, k.retry = c, time.Now(), nil
	if k.program.Started != nil {
		k.program.Started()
	}
	return nil
}

func (k *Keeper) end(grace time.Duration) {
	if k.child != nil {
		k.child.stop(grace)
		k.child = nil
	}
}

// ended notes a death that nobody asked for and sets the next attempt.
func (k *Keeper) ended(err error) {
	ranFor := time.Since(k.startedAt)
	if ranFor >= steadyAfter {
		k.pause = backoffMin
	}
	k.child, k.retry = nil, time.After(k.pause)
	k.onExit(Exit{Name: k.program.Name, Err: err, RanFor: ranFor, Retry: k.pause, LogFile: k.program.Log})
	k.pause = min(2*k.pause, backoffMax)
}
