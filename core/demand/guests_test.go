package demand_test

import (
	"slices"
	"testing"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
)

var web = cluster.Port{Protocol: "TCP", Number: 80}

func TestPodsWithOnePortOfTheHostCannotBeThereTogether(t *testing.T) {
	var there demand.Guests
	class, level := &demand.PodClass{Ports: []cluster.Port{web}}, &demand.Level{}
	if got := there.Room(class, level); got != 1 {
		t.Errorf("an empty host has room for %d of them, want one", got)
	}
	there.Add(class, level, 1)
	if got := there.Room(class, level); got != 0 {
		t.Errorf("beside one there is room for %d, want none", got)
	}
	there.Drop(class)
	if got := there.Room(class, level); got != 1 {
		t.Errorf("once it has left there is room for %d, want one", got)
	}
}

// A volume that several pods use is attached once: for the first of them on a host there is one attachment less.
func TestASharedVolumeIsAttachedOnce(t *testing.T) {
	shape := &cluster.Shape{Volumes: []cluster.Volume{{Driver: "ebs", Claim: "d/data"}}}
	dims := amount.Of([]cluster.Pod{{Shape: shape}})
	group := &demand.Group{PodClass: &demand.PodClass{Shared: shape.Volumes}, Need: make([]int64, dims.Len())}
	group.Need[amount.CPU] = 1000
	attachments, known := dims.Driver("ebs")
	if !known {
		t.Fatal("no dimension for attachments of the driver")
	}
	free := make([]int64, dims.Len())
	free[amount.CPU] = 3000

	var there demand.Guests
	if n, first := there.Within(dims, free, group); n != 0 || first != nil {
		t.Errorf("without an attachment left, %d pods fit, the first of which takes %v more; want none", n, first)
	}
	free[attachments] = 1
	n, first := there.Within(dims, free, group)
	if n != 3 || first == nil || first[attachments] != 1 {
		t.Errorf("with one attachment left, %d pods fit, the first of which takes %v more; want three, and the attachment", n, first)
	}
	there.Add(group.PodClass, &demand.Level{}, 1)
	free[attachments] = 0
	if n, first := there.Within(dims, free, group); n != 3 || first != nil {
		t.Errorf("once it is attached, %d pods fit, the first of which takes %v more; want three, and nothing", n, first)
	}
}

func TestPodsGetTheirPlacesOldestFirstUnlessOneIsMeant(t *testing.T) {
	g := &demand.Group{}
	for _, name := range []string{"a", "b", "c"} {
		g.Pods = append(g.Pods, demand.WaitingPod{Pod: &cluster.Pod{Namespace: "d", Name: name}})
	}
	g.Next(1)
	g.Forward([2]string{"d", "c"})
	var order []string
	for g.Left() > 0 {
		order = append(order, g.Next(1)[0].Name)
	}
	if want := []string{"c", "b"}; !slices.Equal(order, want) {
		t.Errorf("after the first, pods come in the order %v, want %v", order, want)
	}
}
