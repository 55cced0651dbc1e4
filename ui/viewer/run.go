package viewer

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/daemok/daemok/ui/view"
)

// Run shows a source's clusters on the terminal until the user quits or the context ends, neither of which is
// an error. In and out are nil for the standard ones. The terminal is as before when it returns, with an
// error after a panic too.
func Run(ctx context.Context, source view.Source, o Options, in io.Reader, out io.Writer) error {
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	if in != nil {
		options = append(options, tea.WithInput(in))
	}
	if out != nil {
		options = append(options, tea.WithOutput(out))
	}
	_, err := tea.NewProgram(New(source, o, time.Now()), options...).Run()
	if ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil //nolint:nilerr // its user has ended it
	}
	return err
}
