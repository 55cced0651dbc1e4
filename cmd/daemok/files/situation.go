package files

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/scenario"
)

// The comments around a snapshot in a file: who wrote it, and that it is whole.
const (
	writtenBy = "# written by daemok "
	end       = "# end of the snapshot"
)

// Stamp is the text of a snapshot as it is saved: between comments that say which version wrote it, and that it is
// whole.
func Stamp(text, version string) string { return writtenBy + version + "\n" + text + end + "\n" }

// Situation reads a snapshot from a file, or from standard input for "-". Older texts are read; the error of one that
// cannot be read says whether it is cut off, of another version than this one, or no snapshot.
func Situation(stdin io.Reader, file, version string) (*cluster.Snapshot, error) {
	text, name, err := Read(stdin, file)
	if err != nil {
		return nil, fmt.Errorf("read the situation: %w", err)
	}
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("the situation in %s is empty: write one with `daemok snapshot`", name)
	}
	s, err := situation(strings.TrimPrefix(text, "\ufeff"), version)
	if err != nil {
		return nil, fmt.Errorf("read the situation in %s: %w", name, err)
	}
	return s, nil
}

func situation(text, version string) (*cluster.Snapshot, error) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil, errors.New("it is no text in UTF-8: `daemok snapshot` writes one")
	}
	by, stamped := "", false
	whole, has := false, false // has: a line of a snapshot
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		if writer, is := strings.CutPrefix(line, writtenBy); is {
			by, stamped = strings.TrimSpace(writer), true
		}
		whole = whole || strings.TrimSpace(line) == end
		has = has || strings.HasPrefix(line, "snapshot ")
	}
	if stamped && !whole {
		return nil, fmt.Errorf("it is cut off after line %d: its last line is to be %q; write it again with `daemok snapshot`",
			len(lines), end)
	}
	s, err := scenario.Parse(text)
	switch {
	case err == nil:
		return s, nil
	case !has:
		return nil, fmt.Errorf("%w: this is no snapshot, `daemok snapshot` writes one", err)
	case stamped && by != version:
		return nil, fmt.Errorf("%w: it is written by daemok %s, and this is %s: read it with that version, or write it again with this one",
			err, by, version)
	}
	return nil, err
}
