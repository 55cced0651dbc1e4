package offering

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// partitioned is a kind that is offered in three partitions of a zone, of which those
// named are short.
func partitioned(name, zone string, short ...string) cluster.InstanceType {
	var offerings []string
	for range 3 {
		offerings = append(offerings, zone+" on-demand 96")
	}
	k := kind(name, 2000, offerings...)
	for i := range k.Offerings {
		part := []string{"1", "2", "3"}[i]
		k.Offerings[i].Labels = k.Offerings[i].Labels.With(labelPlacementGroup, "pg-1").With(labelPartition, part)
		k.Offerings[i].Available = !strings.Contains(strings.Join(short, " "), part)
	}
	return k
}

func TestAPartitionIsAskedForWhereNotAllWillDo(t *testing.T) {
	tests := map[string]struct {
		kinds    []cluster.InstanceType
		want     []constraint.Requirement
		offering string
	}{
		"any of them is left to the cloud": {[]cluster.InstanceType{partitioned("m5.large", "a")}, nil, "m5.large/a/"},
		"the one that is required":         {[]cluster.InstanceType{partitioned("m5.large", "a")}, []constraint.Requirement{want(labelPartition, constraint.In, "3")}, "m5.large/a/3"},
		"the first of two that will do":    {[]cluster.InstanceType{partitioned("m5.large", "a")}, []constraint.Requirement{want(labelPartition, constraint.NotIn, "1")}, "m5.large/a/2"},
		"one that is not short":            {[]cluster.InstanceType{partitioned("m5.large", "a", "1")}, nil, "m5.large/a/2"},
		"of each type by itself":           {[]cluster.InstanceType{partitioned("m5.large", "a", "1"), partitioned("m6i.large", "a")}, nil, "m5.large/a/2 m6i.large/a/"},
		"none where there is none":         {[]cluster.InstanceType{kind("m5.large", 2000, "a on-demand 96", "b on-demand 96")}, nil, "m5.large/a/ m5.large/b/"},
	}
	for name, tt := range tests {
		var got []string
		for _, o := range named(tt.want, quantity.Resources{CPU: 1000}, tt.kinds) {
			got = append(got, o.Type.Name+"/"+o.Offering.Zone+"/"+o.Partition)
		}
		if text := strings.Join(got, " "); text != tt.offering {
			t.Errorf("%s: %q, want %q", name, text, tt.offering)
		}
	}
}

func TestTheLabelOfAPartitionIsThatOfTheInstance(t *testing.T) {
	catalogue := &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{partitioned("m5.large", "a")}}
	for reported, want := range map[string]string{"": "", "2": "2"} {
		_, o, known := Of(catalogue, Identity{Type: "m5.large", Zone: "a", CapacityType: cluster.OnDemand, Partition: reported})
		got, _ := o.Labels.Get(labelPartition)
		if group, _ := o.Labels.Get(labelPlacementGroup); !known || got != want || group != "pg-1" {
			t.Errorf("an instance of partition %q gets %v, want the label %q", reported, o.Labels, want)
		}
	}
}
