package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// later tells which mixes exist and wait for rules that are not built.
var later = map[string]string{
	"diverse":      "topology spread and pod affinity",
	"antiaffinity": "pod anti-affinity",
	"preferences":  "preferred affinity",
	"existing":     "topology spread over existing nodes",
}

// pod is one pod of a workload.
type pod struct {
	CPUMilli    int64 `json:"cpuMilli"`
	MemMi       int64 `json:"memMi"`
	ZoneSpread  bool  `json:"zoneSpread"`
	HostAntiAff bool  `json:"hostAntiAff"`
}

// Snapshot builds the world to decide about, and says what the work is called.
func Snapshot(o Options) (*cluster.Snapshot, string, error) {
	pods, name, err := work(o)
	if err != nil {
		return nil, "", err
	}
	catalogue, err := catalogueOf(o.Catalog)
	if err != nil {
		return nil, "", err
	}
	options, err := capacityTypes(o.Capacity)
	if err != nil {
		return nil, "", err
	}
	s := &cluster.Snapshot{Revision: 1}
	addPods(s, pods)
	for i := range max(1, o.Pools) {
		s.Pools = append(s.Pools, cluster.Pool{
			ID: cluster.PoolID{Kind: "NodePool", Name: fmt.Sprintf("pool-%03d", i)}, Catalogue: catalogue,
			Requirements: constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelCapacityType, Set: options})})
	}
	if err := addDaemons(s, o.Daemons); err != nil {
		return nil, "", err
	}
	s.Sort()
	return s, name, nil
}

func work(o Options) ([]pod, string, error) {
	given := 0
	for _, s := range []string{o.Mix, o.Workload, o.Generate} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return nil, "", fmt.Errorf("give exactly one of mix, workload and generate")
	}
	switch {
	case o.Workload != "":
		pods, err := readWorkload(o.Workload)
		return pods, o.Workload, err
	case o.Generate != "":
		pods, err := generate(o.Generate, o.Pods, o.Seed)
		return pods, o.Generate, err
	case later[o.Mix] != "":
		return nil, "", fmt.Errorf("mix %s needs %s, which is not built yet", o.Mix, later[o.Mix])
	case o.Mix != "plain":
		return nil, "", fmt.Errorf("mix %s is not known: use plain", o.Mix)
	}
	pods, err := generate("plain", o.Pods, o.Seed)
	return pods, o.Mix, err
}

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
		if p.ZoneSpread || p.HostAntiAff {
			return nil, fmt.Errorf("workload %s: pod %d uses topology spread or anti-affinity, which is not built yet", path, i)
		}
	}
	return pods, nil
}

// addPods makes the pods wait; pods of the same size share a shape.
func addPods(s *cluster.Snapshot, pods []pod) {
	shapes := map[[2]int64]*cluster.Shape{}
	for i, p := range pods {
		key := [2]int64{p.CPUMilli, p.MemMi}
		if shapes[key] == nil {
			shapes[key] = &cluster.Shape{ID: len(s.Shapes), Namespace: "default",
				Requests: quantity.Resources{CPU: quantity.MilliCPU(p.CPUMilli), Memory: quantity.Bytes(p.MemMi) * quantity.MiB, Pods: 1}}
			s.Shapes = append(s.Shapes, shapes[key])
		}
		s.Waiting = append(s.Waiting, cluster.Pod{Namespace: "default", Name: fmt.Sprintf("pod-%06d", i), Shape: shapes[key], Returns: true})
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
	shape := &cluster.Shape{ID: len(s.Shapes), Namespace: "kube-system", Requests: quantity.Resources{CPU: cpu, Memory: memory, Pods: 1}}
	s.Shapes = append(s.Shapes, shape)
	for i := range count {
		s.Daemons = append(s.Daemons, cluster.Daemon{Namespace: "kube-system", Name: fmt.Sprintf("daemon-%d", i), Shape: shape})
	}
	return nil
}

func capacityTypes(text string) (constraint.Set, error) {
	switch text {
	case "", string(cluster.OnDemand):
		return constraint.Values(string(cluster.OnDemand)), nil
	case string(cluster.Spot):
		return constraint.Values(text), nil
	case "any":
		return constraint.Values(string(cluster.OnDemand), string(cluster.Spot)), nil
	}
	return constraint.Set{}, fmt.Errorf("capacity %s: use on-demand, spot or any", text)
}
