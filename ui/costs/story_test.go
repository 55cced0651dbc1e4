package costs_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/story"
	"github.com/daemok/daemok/ui/costs"
	"github.com/daemok/daemok/ui/text"
)

// Every file in testdata is one story: a cluster, what its costs are grouped by, and the screen or the CSV.
func TestStories(t *testing.T) {
	shop := story.Shop(t, "../../core/decide/testdata/shop.txt")
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		var in costs.Input
		listed := map[string]quantity.MicroUSDPerHour{}
		for i := range files {
			f := &files[i]
			data := strings.TrimSpace(string(f.Data))
			switch f.Name {
			case "listed":
				var node string
				var dollars float64
				if _, err := fmt.Sscan(data, &node, &dollars); err != nil {
					t.Fatal(err)
				}
				listed[node] = quantity.USDPerHour(dollars)
			case "cluster":
				s, err := scenario.Parse(shop + string(f.Data))
				if err != nil {
					t.Fatal(err)
				}
				in.At, in.Allocation = s.Now, cost.Allocate(cost.Input{Snapshot: s, Listed: listed})
			case "by":
				for line := range strings.Lines(data) {
					keys, err := cost.ParseKeys(strings.TrimSpace(line))
					if err != nil {
						t.Fatal(err)
					}
					in.By = append(in.By, keys)
				}
			case "commitments":
				in.Commitments = &commitment.Commitments{
					Reserved: []commitment.ReservedInstances{
						{ID: "web", InstanceType: "m5.large", Count: 3, Flexible: true},
					},
					Plans: []commitment.SavingsPlan{{ID: "compute", Commitment: 200_000, Discount: 0.5}},
				}
			case "no usage":
				in.NoUsage = data
			case "usage":
				in.Usage = usage(t, data)
			case "only":
				namespace, name, _ := strings.Cut(data, "/")
				in.Only, in.Of = map[cost.PodID]bool{{Namespace: namespace, Name: name}: true}, "pod "+data
			case "screen", "wide", "csv":
				story.Expect(t, f, shown(t, in, f.Name))
			default:
				t.Fatalf("what is a file %q?", f.Name)
			}
		}
	})
}

// usage reads lines such as "shop/web-1 250m 1Gi 3": what a pod uses, and of how many samples that is the mean.
func usage(t *testing.T, data string) map[cost.PodID]cost.Used {
	t.Helper()
	out := map[cost.PodID]cost.Used{}
	for line := range strings.Lines(data) {
		var pod, cpu, memory string
		var used cost.Used
		_, err := fmt.Sscan(line, &pod, &cpu, &memory, &used.Samples)
		if err == nil {
			used.CPU, err = quantity.ParseCPU(cpu)
		}
		if err == nil {
			used.Memory, err = quantity.ParseBytes(memory)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		namespace, name, _ := strings.Cut(pod, "/")
		out[cost.PodID{Namespace: namespace, Name: name}] = used
	}
	return out
}

func shown(t *testing.T, in costs.Input, form string) string {
	t.Helper()
	var b bytes.Buffer
	r := costs.Of(in)
	var err error
	if form == "csv" {
		err = costs.CSV(&b, &r)
	} else {
		err = costs.Write(text.New(&b), &r, form == "wide")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
