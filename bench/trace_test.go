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
		"a line that is cut off":   {"cpu_milli,memory_mib\n100\n", "trace.csv:2: column memory_mib: the line ends before it"},
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

func TestCataloguesThatCannotBe(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"none":                   {`[]`, "it lists no instance type"},
		"no memory":              {`[{"name": "a", "cpuMilli": 1000, "pods": 10}]`, "type 1, a: cpuMilli is 1000, memMi 0 and pods 10: want more than 0 of each"},
		"an unknown option":      {`[{"name": "a", "cpuMilli": 1000, "memMi": 1000, "pods": 10, "offerings": [{"zone": "z", "capacityType": "spots"}]}]`, `the capacityType "spots": use on-demand or spot`},
		"a price below nothing":  {`[{"name": "a", "cpuMilli": 1000, "memMi": 1000, "pods": 10, "offerings": [{"zone": "z", "capacityType": "spot", "price": -1}]}]`, "an offering in zone z has the price -1"},
		"text that is no list":   {`name,cpu`, "catalogue.json: invalid character"},
		"a file that is missing": {"", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "catalogue.json")
			if tt.text != "" {
				if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := bench.PoolOf(path, "on-demand"); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("PoolOf = %v, want %q with the path", err, tt.want)
			}
		})
	}
}
