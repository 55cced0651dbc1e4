package bench

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

// Columns of a recorded cluster that are read, all whole numbers; all others are
// passed over.
const (
	traceCPU    = "cpu_milli"
	traceMemory = "memory_mib"
)

// readTrace reads the first pods of a recorded cluster: a table of comma
// separated values with a line of names, such as those of Alibaba's clusters.
func readTrace(path string, most int) (out []pod, err error) {
	rows, err := readRows(path, most, traceCPU, traceMemory)
	for _, r := range rows {
		out = append(out, pod{CPUMilli: r[0], MemMi: r[1]})
	}
	return out, err
}

func readRows(path string, most int, columns ...string) ([][]int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	defer file.Close()
	rows, err := parseRows(file, most, columns)
	if err != nil {
		return nil, fmt.Errorf("read trace %s: %w", path, err)
	}
	return rows, nil
}

// parseRows reads some columns of the first rows; of all where most is negative.
func parseRows(from io.Reader, most int, columns []string) (out [][]int64, err error) {
	lines := csv.NewReader(from)
	names, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("read the names of the columns: %w", err)
	}
	at := make([]int, len(columns))
	for i, column := range columns {
		if at[i] = slices.Index(names, column); at[i] < 0 {
			return nil, fmt.Errorf("want a column %s", column)
		}
	}
	for most < 0 || len(out) < most {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		row := make([]int64, len(columns))
		for i, column := range columns {
			if row[i], err = strconv.ParseInt(line[at[i]], 10, 64); err != nil {
				return nil, fmt.Errorf("read %s: %w", column, err)
			}
		}
		out = append(out, row)
	}
	return out, nil
}
