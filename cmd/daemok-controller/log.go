package main

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/daemok/daemok/internal/version"
)

// newLogger writes JSON lines with the keys that Karpenter's log parsers know:
// level, time, message, commit.
func newLogger(out io.Writer, level string) *slog.Logger {
	least := slog.LevelInfo
	switch level {
	case "debug":
		least = slog.LevelDebug
	case "error":
		least = slog.LevelError
	}
	handler := slog.NewJSONHandler(out, &slog.HandlerOptions{Level: least, ReplaceAttr: rename})
	return slog.New(handler).With("commit", version.Get().Commit)
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

// calm lowers the errors that libraries log while the program ends as it was
// asked to: calls that were cut short and a lease that was given back are no
// news then.
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
