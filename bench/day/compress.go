package day

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/simulate/rows"
)

// Columns of the files, as daemok simulate --services reads them.
var (
	deploymentColumns = []string{"name", "cpu_milli", "memory_mib", "spread", "anti_affinity", "pdb_max_unavailable", "startup_s"}
	replicaColumns    = []string{"second", "name", "replicas"}
	jobColumns        = []string{"name", "cpu_milli", "memory_mib", "creation_time", "deletion_time"}
)

// Compression says how to make a short workload of a long one.
type Compression struct {
	Services    string        // prefix of the files of the long one
	From, To    int64         // its part, in seconds as in the files
	Deployments int           // how many of its Deployments, drawn by Seed
	Pods        int           // how many pods at most at a time
	For         time.Duration // how long it lasts
	Seed        uint64
}

// change is a number of replicas from a second on.
type change struct{ second, count int64 }

// recorded is a workload as its files have it.
type recorded struct {
	deployments [][]string
	changes     map[string][]change // by Deployment
	jobs        [][]string
}

// Compress writes the short workload to files of the prefix. All times are divided by the same factor, but for those that
// pods take to start; all numbers of pods are multiplied by the same.
func (c Compression) Compress(prefix string) error {
	r, err := read(c.Services)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(c.Seed, 0))
	random.Shuffle(len(r.deployments), func(i, j int) { r.deployments[i], r.deployments[j] = r.deployments[j], r.deployments[i] })
	r.deployments = r.deployments[:min(c.Deployments, len(r.deployments))]
	slices.SortFunc(r.deployments, func(a, b []string) int { return slices.Compare(a, b) })
	kept := map[string][]change{}
	for _, d := range r.deployments {
		kept[d[0]] = cut(r.changes[d[0]], c.From, c.To)
	}
	r.changes, r.jobs = kept, slices.DeleteFunc(r.jobs, func(j []string) bool { return number(j[3]) < c.From || number(j[3]) >= c.To })
	most := r.most()
	if most == 0 {
		return fmt.Errorf("no pod of %s is wanted from second %d to %d: give others by --from and --to", c.Services, c.From, c.To)
	}
	replicas, jobs := c.scaled(r, float64(c.Pods)/float64(most), random)
	return errors.Join(write(prefix+".deployments.csv", deploymentColumns, r.deployments),
		write(prefix+".replicas.csv", replicaColumns, replicas), write(prefix+".jobs.csv", jobColumns, jobs))
}

// cut is the count at the beginning and all changes until the end.
func cut(all []change, from, to int64) (out []change) {
	for _, x := range all {
		switch {
		case x.second <= from:
			out = []change{{from, x.count}}
		case x.second < to:
			out = append(out, x)
		}
	}
	return out
}

// most is how many pods there are at most at a time.
func (r recorded) most() (out int64) {
	var deltas []change
	for _, name := range slices.Sorted(maps.Keys(r.changes)) {
		before := int64(0)
		for _, x := range r.changes[name] {
			deltas = append(deltas, change{x.second, x.count - before})
			before = x.count
		}
	}
	for _, j := range r.jobs {
		deltas = append(deltas, change{number(j[3]), 1}, change{number(j[4]), -1})
	}
	slices.SortStableFunc(deltas, func(a, b change) int { return int(a.second - b.second) })
	now := int64(0)
	for i, d := range deltas {
		now += d.count
		if i+1 == len(deltas) || deltas[i+1].second > d.second {
			out = max(out, now)
		}
	}
	return out
}

// scaled are the rows of the short workload's replicas and jobs. Where there are to be fewer pods, some jobs are left out; where
// there are to be more, each is there once.
func (c Compression) scaled(r recorded, pods float64, random *rand.Rand) (replicas, jobs [][]string) {
	at := func(second int64) string {
		return strconv.FormatInt(int64(float64(second-c.From)*c.For.Seconds()/float64(c.To-c.From)), 10)
	}
	for _, d := range r.deployments {
		last := ""
		for _, x := range r.changes[d[0]] {
			count := strconv.Itoa(int(math.Round(float64(x.count) * pods)))
			switch at := at(x.second); {
			case count == last:
				continue
			case len(replicas) > 0 && replicas[len(replicas)-1][0] == at && replicas[len(replicas)-1][1] == d[0]:
				replicas[len(replicas)-1][2] = count
			default:
				replicas = append(replicas, []string{at, d[0], count})
			}
			last = count
		}
	}
	slices.SortStableFunc(replicas, func(a, b []string) int { return int(number(a[0]) - number(b[0])) })
	for _, j := range r.jobs {
		if random.Float64() < pods {
			from := at(number(j[3]))
			to := max(number(at(number(j[4]))), number(from)+1)
			jobs = append(jobs, []string{j[0], j[1], j[2], from, strconv.FormatInt(to, 10)})
		}
	}
	return replicas, jobs
}

func write(path string, columns []string, lines [][]string) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the compressed workload: %w", err)
	}
	out := csv.NewWriter(file)
	if err := errors.Join(out.Write(columns), out.WriteAll(lines), file.Close()); err != nil {
		return fmt.Errorf("write the compressed workload to %s: %w", path, err)
	}
	return nil
}

func read(prefix string) (recorded, error) {
	r := recorded{changes: map[string][]change{}}
	take := func(columns []string, cells *[][]string) func(*rows.Row) {
		return func(row *rows.Row) {
			var line []string
			for _, column := range columns {
				line = append(line, cell(row, column))
			}
			*cells = append(*cells, line)
		}
	}
	err := rows.Read(prefix+".deployments.csv", deploymentColumns, take(deploymentColumns, &r.deployments))
	if err != nil {
		return r, err
	}
	err = rows.Read(prefix+".replicas.csv", replicaColumns, func(row *rows.Row) {
		name := row.Text("name")
		r.changes[name] = append(r.changes[name], change{row.Number("second"), row.Number("replicas")})
	})
	if err != nil {
		return r, err
	}
	if err = rows.Read(prefix+".jobs.csv", jobColumns, take(jobColumns, &r.jobs)); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return r, err
}

// cell is a cell as text: names are names, and the rest are numbers, of which one may be missing.
func cell(row *rows.Row, column string) string {
	switch column {
	case "name":
		return row.Text(column)
	case "pdb_max_unavailable":
		if n := row.Optional(column, -1); n >= 0 {
			return strconv.FormatInt(n, 10)
		}
		return ""
	}
	return strconv.FormatInt(row.Number(column), 10)
}

// number reads what this package has written or checked.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%q is not a number, and was checked to be one", text))
	}
	return n
}
