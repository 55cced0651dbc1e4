package day

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/cloud/aws/bill"
	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/examples"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/sim"
)

// offered is an instance type in a catalogue file of daemok simulate.
type offered struct {
	Name      string     `json:"name"`
	Arch      string     `json:"arch"`
	CPUMilli  int64      `json:"cpuMilli"`
	MemMi     int64      `json:"memMi"`
	Pods      int64      `json:"pods"`
	Offerings []offering `json:"offerings"`
}

type offering struct {
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
}

// catalogue is what the lab's EC2 offers on demand for amd64, in the zones in which there are subnets.
func catalogue(ctx context.Context, account bill.Account) (out []offered, err error) {
	zones, err := account.Zones(ctx)
	if err != nil {
		return nil, err
	}
	region := account.Config.Region
	for _, t := range ec2data.Load().OfferedIn(region) {
		price, _, known := t.OnDemandUSD(region)
		if !known || !t.HasUsage("on-demand") || t.IsARM() {
			continue
		}
		one := offered{Name: t.Name, Arch: "amd64", CPUMilli: int64(t.VCPUs) * 1000, MemMi: t.MemoryMiB, Pods: int64(t.ENIsMax*(t.IPv4PerENI-1) + 2)}
		for _, zone := range t.OfferedZones(region) {
			if zones[zone] {
				one.Offerings = append(one.Offerings, offering{zone, "on-demand", price})
			}
		}
		if len(one.Offerings) > 0 {
			out = append(out, one)
		}
	}
	return out, nil
}

// Boots is how long instances of a lab take to boot at a time scale, for the simulator.
func Boots(timeScale float64) sim.Boots {
	figures := market.DefaultFigures()
	return func(r *rand.Rand) time.Duration {
		return time.Duration(timeScale * float64(figures.OnDemandJoins(r.Float64(), r.Float64())))
	}
}

// objects are the NodePool and the EC2NodeClass of the examples, without a limit.
func objects(clusterName string, consolidateAfter time.Duration) (*awsv1.EC2NodeClass, *karpv1.NodePool, error) {
	class, pool := &awsv1.EC2NodeClass{}, &karpv1.NodePool{}
	for name, o := range map[string]any{"v1/ec2nodeclass.yaml": class, "v1/nodepool.yaml": pool} {
		text, err := examples.Manifest(name, clusterName)
		if err != nil {
			return nil, nil, err
		}
		if err := yaml.Unmarshal(text, o); err != nil {
			return nil, nil, fmt.Errorf("read example %s: %w", name, err)
		}
	}
	pool.Spec.Limits = nil
	pool.Spec.Disruption.ConsolidateAfter = karpv1.DurationOrNever(consolidateAfter.String())
	return class, pool, nil
}

// save writes a value as JSON, which is YAML too.
func save(path string, values ...any) error {
	var text []byte
	for _, v := range values {
		one, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		text = append(append(text, one...), "\n---\n"...)
	}
	if len(values) == 1 {
		text = text[:len(text)-len("---\n")]
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write what is simulated: %w", err)
	}
	return nil
}
