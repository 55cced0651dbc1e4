package bench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daemok/daemok/bench"
)

// A recorded cluster is read by the reader of simulations: an error names file, line and column, and nothing is measured.
func TestRecordedClustersThatCannotBeRead(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"memory that is no number": {"name,cpu_milli,memory_mib\na,100,200\nb,100,much\n", `trace.csv:3: column memory_mib: "much" is not a whole number`},
		"a negative CPU":           {"cpu_milli,memory_mib\n-100,200\n", "trace.csv:2: column cpu_milli: -100 is negative"},
		"a line that is cut off":   {"cpu_milli,memory_mib\n100\n", "trace.csv:2: column memory_mib: the line has only 1 columns"},
		"a column that is missing": {"cpu_milli\n100\n", "trace.csv:1: there is no column memory_mib"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace.csv")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := bench.Snapshot(bench.Options{Trace: path, Pods: 1, Capacity: "on-demand"}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Snapshot = %v, want %q", err, tt.want)
			}
		})
	}
}
