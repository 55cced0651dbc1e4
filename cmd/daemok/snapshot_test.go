package main

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// A snapshot has the ProvisioningRequests that the controller serves by its setting.
func TestASnapshotHasTheRequestsForItsAutoscaler(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	named := strings.Replace(request, "name: train", "name: named", 1) + "  parameters: {processorInstance: blue}\n"
	objects := objectsOf(t, strings.TrimPrefix(request+strings.TrimPrefix(named, template), "---\n"))
	for instance, want := range map[string]string{"": "train", "blue": "named"} {
		t.Setenv("PROCESSOR_INSTANCE", instance)
		s, err := liveCluster(t, account, objects...)(t.Context(), inspect.NewTarget())
		if err != nil {
			t.Fatal(err)
		}
		if list := s.Snapshot.Requested; len(list) != 1 || list[0].Name != want {
			t.Errorf("PROCESSOR_INSTANCE=%s: got %+v, want the request %s alone", instance, list, want)
		}
	}
}

// Which nodes are repaired is for the controller's feature gate to say, and a snapshot
// is read with the same.
func TestASnapshotHasTheRepairsOfTheFeatureGate(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: store.PoolSpec()}
	for gate, want := range map[string]int{"": 0, "NodeRepair=false": 0, "NodeRepair=true": 7} {
		t.Setenv("FEATURE_GATES", gate)
		s, err := liveCluster(t, account, pool.DeepCopy())(t.Context(), inspect.NewTarget())
		if err != nil {
			t.Fatal(err)
		}
		if rules := s.Snapshot.Pools[0].Repair.Rules; len(rules) != want {
			t.Errorf("FEATURE_GATES=%s: %d rules of repair, want %d", gate, len(rules), want)
		}
	}
	t.Setenv("FEATURE_GATES", "NodeRepair")
	if _, err := liveCluster(t, account)(t.Context(), inspect.NewTarget()); err == nil {
		t.Error("FEATURE_GATES=NodeRepair is read, though it says neither true nor false")
	}
}
