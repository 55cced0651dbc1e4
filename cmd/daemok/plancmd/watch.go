package plancmd

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/ui/text"
)

// follow reads at intervals and prints the plan when it is another, until the command is interrupted. What cannot be
// read is an error at first; later it is reported once, and read again.
func (f *flags) follow(cmd *cobra.Command, in input) error {
	var last *answer
	trouble := ""
	for {
		a, err := in.answer(cmd.Context())
		switch {
		case cmd.Context().Err() != nil:
			return nil //nolint:nilerr // its user has ended it
		case err != nil && last == nil:
			return err
		case err != nil:
			if err.Error() != trouble {
				fmt.Fprintf(cmd.ErrOrStderr(), "%v; reading again every %s\n", err, f.every)
			}
			trouble = err.Error()
		case a.differs(last) || trouble != "":
			if err := f.again(cmd.OutOrStdout(), a, last == nil); err != nil {
				return err
			}
			last, trouble = a, ""
		}
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(f.every):
		}
	}
}

// again prints a plan after others: on a cleared terminal, or below a line that says when it was made.
func (f *flags) again(out io.Writer, a *answer, first bool) error {
	if p := text.New(out); f.form.ForPeople() {
		if !first || p.Terminal() {
			p.Again()
		}
		p.Line(text.Say(text.Faint, "at %s", a.Snapshot.Now.UTC().Format(time.RFC3339)))
		if p.Err() != nil {
			return p.Err()
		}
	}
	return f.form.Print(out, a.printed(f))
}
