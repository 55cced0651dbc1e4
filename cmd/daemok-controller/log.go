package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/daemok/daemok/internal/version"
)

// Forms of log lines.
const (
	encodingJSON    = "json"
	encodingConsole = "console"
)

// newLogger writes lines with the keys that Karpenter's log parsers know: level, time,
// message, commit. For a console each is key=value.
func newLogger(out io.Writer, level, encoding string) *slog.Logger {
	least := slog.LevelInfo
	switch level {
	case "debug":
		least = slog.LevelDebug
	case "error":
		least = slog.LevelError
	}
	options := &slog.HandlerOptions{Level: least, ReplaceAttr: rename}
	if encoding == encodingConsole {
		return slog.New(slog.NewTextHandler(out, options))
	}
	return slog.New(slog.NewJSONHandler(out, options)).With("commit", version.Get().Commit)
}

// openLogs opens what log lines go to, and what the error goes to that ends the process.
// Where it fails both are the usual.
func (o *options) openLogs() (lines, last io.Writer, err error) {
	if lines, err = openEach(o.logPaths); err != nil {
		return os.Stdout, os.Stderr, fmt.Errorf("--log-output-paths (LOG_OUTPUT_PATHS): %w", err)
	}
	if last, err = openEach(o.logErrorPaths); err != nil {
		return os.Stdout, os.Stderr, fmt.Errorf("--log-error-output-paths (LOG_ERROR_OUTPUT_PATHS): %w", err)
	}
	return lines, last, nil
}

// openEach opens what a list names, with commas between: stdout, stderr, and files, which
// are appended to. The error names the one that cannot be opened.
func openEach(list string) (io.Writer, error) {
	var all []io.Writer
	for name := range strings.SplitSeq(list, ",") {
		switch name = strings.TrimSpace(name); name {
		case "":
		case "stdout":
			all = append(all, os.Stdout)
		case "stderr":
			all = append(all, os.Stderr)
		default:
			f, err := os.OpenFile(strings.TrimPrefix(name, "file://"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err != nil {
				return nil, fmt.Errorf("want stdout, stderr or files that can be written, with commas between: %w", err)
			}
			all = append(all, f) // until the process ends
		}
	}
	return io.MultiWriter(all...), nil
}

func rename(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	switch a.Key {
	case slog.MessageKey:
		a.Key = "message"
	case slog.LevelKey:
		a.Value = slog.StringValue(strings.ToUpper(a.Value.String()))
	case slog.TimeKey:
		a.Value = slog.StringValue(a.Value.Time().UTC().Format(time.RFC3339Nano))
	}
	return a
}

// calm lowers the errors that libraries log while the program ends as it was asked to: calls that
// were cut short and a lease that was terminated are no news then.
type calm struct {
	slog.Handler
	ending context.Context
}

func (h calm) Handle(ctx context.Context, r slog.Record) error {
	if h.ending.Err() != nil && r.Level > slog.LevelInfo {
		lowered := slog.NewRecord(r.Time, slog.LevelInfo, r.Message, r.PC)
		r.Attrs(func(a slog.Attr) bool { lowered.AddAttrs(a); return true })
		r = lowered
	}
	return h.Handler.Handle(ctx, r)
}

func (h calm) WithAttrs(attrs []slog.Attr) slog.Handler {
	return calm{h.Handler.WithAttrs(attrs), h.ending}
}

func (h calm) WithGroup(name string) slog.Handler { return calm{h.Handler.WithGroup(name), h.ending} }
