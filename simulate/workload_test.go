package simulate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/simulate"
	"github.com/daemok/daemok/test/sim"
)

// Lines that name the columns of each file.
const (
	deploymentColumns = "name,cpu_milli,memory_mib,min,max,curve,spread,anti_affinity,pdb_max_unavailable,startup_s\n"
	replicaColumns    = "second,name,replicas\n"
	jobColumns        = "name,cpu_milli,memory_mib,creation_time,deletion_time\n"
)

// files writes files below a prefix, by their suffix, and returns the prefix.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "shop")
	for suffix, text := range content {
		if err := os.WriteFile(prefix+suffix, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return prefix
}

// A shop has a web server in three zones that takes a minute to start, and a cache of which no two share a node.
// Its web server grows at 100 s and shrinks at 4,000 s; a job of 300 s comes at 200 s.
func shop(t *testing.T) string {
	return files(t, map[string]string{
		".deployments.csv": deploymentColumns + "web,500,1024,2,9,taxi,1,0,1,60\ncache,250,512,1,1,taxi,0,1,,5\n",
		".replicas.csv":    replicaColumns + "0,web,2\n0,cache,1\n100,web,5\n4000,web,3\n",
		".jobs.csv":        jobColumns + "report,2000,4096,200,500\n",
	})
}

func TestServicesAreReadWithTheirRules(t *testing.T) {
	got, err := simulate.Read(simulate.Source{Services: shop(t)})
	if err != nil {
		t.Fatal(err)
	}
	if got.For != 2*time.Hour || got.Pods != 7 {
		t.Errorf("%s with %d pods; want 2h, the last full hour in which anything changes, with 2+3 of web, 1 of cache and 1 job", got.For, got.Pods)
	}
	web, cache := got.Services[0], got.Services[1]
	if web.Starts != time.Minute || web.MaxUnavailable != 1 || cache.MaxUnavailable >= 0 {
		t.Errorf("web starts in %s, may lack %d, and cache %d; want 1m, 1 and no budget", web.Starts, web.MaxUnavailable, cache.MaxUnavailable)
	}
	if s := web.Shape.Spread; len(s) != 1 || s[0].Key != cluster.LabelZone || s[0].MaxSkew != 1 || s[0].Soft || len(web.Shape.Neighbours) > 0 {
		t.Errorf("web is spread by %v; want over zones, by 1 at most", s)
	}
	if n := cache.Shape.Neighbours; len(n) != 1 || !n[0].Apart || n[0].Key != cluster.LabelHostname || len(cache.Shape.Spread) > 0 {
		t.Errorf("cache has the neighbours %v; want none of its own on a node", n)
	}
	if j := got.Jobs; len(j) != 1 || j[0].From != 200*time.Second || j[0].Length != 300*time.Second {
		t.Errorf("jobs are %+v; want one at 200 s for 300 s", j)
	}
}

func TestAPartOfServicesBeginsAsTheyStandThen(t *testing.T) {
	got, err := simulate.Read(simulate.Source{Services: shop(t), From: 300, To: 4100})
	if err != nil {
		t.Fatal(err)
	}
	want := []sim.Replicas{{Count: 5}, {At: 3700 * time.Second, Count: 3}}
	if web := got.Services[0].Replicas; fmt.Sprint(web) != fmt.Sprint(want) {
		t.Errorf("replicas of web are %v, want %v", web, want)
	}
	if j := got.Jobs[0]; j.From != 0 || j.Length != 200*time.Second {
		t.Errorf("the job begins at %s for %s; want at once, for the 200 s that are left", j.From, j.Length)
	}
}

func TestPartOfSinglePodsThatIsRun(t *testing.T) {
	const day = 24 * 3600
	text := jobColumns
	for _, days := range [][2]int{{20, 30}, {0, 22}, {2, 3}, {25, 26}, {26, 27}, {27, 28}} {
		text += fmt.Sprintf("pod,1000,1024,%d,%d\n", days[0]*day, days[1]*day)
	}
	path := files(t, map[string]string{".csv": text}) + ".csv"
	tests := map[string]struct {
		from, to int64    // in days
		want     [][2]int // in days, from its beginning
		days     int
	}{
		"none given is the week in which most pods are created": {0, 0, [][2]int{{0, 2}, {0, 7}, {5, 6}, {6, 7}}, 7},
		"a beginning alone is a week":                           {1, 0, [][2]int{{0, 7}, {1, 2}}, 7},
		"an end alone is from 0 on":                             {0, 21, [][2]int{{0, 21}, {2, 3}, {20, 21}}, 21},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := simulate.Read(simulate.Source{Pods: path, From: tt.from * day, To: tt.to * day})
			if err != nil || got.For != time.Duration(tt.days)*24*time.Hour || len(got.Jobs) != len(tt.want) {
				t.Fatalf("Read = %+v, %v; want %v in %d days", got, err, tt.want, tt.days)
			}
			for i, w := range tt.want {
				if j := got.Jobs[i]; int(j.From.Hours())/24 != w[0] || int(j.To.Hours())/24 != w[1] {
					t.Errorf("pod %d is there from %s to %s, want days %v", i, j.From, j.To, w)
				}
			}
		})
	}
}

func TestWorkloadsThatCannotBeRead(t *testing.T) {
	tests := map[string]struct {
		suffix, text string // takes the place of a file of the shop
		want         string
	}{
		"a line with too few columns":        {".deployments.csv", deploymentColumns + "web,500,1024,2\n", "deployments.csv:2: column spread: the line ends before it"},
		"a CPU that is no number":            {".deployments.csv", deploymentColumns + "web,half,1024,2,9,taxi,1,0,1,60\n", `deployments.csv:2: column cpu_milli: "half" is not a whole number`},
		"a fraction of memory":               {".deployments.csv", deploymentColumns + "web,500,1.5,2,9,taxi,1,0,1,60\n", `deployments.csv:2: column memory_mib: "1.5" is not a whole number`},
		"no name":                            {".deployments.csv", deploymentColumns + ",500,1024,2,9,taxi,1,0,1,60\n", "deployments.csv:2: column name: it is empty"},
		"a deployment that is there twice":   {".deployments.csv", deploymentColumns + "web,500,1024,2,9,taxi,1,0,1,60\nweb,500,1024,2,9,taxi,1,0,1,60\n", "deployments.csv:3: column name: web is in line 2 already"},
		"a spread that is neither":           {".deployments.csv", deploymentColumns + "web,500,1024,2,9,taxi,2,0,1,60\n", "deployments.csv:2: column spread: want 0 or 1, not 2"},
		"a negative budget":                  {".deployments.csv", deploymentColumns + "web,500,1024,2,9,taxi,1,0,-1,60\n", "deployments.csv:2: column pdb_max_unavailable: -1 is negative"},
		"a column that is missing":           {".deployments.csv", "name,cpu_milli\nweb,500\n", "deployments.csv:1: there is no column memory_mib"},
		"an empty file":                      {".deployments.csv", "", "deployments.csv is empty"},
		"a quote that does not end":          {".deployments.csv", deploymentColumns + "\"web,500\n", "deployments.csv:2: character "},
		"an unknown deployment":              {".replicas.csv", replicaColumns + "0,web,2\n0,db,1\n", "replicas.csv:3: column name: there is no deployment db in the file of deployments: add it"},
		"a deployment that is misspelt":      {".replicas.csv", replicaColumns + "0,cachee,2\n", "replicas.csv:2: column name: there is no deployment cachee in the file of deployments: add it, did you mean cache?"},
		"semicolons":                         {".replicas.csv", "second;name;replicas\n0;web;2\n", "replicas.csv:1: there is no column second: separate values by commas, not by semicolons"},
		"half a replica":                     {".replicas.csv", replicaColumns + "0,web,1.5\n", `replicas.csv:2: column replicas: "1.5" is not a whole number: write digits alone`},
		"negative replicas":                  {".replicas.csv", replicaColumns + "0,web,-2\n", "replicas.csv:2: column replicas: -2 is negative"},
		"more replicas than there can be":    {".replicas.csv", replicaColumns + "0,web,2000000\n", "replicas.csv:2: column replicas: 2000000 is more than"},
		"replicas out of order":              {".replicas.csv", replicaColumns + "0,web,2\n90,web,3\n60,cache,1\n", "replicas.csv:4: column second: 60 comes after 90: sort lines by time"},
		"a second that would overflow":       {".replicas.csv", replicaColumns + "99999999999999999999,web,2\n", "replicas.csv:2: column second: 99999999999999999999 is more than"},
		"a job that ends before it is there": {".jobs.csv", jobColumns + "report,2000,4096,500,200\n", "jobs.csv:2: column deletion_time: 200 is before creation_time 500"},
		"a job that is there twice":          {".jobs.csv", jobColumns + "report,2000,4096,200,500\nreport,2000,4096,200,500\n", "jobs.csv:3: column name: report is in line 2 already"},
		"a job with a deployment's name":     {".jobs.csv", jobColumns + "web,2000,4096,200,500\n", "jobs.csv:2: column name: web is a deployment already"},
		"an empty cell of a job":             {".jobs.csv", jobColumns + "report,2000,4096,,500\n", "jobs.csv:2: column creation_time: it is empty"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			prefix := shop(t)
			if err := os.WriteFile(prefix+tt.suffix, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := simulate.Read(simulate.Source{Services: prefix})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), prefix) {
				t.Errorf("Read = %v, want %q with the whole path", err, tt.want)
			}
			if len(got.Services)+len(got.Jobs) > 0 {
				t.Errorf("beside the error it returns %d services and %d jobs", len(got.Services), len(got.Jobs))
			}
		})
	}
}

func TestSourcesThatNameNoWorkload(t *testing.T) {
	prefix := shop(t)
	tests := map[string]struct {
		source simulate.Source
		want   string
	}{
		"neither":                   {simulate.Source{}, "exactly one of --services and --pods"},
		"both":                      {simulate.Source{Services: prefix, Pods: prefix + ".jobs.csv"}, "exactly one of --services and --pods"},
		"services that are missing": {simulate.Source{Services: prefix + "s"}, "shops.deployments.csv: no such file or directory: --services takes what the names of files have before .deployments.csv and .replicas.csv"},
		"pods that are missing":     {simulate.Source{Pods: prefix}, "no such file"},
		"an end that comes first":   {simulate.Source{Services: prefix, From: 100, To: 50}, "--from is 100 and --to is 50"},
		"an end at the beginning":   {simulate.Source{Services: prefix, From: 100, To: 100}, "want the latter to be more"},
		"a beginning after the end": {simulate.Source{Services: prefix, From: 7200}, "--from is 7200 and --to is 7200"},
		"a negative beginning":      {simulate.Source{Services: prefix, From: -1}, "want seconds, 0 or more"},
		"a time without pods":       {simulate.Source{Pods: prefix + ".jobs.csv", From: 1000, To: 2000}, "has no pod from second 1000 to 2000"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := simulate.Read(tt.source); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read(%+v) = %v, want %q", tt.source, err, tt.want)
			}
		})
	}
}

// Spreadsheets begin a file with a mark, and end its lines in two characters.
func TestFilesOfSpreadsheetsAreRead(t *testing.T) {
	prefix := shop(t)
	text := strings.ReplaceAll("\ufeff"+replicaColumns+"0,web,2\n100,web,5\n", "\n", "\r\n")
	if err := os.WriteFile(prefix+".replicas.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := simulate.Read(simulate.Source{Services: prefix}); err != nil || len(got.Services) != 1 || len(got.Services[0].Replicas) != 2 {
		t.Errorf("Read = %+v, %v; want web with two numbers of replicas", got.Services, err)
	}
}

func TestJobsMayBeLeftOut(t *testing.T) {
	prefix := shop(t)
	if err := os.Remove(prefix + ".jobs.csv"); err != nil {
		t.Fatal(err)
	}
	if got, err := simulate.Read(simulate.Source{Services: prefix}); err != nil || len(got.Jobs) > 0 {
		t.Errorf("Read = %+v, %v; want no jobs", got, err)
	}
}
