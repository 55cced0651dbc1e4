package plancmd

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/ui/text"
)

// follow reads at intervals and prints the plan when it is another, and on a terminal when its width is another, until
// the command is interrupted, which is no error. What cannot be read is an error at first; later it is reported once,
// and read again.
func (f *flags) follow(cmd *cobra.Command, in input) error {
	w := watch{flags: f, out: cmd.OutOrStdout(), errors: cmd.ErrOrStderr()}
	for cmd.Context().Err() == nil {
		a, err := in.answer(cmd.Context())
		switch {
		case cmd.Context().Err() != nil:
			return nil //nolint:nilerr // its user has ended it
		case err != nil && w.last == nil:
			return err
		case err != nil:
			if is := err.Error(); is != w.trouble {
				w.trouble = is
				w.say()
			}
		case a.differs(w.last) || w.trouble != "":
			w.trouble = ""
			if err := w.print(a); err != nil {
				return err
			}
		}
		if err := w.wait(cmd.Context()); err != nil {
			return err
		}
	}
	return nil
}

// watch is what is printed of plans, one after the other.
type watch struct {
	*flags

	out, errors io.Writer
	last        *answer // nil: none is printed
	width       int     // for which it is printed
	trouble     string  // why there is no newer one
}

// say reports why there is no newer plan.
func (w *watch) say() {
	if w.trouble != "" {
		fmt.Fprintf(w.errors, "%s; reading again every %s\n", text.Clean(w.trouble), w.every)
	}
}

// resized is how soon a terminal of another width gets the plan for it.
const resized = time.Second

// wait lets the interval go by. A terminal that is made wider or narrower gets the last plan again.
func (w *watch) wait(ctx context.Context) error {
	over := time.After(w.every)
	look := time.NewTicker(resized)
	defer look.Stop()
	for {
		if w.form.ForPeople() && text.New(w.out).Width() != w.width {
			if err := w.print(w.last); err != nil {
				return err
			}
			w.say()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-over:
			return nil
		case <-look.C:
		}
	}
}

// print prints a plan after others: on a cleared terminal, or below a line that says when it was made.
func (w *watch) print(a *answer) error {
	p := text.New(w.out)
	if w.form.ForPeople() {
		if w.last != nil || p.Terminal() {
			p.Again()
		}
		p.Line(text.Say(text.Faint, "at %s", a.Snapshot.Now.UTC().Format(time.RFC3339)))
		if p.Err() != nil {
			return p.Err()
		}
	}
	w.last, w.width = a, p.Width()
	return w.form.Print(w.out, a.printed(w.flags))
}
