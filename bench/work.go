package bench

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// pod is one pod of a workload.
type pod struct {
	CPUMilli    int64 `json:"cpuMilli"`
	MemMi       int64 `json:"memMi"`
	App         app   `json:"app"`
	ZoneSpread  bool  `json:"zoneSpread"`
	HostAntiAff bool  `json:"hostAntiAff"`
}

// app is the workload that a pod belongs to; empty: none. Files name it by a string or
// by a number, of which those below 0 mean none.
type app string

// UnmarshalJSON implements json.Unmarshaler.
func (a *app) UnmarshalJSON(data []byte) error {
	var number int
	if err := json.Unmarshal(data, &number); err == nil {
		*a = ""
		if number >= 0 {
			*a = app("app-" + strconv.Itoa(number))
		}
		return nil
	}
	if err := json.Unmarshal(data, (*string)(a)); err != nil {
		return fmt.Errorf("app: want a string or a whole number, not %s", data)
	}
	return nil
}

// Snapshot builds the world to decide about, and says what the work is called.
func Snapshot(o Options) (*cluster.Snapshot, string, error) {
	offered, err := PoolOf(o.Catalog, o.Capacity)
	if err != nil {
		return nil, "", err
	}
	w := &world{Snapshot: &cluster.Snapshot{Revision: 1}, r: rand.New(rand.NewPCG(o.Seed, 0)), shapes: map[string]*cluster.Shape{}}
	name, err := w.work(o)
	if err != nil {
		return nil, "", err
	}
	if o.Types > 0 {
		offered.Requirements = offered.Requirements.And(constraint.Requirement{Key: cluster.LabelInstanceType, Set: constraint.Values(typeNames(offered.Catalogue, o.Types)...)})
	}
	for i := range max(1, o.Pools) {
		offered.ID.Name, offered.Labels = poolName(i), labelled(poolLabel, poolName(i))
		w.Pools = append(w.Pools, offered)
	}
	if err := addDaemons(w.Snapshot, o.Daemons); err != nil {
		return nil, "", err
	}
	w.Sort()
	return w.Snapshot, name, nil
}

// PoolOf is a pool that may launch all types of a catalogue file, or 400 made-up ones without it: on-demand, spot or
// any.
func PoolOf(catalog, capacity string) (cluster.Pool, error) {
	catalogue, err := catalogueOf(catalog)
	if err != nil {
		return cluster.Pool{}, err
	}
	options, err := CapacityTypes(capacity)
	if err != nil {
		return cluster.Pool{}, err
	}
	return cluster.Pool{ID: cluster.PoolID{Kind: "NodePool", Name: poolName(0)}, Labels: labelled(poolLabel, poolName(0)), Catalogue: catalogue,
		Requirements: constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values(options...)})}, nil
}

// work adds the pods that the options ask for and returns their name.
func (w *world) work(o Options) (string, error) {
	given := 0
	for _, s := range []string{o.Mix, o.Workload, o.Trace, o.Generate} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return "", fmt.Errorf("give exactly one of --mix, --workload, --trace and --generate")
	}
	if o.Workload == "" && o.Pods < 1 {
		return "", fmt.Errorf("pods: want 1 or more, not %d", o.Pods)
	}
	switch {
	case o.Workload != "":
		pods, err := readWorkload(o.Workload)
		w.add(pods)
		return o.Workload, err
	case o.Trace != "":
		pods, err := readTrace(o.Trace, o.Pods)
		w.add(pods)
		return o.Trace, err
	case o.Generate != "":
		pods, err := generate(o.Generate, o.Pods, o.Classes, w.r)
		w.add(pods)
		return o.Generate, err
	case mixes[o.Mix] == nil:
		return "", fmt.Errorf("mix %s is not known: use one of %s", o.Mix, strings.Join(Mixes(), ", "))
	}
	mixes[o.Mix](w, o)
	return o.Mix, nil
}

// Mixes names what Mix may be, in order.
func Mixes() []string { return slices.Sorted(maps.Keys(mixes)) }

func readWorkload(path string) ([]pod, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read workload: %w", err)
	}
	var pods []pod
	if err := json.Unmarshal(data, &pods); err != nil {
		return nil, fmt.Errorf("read workload %s: %w", path, err)
	}
	for i, p := range pods {
		if p.CPUMilli < 0 || p.MemMi < 0 {
			return nil, fmt.Errorf("read workload %s: pod %d: cpuMilli %d and memMi %d: want 0 or more", path, i, p.CPUMilli, p.MemMi)
		}
	}
	return pods, nil
}

// add makes pods wait; equal ones of one app share a shape.
func (w *world) add(pods []pod) {
	for _, p := range pods {
		app := string(p.App)
		if !p.ZoneSpread && !p.HostAntiAff {
			app = ""
		}
		w.wait(fmt.Sprint(p.CPUMilli, p.MemMi, app, p.ZoneSpread, p.HostAntiAff), func() cluster.Shape {
			return ruled(requests(p), app, p.ZoneSpread, p.HostAntiAff)
		})
		w.Waiting[len(w.Waiting)-1].Owner = string(p.App)
	}
}

// addDaemons reads "200m,300Mi,4": cpu and memory of each, and how many.
func addDaemons(s *cluster.Snapshot, text string) error {
	if text == "" || text == "none" {
		return nil
	}
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return fmt.Errorf("daemons %s: want cpu, memory and count as in 200m,300Mi,4", text)
	}
	cpu, err := quantity.ParseCPU(parts[0])
	if err != nil {
		return fmt.Errorf("daemons: %w", err)
	}
	memory, err := quantity.ParseBytes(parts[1])
	if err != nil {
		return fmt.Errorf("daemons: %w", err)
	}
	count, err := strconv.Atoi(parts[2])
	if err != nil || count < 0 {
		return fmt.Errorf("daemons: count %s is not a number", parts[2])
	}
	shape := &cluster.Shape{Namespace: "kube-system", Requests: quantity.Resources{CPU: cpu, Memory: memory, Pods: 1}}
	for i := range count {
		s.Daemons = append(s.Daemons, cluster.Daemon{Namespace: "kube-system", Name: fmt.Sprintf("daemon-%d", i), Shape: shape})
	}
	return nil
}

// CapacityTypes are those that a pool of the capacity has: on-demand (also where it is empty), spot or any.
func CapacityTypes(capacity string) ([]string, error) {
	switch capacity {
	case "", string(cluster.OnDemand):
		return []string{string(cluster.OnDemand)}, nil
	case string(cluster.Spot):
		return []string{capacity}, nil
	case "any":
		return []string{string(cluster.OnDemand), string(cluster.Spot)}, nil
	}
	return nil, fmt.Errorf("capacity %s: use on-demand, spot or any", capacity)
}
