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

// Columns of a recorded cluster that are read; all others are passed over.
const (
	traceCPU    = "cpu_milli"
	traceMemory = "memory_mib"
)

// readTrace reads the first pods of a recorded cluster: a table of comma
// separated values with a line of names, such as those of Alibaba's clusters.
func readTrace(path string, most int) ([]pod, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	defer file.Close()
	pods, err := tracePods(file, most)
	if err != nil {
		return nil, fmt.Errorf("read trace %s: %w", path, err)
	}
	return pods, nil
}

func tracePods(from io.Reader, most int) (out []pod, err error) {
	lines := csv.NewReader(from)
	names, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("read the names of the columns: %w", err)
	}
	cpu, memory := slices.Index(names, traceCPU), slices.Index(names, traceMemory)
	if cpu < 0 || memory < 0 {
		return nil, fmt.Errorf("want columns %s and %s", traceCPU, traceMemory)
	}
	for len(out) < most {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		var p pod
		if p.CPUMilli, err = strconv.ParseInt(line[cpu], 10, 64); err != nil {
			return nil, fmt.Errorf("read %s: %w", traceCPU, err)
		}
		if p.MemMi, err = strconv.ParseInt(line[memory], 10, 64); err != nil {
			return nil, fmt.Errorf("read %s: %w", traceMemory, err)
		}
		out = append(out, p)
	}
	return out, nil
}
