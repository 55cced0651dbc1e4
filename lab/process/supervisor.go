package process

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	backoffMin  = 200 * time.Millisecond
	backoffMax  = 10 * time.Second
	steadyAfter = 30 * time.Second // a run of this length resets the back-off
)

// ErrStopped is what a request to a keeper returns when it has stopped.
var ErrStopped = errors.New("stopped")

// Exit reports a run that ended without being asked to, or of a start after the first that failed: no
// Started came before that one.
type Exit struct {
	Name    string
	Err     error         // how it ended, nil for exit code 0; or why it could not be started
	RanFor  time.Duration // since it was started
	Retry   time.Duration // until it is started again
	LogFile string
}

// Supervisor keeps one program running until it is stopped: a run that ends by
// itself is started again after a pause that grows while runs are short.
type Supervisor struct {
	program  Program
	onExit   func(Exit)
	requests chan request
	done     chan struct{}
	pid      atomic.Int64 // of the child; 0 without one

	life  context.Context // ends when the program is to end for good
	stop  context.CancelFunc
	power context.Context // ends when it is to end without a grace period
	cut   context.CancelFunc

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
func Keep(program Program, onExit func(Exit)) (*Supervisor, error) {
	k := &Supervisor{
		program: program, onExit: onExit, pause: backoffMin,
		requests: make(chan request), done: make(chan struct{}),
	}
	k.power, k.cut = context.WithCancel(context.Background())
	k.life, k.stop = context.WithCancel(k.power)
	first := make(chan error)
	go k.run(first)
	if err := <-first; err != nil {
		k.cut()
		return nil, err
	}
	return k, nil
}

// Name is the program's name.
func (k *Supervisor) Name() string { return k.program.Name }

// PID is the number of the running process, or 0 between two runs and after
// Stop.
func (k *Supervisor) PID() int { return int(k.pid.Load()) }

// Restart stops the program as Stop does and starts it again at once. Where the start fails it returns
// why, and the program is started again later, as after an end of its own.
func (k *Supervisor) Restart() error {
	return k.ask(func() error {
		if k.child != nil {
			err := k.end()
			if k.program.Stopped != nil {
				k.program.Stopped(err)
			}
		}
		if k.life.Err() != nil {
			return k.stopped()
		}
		err := k.begin()
		if err != nil {
			k.ended(err)
		}
		return err
	})
}

// Stop ends the program and returns when it is gone. A second Stop does
// nothing.
func (k *Supervisor) Stop() {
	k.stop()
	<-k.done
}

// Kill ends the program without warning, a Stop or Restart under way too, and returns when it is gone.
func (k *Supervisor) Kill() {
	k.cut()
	<-k.done
}

// ask runs do on the goroutine that owns the child.
func (k *Supervisor) ask(do func() error) error {
	r := request{do: do, done: make(chan error, 1)}
	select {
	case k.requests <- r:
		return <-r.done
	case <-k.done:
		return k.stopped()
	}
}

func (k *Supervisor) stopped() error { return fmt.Errorf("%s: %w", k.program.Name, ErrStopped) }

// run owns the child. It stays on one thread for good, because the kernel ties
// the child's life to the thread that started it.
func (k *Supervisor) run(first chan<- error) {
	runtime.LockOSThread()
	defer close(k.done)
	err := k.begin()
	first <- err
	if err != nil {
		return
	}
	for {
		select {
		case <-k.life.Done():
			_ = k.end() // how it ended was asked for
			return
		case r := <-k.requests:
			r.done <- r.do()
		case <-k.exited():
			k.ended(k.without())
		case <-k.retry:
			if err := k.begin(); err != nil {
				k.ended(err)
			}
		}
	}
}

func (k *Supervisor) exited() <-chan struct{} {
	if k.child == nil {
		return nil
	}
	return k.child.exited
}

func (k *Supervisor) begin() error {
	k.startedAt, k.retry = time.Now(), nil
	c, err := start(k.program)
	if err != nil {
		return err
	}
	k.child = c
	k.pid.Store(int64(c.command.Process.Pid))
	if k.program.Started != nil {
		k.program.Started(k)
	}
	return nil
}

// end ends the child, if there is one, and returns how it ended.
func (k *Supervisor) end() error {
	if k.child == nil {
		return nil
	}
	k.child.stop(k.power, k.program.Grace)
	return k.without()
}

// without notes that the child is gone, and returns how it ended.
func (k *Supervisor) without() error {
	err := k.child.err
	k.child = nil
	k.pid.Store(0)
	return err
}

// ended notes an end that nothing asked for, or a start that failed, and sets the next attempt.
func (k *Supervisor) ended(err error) {
	ranFor := time.Since(k.startedAt)
	if ranFor >= steadyAfter {
		k.pause = backoffMin
	}
	k.retry = time.After(k.pause)
	k.onExit(Exit{Name: k.program.Name, Err: err, RanFor: ranFor, Retry: k.pause, LogFile: k.program.Log})
	k.pause = min(2*k.pause, backoffMax)
}
