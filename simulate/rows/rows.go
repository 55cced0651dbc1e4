// Package rows reads files of comma-separated values whose first line names the columns.
//
// Every error names file, line and column. The package does not know what the columns mean.
package rows

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Row is one line of a file of comma-separated values.
type Row struct {
	path  string
	line  int
	at    map[string]int // columns by name
	cells []string
	err   error // what was wrong first
}

// Read reads a file of comma-separated values whose first line names the columns. Of these some have to be
// there; others do no harm. Of each line take makes what it is for. The first error ends it.
func Read(path string, columns []string, take func(*Row)) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read comma-separated values: %w", err)
	}
	defer file.Close()
	text := bufio.NewReader(file)
	if mark, _ := text.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = text.Discard(len(byteOrderMark)) // which was peeked at
	}
	lines := csv.NewReader(text)
	lines.FieldsPerRecord = -1
	at, err := readHeader(path, lines, columns)
	if err != nil {
		return err
	}
	for {
		cells, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreadable(path, err)
		}
		r := &Row{path: path, at: at, cells: cells}
		r.line, _ = lines.FieldPos(0)
		if r.complete(columns); r.err == nil {
			take(r)
		}
		if r.err != nil {
			return r.err
		}
	}
}

// byteOrderMark is what spreadsheets write before the text.
const byteOrderMark = "\ufeff"

// readHeader finds the columns by the names in the first line.
func readHeader(path string, lines *csv.Reader, columns []string) (map[string]int, error) {
	names, err := lines.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s is empty: its first line has to name the columns %s", path, strings.Join(columns, ", "))
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	at := map[string]int{}
	for _, column := range columns {
		i := slices.IndexFunc(names, func(name string) bool { return strings.TrimSpace(name) == column })
		if i < 0 && len(names) == 1 && strings.Contains(names[0], ";") {
			return nil, fmt.Errorf("%s:1: there is no column %s: separate values by commas, not by semicolons", path, column)
		}
		if i < 0 {
			return nil, fmt.Errorf("%s:1: there is no column %s: the first line has to name %s", path, column, strings.Join(columns, ", "))
		}
		at[column] = i
	}
	return at, nil
}

// unreadable is an error of the CSV reader in the form of all others.
func unreadable(path string, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("%s:%d: character %d: %w: end each quoted value with a quote", path, parse.Line, parse.Column, parse.Err)
	}
	return fmt.Errorf("read %s: %w", path, err)
}

// complete refuses a line that ends before its last column.
func (r *Row) complete(columns []string) {
	for _, column := range columns {
		if r.at[column] >= len(r.cells) {
			r.Wrong(column, "the line ends before it: write a value for each column of the first line")
		}
	}
}

// Line is the number of the line, from 1.
func (r *Row) Line() int { return r.line }

// Err is what was wrong first; nil where nothing was.
func (r *Row) Err() error { return r.err }

// Wrong notes what is wrong with a column, unless something was before.
func (r *Row) Wrong(column, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s:%d: column %s: %s", r.path, r.line, column, fmt.Sprintf(format, args...))
	}
}

// Text is a cell that is not empty.
func (r *Row) Text(column string) string {
	out := strings.TrimSpace(r.cells[r.at[column]])
	if out == "" {
		r.Wrong(column, "it is empty")
	}
	return out
}

// numberMost is more than any amount or second that makes sense, and far less than what would overflow.
const numberMost = 4_000_000_000

// Number is a cell with a whole number, 0 or more.
func (r *Row) Number(column string) int64 {
	text := r.Text(column)
	if r.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		r.Wrong(column, "%q is not a whole number: write digits alone", text)
	case strings.HasPrefix(text, "-"):
		r.Wrong(column, "%s is negative: write 0 or more", text)
	case err != nil || n > numberMost:
		r.Wrong(column, "%s is more than %d", text, int64(numberMost))
	}
	return n
}

// Flag is a cell with 0 or 1.
func (r *Row) Flag(column string) bool {
	n := r.Number(column)
	if n > 1 {
		r.Wrong(column, "want 0 or 1, not %d", n)
	}
	return n == 1
}

// Optional is a cell with a whole number, or none where it is empty.
func (r *Row) Optional(column string, none int64) int64 {
	if strings.TrimSpace(r.cells[r.at[column]]) == "" {
		return none
	}
	return r.Number(column)
}
