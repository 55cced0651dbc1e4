// Package progress says on a terminal what a command waits for, while it waits.
//
// It promises one line on standard error, from two seconds after the beginning of a step on, that is gone when the
// command prints something else or ends; and nothing at all where standard error is not a terminal, so that scripts and
// logs never have it. It measures nothing and knows no total.
package progress

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/daemok/daemok/ui/text"
)

const (
	after = 2 * time.Second // a step that is done by then is not shown
	every = time.Second     // how often the time on the line changes
)

// Line is what is shown of one command. The zero value, and nil, show nothing.
type Line struct {
	out   io.Writer
	width int

	mu    sync.Mutex
	step  string
	since time.Time
	shown bool
	ended bool
}

// Start shows on out what is waited for, from a while on, until Stop is called. Where out is not a terminal, or one that
// cannot move its cursor (TERM=dumb), it shows nothing.
func Start(ctx context.Context, out io.Writer, step string) *Line {
	f, is := out.(*os.File)
	if !is || !term.IsTerminal(f.Fd()) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	width := text.Columns
	if columns, _, err := term.GetSize(f.Fd()); err == nil && columns > 0 {
		width = columns
	}
	return start(ctx, out, step, width)
}

// start shows the line on a terminal of so many columns.
func start(ctx context.Context, out io.Writer, step string, width int) *Line {
	l := &Line{out: out, width: width, step: step, since: time.Now()}
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, l.Stop)
	go func() {
		defer cancel()
		timer := time.NewTicker(every)
		defer timer.Stop()
		for l.show(time.Now()) {
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return l
}

// Step says that something else is waited for from now on.
func (l *Line) Step(format string, args ...any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	l.step, l.since = fmt.Sprintf(format, args...), time.Now()
}

// Over is a writer to the same terminal, before whose output the line goes.
func (l *Line) Over(out io.Writer) io.Writer {
	if l == nil {
		return out
	}
	return over{l, out}
}

type over struct {
	line *Line
	out  io.Writer
}

func (o over) Write(p []byte) (int, error) {
	o.line.mu.Lock()
	defer o.line.mu.Unlock()
	o.line.clear()
	return o.out.Write(p)
}

// Stop removes the line. Nothing is shown afterwards; it may be called again.
func (l *Line) Stop() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	l.ended = true
}

// show draws the line where it is time to, and reports whether there will be more of it.
func (l *Line) show(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	if waited := now.Sub(l.since); waited >= after {
		line := fmt.Sprintf("%s ... %v", text.Clean(l.step), waited.Truncate(time.Second))
		fmt.Fprint(l.out, "\r"+ansi.EraseLineRight+ansi.Truncate(line, l.width-1, "~"))
		l.shown = true
	}
	return true
}

// clear removes what is drawn.
func (l *Line) clear() {
	if l.shown {
		fmt.Fprint(l.out, "\r"+ansi.EraseLineRight)
	}
	l.shown = false
}
