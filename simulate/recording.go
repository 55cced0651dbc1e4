package simulate

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/simulate/rows"
)

// Columns of the files, all whole numbers but names. Others are passed over.
const (
	columnName           = "name"
	columnCPU            = "cpu_milli"
	columnMemory         = "memory_mib"
	columnSpread         = "spread"              // 1: over zones, maxSkew 1
	columnAntiAffinity   = "anti_affinity"       // 1: no two pods on a node
	columnMaxUnavailable = "pdb_max_unavailable" // empty: no PodDisruptionBudget
	columnStartup        = "startup_s"           // from running to ready
	columnSecond         = "second"
	columnReplicas       = "replicas"
	columnCreated        = "creation_time"
	columnDeleted        = "deletion_time"
)

// recording is a workload as its files have it, in seconds of a clock of its own.
type recording struct {
	services []*deployment
	jobs     []job
	fixed    bool // jobs end at their second, whenever they began to run
}

// deployment is a Deployment whose number of replicas changes.
type deployment struct {
	name           string
	shape          *cluster.Shape
	starts         time.Duration
	maxUnavailable int64 // negative: no PodDisruptionBudget
	replicas       []change
	line           int
}

// change is a number of replicas from a second on.
type change struct {
	second int64
	count  int
}

// job is a single pod.
type job struct {
	name     string // empty where files name none
	shape    *cluster.Shape
	from, to int64
}

// readPods reads single pods that are there from one second to another.
func readPods(path string) (recording, error) {
	x := newReader()
	x.fixed = true
	err := rows.Read(path, []string{columnCPU, columnMemory, columnCreated, columnDeleted}, func(r *rows.Row) { x.job(r, "") })
	return x.recording, err
}

// readServices reads PREFIX.deployments.csv, PREFIX.replicas.csv and, where it is there, PREFIX.jobs.csv.
func readServices(prefix string) (recording, error) {
	x := newReader()
	for _, file := range []struct {
		suffix   string
		columns  []string
		take     func(*rows.Row)
		optional bool
	}{
		{".deployments.csv", []string{columnName, columnCPU, columnMemory, columnSpread, columnAntiAffinity, columnMaxUnavailable, columnStartup}, x.deployment, false},
		{".replicas.csv", []string{columnSecond, columnName, columnReplicas}, x.change, false},
		{".jobs.csv", []string{columnName, columnCPU, columnMemory, columnCreated, columnDeleted}, x.namedJob, true},
	} {
		err := rows.Read(prefix+file.suffix, file.columns, file.take)
		if errors.Is(err, fs.ErrNotExist) && !file.optional {
			return recording{}, fmt.Errorf("%w: --services takes what the names of files have before .deployments.csv and .replicas.csv", err)
		}
		if err != nil && !(file.optional && errors.Is(err, fs.ErrNotExist)) {
			return recording{}, err
		}
	}
	return x.recording, nil
}

// reader makes a recording of rows.
type reader struct {
	recording
	shapes map[[2]int64]*cluster.Shape // of jobs, by what they request
	named  map[string]*deployment
	lines  map[string]int // of jobs, by name
	last   int64          // second at which replicas changed
}

func newReader() *reader {
	return &reader{shapes: map[[2]int64]*cluster.Shape{}, named: map[string]*deployment{}, lines: map[string]int{}}
}

func (x *reader) deployment(r *rows.Row) {
	name := r.Text(columnName)
	d := &deployment{name: name, line: r.Line(), shape: serviceShape(name, requestsOf(r), r.Flag(columnSpread), r.Flag(columnAntiAffinity)),
		starts: time.Duration(r.Number(columnStartup)) * time.Second, maxUnavailable: r.Optional(columnMaxUnavailable, -1)}
	if other := x.named[name]; other != nil {
		r.Wrong(columnName, "%s is in line %d already: give each its own name", name, other.line)
	}
	x.named[name] = d
	x.services = append(x.services, d)
}

func (x *reader) change(r *rows.Row) {
	second, name, count := r.Number(columnSecond), r.Text(columnName), r.Number(columnReplicas)
	if second < x.last {
		r.Wrong(columnSecond, "%d comes after %d: sort lines by time", second, x.last)
	}
	if count > replicasMost {
		r.Wrong(columnReplicas, "%d is more than %d", count, replicasMost)
	}
	if d := x.named[name]; d == nil {
		r.Wrong(columnName, "there is no deployment %s in the file of deployments: add it%s", name, nearest.DidYouMean(name, slices.Sorted(maps.Keys(x.named))))
	} else if r.Err() == nil {
		x.last, d.replicas = second, append(d.replicas, change{second, int(count)})
	}
}

// replicasMost is more than any cluster runs of one Deployment.
const replicasMost = 100_000

// namedJob reads a job whose name no other job and no deployment has.
func (x *reader) namedJob(r *rows.Row) {
	name := r.Text(columnName)
	if line := x.lines[name]; line > 0 {
		r.Wrong(columnName, "%s is in line %d already: give each its own name", name, line)
	}
	if x.named[name] != nil {
		r.Wrong(columnName, "%s is a deployment already: give each its own name", name)
	}
	x.lines[name] = r.Line()
	x.job(r, name)
}

// job adds a job, unless it is there for no time.
func (x *reader) job(r *rows.Row, name string) {
	j := job{name: name, shape: x.jobShape(requestsOf(r)), from: r.Number(columnCreated), to: r.Number(columnDeleted)}
	if j.to < j.from {
		r.Wrong(columnDeleted, "%d is before %s %d", j.to, columnCreated, j.from)
	}
	if j.to > j.from {
		x.jobs = append(x.jobs, j)
	}
}

// jobShape is the same for all jobs that request the same.
func (x *reader) jobShape(requests quantity.Resources) *cluster.Shape {
	key := [2]int64{int64(requests.CPU), int64(requests.Memory)}
	if x.shapes[key] == nil {
		x.shapes[key] = &cluster.Shape{Namespace: "default", Requests: requests}
	}
	return x.shapes[key]
}

// requestsOf are those of a pod.
func requestsOf(r *rows.Row) quantity.Resources {
	return quantity.Resources{CPU: quantity.MilliCPU(r.Number(columnCPU)), Memory: quantity.Bytes(r.Number(columnMemory)) * quantity.MiB, Pods: 1}
}

// serviceShape is that of the pods of a Deployment, which select each other by their label app.
func serviceShape(name string, requests quantity.Resources, spread, apart bool) *cluster.Shape {
	out := &cluster.Shape{Namespace: "default", Labels: constraint.NewLabels(map[string]string{"app": name}), Requests: requests}
	own := cluster.Selector{Requirements: constraint.NewRequirements(constraint.Requirement{Key: "app", Set: constraint.Values(name)})}
	if spread {
		out.Spread = []cluster.Spread{{Key: cluster.LabelZone, Selector: own, MaxSkew: 1}}
	}
	if apart {
		out.Neighbours = []cluster.Neighbours{{Apart: true, Key: cluster.LabelHostname, Selector: own, Namespaces: []string{"default"}}}
	}
	return out
}
