package record

import (
	"fmt"
	"io"
	"time"
)

// moment prints a time as people read it, to the second.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// Write prints statements in plain words, one after another: when, what, why,
// and what it was decided from. What still holds is as of a moment.
func Write(out io.Writer, list []Statement, now, asOf time.Time) error {
	for i := range list {
		if err := list[i].write(out, now, asOf); err != nil {
			return err
		}
	}
	return nil
}

func (s *Statement) write(out io.Writer, now, asOf time.Time) error {
	_, err := fmt.Fprintf(out, "%s\n  %s %s\n", s.when(now, asOf), s.About, s.Said)
	if err == nil && s.Why != "" {
		_, err = fmt.Fprintf(out, "  because: %s\n", s.Why)
	}
	for _, m := range s.More {
		if err == nil {
			_, err = fmt.Fprintf(out, "    %s\n", m)
		}
	}
	return err
}

// when says the time of a statement, and how long ago that is.
func (s *Statement) when(now, asOf time.Time) string {
	ago := now.Sub(s.From).Round(time.Second)
	switch {
	case s.Until.IsZero() && now.Sub(asOf) >= time.Second:
		return fmt.Sprintf("since %s (%s), still so %s ago", moment(s.From), ago, now.Sub(asOf).Round(time.Second))
	case s.Until.IsZero():
		return fmt.Sprintf("since %s (%s), still so", moment(s.From), ago)
	case s.Until.Equal(s.From):
		return fmt.Sprintf("%s (%s ago)", moment(s.From), ago)
	}
	return fmt.Sprintf("from %s (%s ago), for %s", moment(s.From), ago, s.Until.Sub(s.From).Round(time.Second))
}
