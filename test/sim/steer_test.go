package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// EC2 charges for no instance that shuts down.
func TestInstancesThatShutDownAreNotPaid(t *testing.T) {
	w := emptyWorld(Options{Seed: 1})
	runs, ends := &instance{launchedAt: w.now}, &instance{launchedAt: w.now, ends: true}
	runs.offering.Price, ends.offering.Price = quantity.USDPerHour(1), quantity.USDPerHour(2)
	w.instances = []*instance{runs, ends}
	if w.pay(w.now.Add(time.Hour)); w.checks.meter.Dollars != 1 || w.checks.meter.Hours != 1 {
		t.Errorf("the meter is %+v after an hour, want one dollar for one machine", w.checks.meter)
	}
	if now := w.moment(); now.Nodes != 1 || now.DollarsPerHour != 1 {
		t.Errorf("the moment is %+v, want one node for a dollar an hour", now)
	}
}

// A ReplicaSet that scales down deletes its pods in the order that Kubernetes documents.
func TestDeletionOrder(t *testing.T) {
	w := emptyWorld(Options{Seed: 1})
	w.now = w.began.Add(time.Hour)
	on, emptying, last := &instance{}, &instance{emptying: 1}, &instance{emptying: 2}
	crowded := &instance{}
	pods := []*pod{
		runningPod("old", on, w.began),
		runningPod("young", &instance{}, w.now.Add(-time.Minute)),
		runningPod("dear", emptying, w.began),
		runningPod("second-emptying", last, w.began),
		runningPod("emptying", emptying, w.began),
		runningPod("cheap", &instance{}, w.began),
		runningPod("crowded", crowded, w.began),
		runningPod("crowded", crowded, w.began),
		runningPod("unready", &instance{}, w.began),
		runningPod("pending", &instance{}, w.began),
		{Pod: cluster.Pod{Name: "unassigned"}},
	}
	pods[2].DeletionCost, pods[5].DeletionCost = 5, -5
	pods[8].Unready, pods[9].Pending, pods[10].Pending = true, true, true
	var got []string
	for _, p := range w.inDeletionOrder(pods) {
		got = append(got, p.Name)
	}
	want := "unassigned pending unready emptying second-emptying cheap crowded crowded young old dear"
	if all := strings.Join(got, " "); all != want {
		t.Errorf("they are deleted in the order\n%s, want\n%s", all, want)
	}
}

func runningPod(name string, at *instance, ready time.Time) *pod {
	return &pod{Pod: cluster.Pod{Name: name}, at: at, readyAt: ready}
}

// Who only taints nodes that are to empty leaves the order as it is.
func TestDeletionOrderWithTaintsAlone(t *testing.T) {
	w := emptyWorld(Options{Seed: 1, TaintOnly: true})
	w.now = w.began.Add(time.Hour)
	pods := []*pod{runningPod("emptying", &instance{emptying: 1}, w.began), runningPod("young", &instance{}, w.now.Add(-time.Minute))}
	if first := w.inDeletionOrder(pods)[0].Name; first != "young" {
		t.Errorf("%s is deleted first, want the one that was ready for less time", first)
	}
}

// A decider that has a loop of its own is asked as often, whether or not anything changes.
func TestDecidersAreAskedAsOftenAsTheyWant(t *testing.T) {
	for every, least := range map[time.Duration]int{0: 60, 10 * time.Second: 360} {
		asked := 0
		r := Replay{For: time.Hour, Pool: cluster.Pool{Catalogue: &cluster.Catalogue{}}, Options: Options{Seed: 1, AskEvery: every,
			Decide: func(*cluster.Snapshot) plan.Plan { asked++; return plan.Plan{} }}}
		if r.Run(); asked < least*9/10 || asked > least*11/10 {
			t.Errorf("asked %d times within an hour with AskEvery %s, want about %d", asked, every, least)
		}
	}
}
