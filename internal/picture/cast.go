package picture

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Cast is a recording of a terminal, as asciinema's second format has it.
type Cast struct {
	Title         string
	Width, Height int // columns and lines
	Events        []Event
}

// Event is output of the program.
type Event struct {
	At   time.Duration // since the beginning
	Text string        // with control sequences
}

type header struct {
	Version int    `json:"version"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Title   string `json:"title,omitempty"`
}

// ReadCast reads a recording. The error names the line that is none.
func ReadCast(in io.Reader) (*Cast, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return nil, errors.Join(errors.New("the recording is empty"), lines.Err())
	}
	var h header
	if err := json.Unmarshal(lines.Bytes(), &h); err != nil || h.Version != 2 || h.Width < 1 || h.Height < 1 {
		return nil, fmt.Errorf("line 1: want version 2, width and height of a recording (%w)", errors.Join(err))
	}
	c := &Cast{Title: h.Title, Width: h.Width, Height: h.Height}
	for at := 2; lines.Scan(); at++ {
		var event []any
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil || len(event) != 3 {
			return nil, fmt.Errorf("line %d is no event", at)
		}
		seconds, isTime := event[0].(float64)
		text, isText := event[2].(string)
		if !isTime || !isText {
			return nil, fmt.Errorf("line %d has no time or no text", at)
		}
		if event[1] == "o" {
			c.Events = append(c.Events, Event{time.Duration(seconds * float64(time.Second)), text})
		}
	}
	return c, lines.Err()
}

// Write writes the recording.
func (c *Cast) Write(out io.Writer) error {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(header{2, c.Width, c.Height, c.Title}); err != nil {
		return err
	}
	for _, e := range c.Events {
		if err := lines.Encode([]any{json.Number(strconv.FormatFloat(e.At.Seconds(), 'f', 3, 64)), "o", e.Text}); err != nil {
			return err
		}
	}
	return nil
}

// Typescript makes a recording of what script(1) of util-linux wrote: the output, and the delay in seconds and the number
// of bytes of each piece of it. A first line about script itself, and its last, are left out.
func Typescript(output, timing string, c Cast) (*Cast, error) {
	_, output, _ = strings.Cut(output, "\n") // "Script started on ..."
	at, rest := time.Duration(0), output
	for i, line := range strings.Split(strings.TrimSpace(timing), "\n") {
		var delay float64
		var bytes int
		if _, err := fmt.Sscanf(line, "%f %d", &delay, &bytes); err != nil || bytes < 0 || bytes > len(rest) {
			return nil, fmt.Errorf("timing, line %d: %q is no delay and number of bytes of the output", i+1, line)
		}
		at += time.Duration(delay * float64(time.Second))
		c.Events = append(c.Events, Event{at, rest[:bytes]})
		rest = rest[bytes:]
	}
	return &c, nil
}
