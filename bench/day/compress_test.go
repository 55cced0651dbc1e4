package day

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Two hours become two minutes, at most ten pods become twenty, and pods start as slowly as before.
func TestADayIsCompressed(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"long.deployments.csv": "name,cpu_milli,memory_mib,min,max,curve,spread,anti_affinity,pdb_max_unavailable,startup_s\nweb,500,512,1,8,taxi,1,0,1,20\nsearch,900,1024,2,2,taxi,0,1,,5\n",
		"long.replicas.csv":    "second,name,replicas\n0,web,1\n0,search,2\n600,web,4\n3600,web,7\n3630,web,3\n9000,web,1\n",
		"long.jobs.csv":        "name,cpu_milli,memory_mib,creation_time,deletion_time\nnight,100,128,3600,3900\nlate,100,128,8000,8100\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := Compression{Services: filepath.Join(folder, "long"), To: 7200, Deployments: 14, Pods: 20, For: 2 * time.Minute, Seed: 1}
	if err := c.Compress(filepath.Join(folder, "short")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"short.deployments.csv": "search,900,1024,0,1,,5\nweb,500,512,1,0,1,20\n",
		"short.replicas.csv":    "0,search,4\n0,web,2\n10,web,8\n60,web,6\n",
		"short.jobs.csv":        "night,100,128,60,65\n",
	} {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, rows, _ := strings.Cut(string(got), "\n"); rows != want {
			t.Errorf("%s has the rows\n%swant\n%s", name, rows, want)
		}
	}
}

// A part of a workload without pods is refused with the way out.
func TestADayWithoutPodsIsRefused(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"long.deployments.csv": "name,cpu_milli,memory_mib,spread,anti_affinity,pdb_max_unavailable,startup_s\nweb,500,512,0,0,,5\n",
		"long.replicas.csv":    "second,name,replicas\n0,web,0\n600,web,4\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := Compression{Services: filepath.Join(folder, "long"), To: 600, Deployments: 1, Pods: 20, For: time.Minute}.Compress(filepath.Join(folder, "short"))
	if err == nil || !strings.Contains(err.Error(), "--from and --to") {
		t.Errorf("got %v, want it refused", err)
	}
}
