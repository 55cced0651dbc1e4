package simulate

import (
	"errors"
	"io/fs"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
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
	err := readRows(path, []string{columnCPU, columnMemory, columnCreated, columnDeleted}, func(r *row) { x.job(r, "") })
	return x.recording, err
}

// readServices reads PREFIX.deployments.csv, PREFIX.replicas.csv and, where it is there, PREFIX.jobs.csv.
func readServices(prefix string) (recording, error) {
	x := newReader()
	for _, file := range []struct {
		suffix   string
		columns  []string
		take     func(*row)
		optional bool
	}{
		{".deployments.csv", []string{columnName, columnCPU, columnMemory, columnSpread, columnAntiAffinity, columnMaxUnavailable, columnStartup}, x.deployment, false},
		{".replicas.csv", []string{columnSecond, columnName, columnReplicas}, x.change, false},
		{".jobs.csv", []string{columnName, columnCPU, columnMemory, columnCreated, columnDeleted}, x.namedJob, true},
	} {
		err := readRows(prefix+file.suffix, file.columns, file.take)
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

func (x *reader) deployment(r *row) {
	name := r.text(columnName)
	d := &deployment{name: name, line: r.line, shape: serviceShape(name, r.requests(), r.flag(columnSpread), r.flag(columnAntiAffinity)),
		starts: time.Duration(r.number(columnStartup)) * time.Second, maxUnavailable: r.optional(columnMaxUnavailable, -1)}
	if other := x.named[name]; other != nil {
		r.wrong(columnName, "%s is in line %d already", name, other.line)
	}
	x.named[name] = d
	x.services = append(x.services, d)
}

func (x *reader) change(r *row) {
	second, name, count := r.number(columnSecond), r.text(columnName), r.number(columnReplicas)
	if second < x.last {
		r.wrong(columnSecond, "%d comes after %d: lines have to be in order of time", second, x.last)
	}
	if count > replicasMost {
		r.wrong(columnReplicas, "%d is more than %d", count, replicasMost)
	}
	if d := x.named[name]; d == nil {
		r.wrong(columnName, "there is no deployment %s", name)
	} else if r.err == nil {
		x.last, d.replicas = second, append(d.replicas, change{second, int(count)})
	}
}

// replicasMost is more than any cluster runs of one Deployment.
const replicasMost = 100_000

// namedJob reads a job whose name no other job and no deployment has.
func (x *reader) namedJob(r *row) {
	name := r.text(columnName)
	if line := x.lines[name]; line > 0 {
		r.wrong(columnName, "%s is in line %d already", name, line)
	}
	if x.named[name] != nil {
		r.wrong(columnName, "%s is a deployment already", name)
	}
	x.lines[name] = r.line
	x.job(r, name)
}

// job adds a job, unless it is there for no time.
func (x *reader) job(r *row, name string) {
	j := job{name: name, shape: x.jobShape(r.requests()), from: r.number(columnCreated), to: r.number(columnDeleted)}
	if j.to < j.from {
		r.wrong(columnDeleted, "%d is before %s %d", j.to, columnCreated, j.from)
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

// requests are those of a pod.
func (r *row) requests() quantity.Resources {
	return quantity.Resources{CPU: quantity.MilliCPU(r.number(columnCPU)), Memory: quantity.Bytes(r.number(columnMemory)) * quantity.MiB, Pods: 1}
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
