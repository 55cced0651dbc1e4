package simulate

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// row is one line of a file of comma-separated values.
type row struct {
	path  string
	line  int
	at    map[string]int // columns by name
	cells []string
	err   error // what was wrong first
}

// readRows reads a file of comma-separated values whose first line names the columns. Of these some have to be
// there; others do no harm. The first error ends it and names file, line and column.
func readRows(path string, columns []string, take func(*row)) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read workload: %w", err)
	}
	defer file.Close()
	lines := csv.NewReader(file)
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
		r := &row{path: path, at: at, cells: cells}
		r.line, _ = lines.FieldPos(0)
		if r.complete(columns); r.err == nil {
			take(r)
		}
		if r.err != nil {
			return r.err
		}
	}
}

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
		return fmt.Errorf("%s:%d: %w", path, parse.Line, parse.Err)
	}
	return fmt.Errorf("read %s: %w", path, err)
}

// complete refuses a line that ends before its last column.
func (r *row) complete(columns []string) {
	for _, column := range columns {
		if r.at[column] >= len(r.cells) {
			r.wrong(column, "the line has only %d columns", len(r.cells))
		}
	}
}

// wrong notes what is wrong with a column, unless something was before.
func (r *row) wrong(column, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s:%d: column %s: %s", r.path, r.line, column, fmt.Sprintf(format, args...))
	}
}

// text is a cell that is not empty.
func (r *row) text(column string) string {
	out := strings.TrimSpace(r.cells[r.at[column]])
	if out == "" {
		r.wrong(column, "it is empty")
	}
	return out
}

// numberMost is more than any amount or second that makes sense, and far less than what would overflow.
const numberMost = 4_000_000_000

// number is a cell with a whole number, 0 or more.
func (r *row) number(column string) int64 {
	text := r.text(column)
	if r.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		r.wrong(column, "%q is not a whole number", text)
	case strings.HasPrefix(text, "-"):
		r.wrong(column, "%s is negative", text)
	case err != nil || n > numberMost:
		r.wrong(column, "%s is more than %d", text, int64(numberMost))
	}
	return n
}

// flag is a cell with 0 or 1.
func (r *row) flag(column string) bool {
	n := r.number(column)
	if n > 1 {
		r.wrong(column, "want 0 or 1, not %d", n)
	}
	return n == 1
}

// optional is a cell with a whole number, or none where it is empty.
func (r *row) optional(column string, none int64) int64 {
	if strings.TrimSpace(r.cells[r.at[column]]) == "" {
		return none
	}
	return r.number(column)
}
