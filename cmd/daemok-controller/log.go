package main

import (
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
