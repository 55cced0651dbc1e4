package measured_test

import (
	"slices"
	"testing"

	"github.com/daemok/daemok/bench/measured"
)

func TestNothingOfTheUsersClusterAndAccountPasses(t *testing.T) {
	got := measured.Environment([]string{"HOME=/root", "AWS_PROFILE=prod", "KUBECONFIG=/prod", "KUBERNETES_SERVICE_HOST=prod"}, map[string]string{"KUBECONFIG": "/lab"})
	if want := []string{"HOME=/root", "KUBECONFIG=/lab"}; !slices.Equal(got, want) {
		t.Errorf("the environment is %q, want %q", got, want)
	}
}

func TestFreePortsDiffer(t *testing.T) {
	ports, err := measured.FreePorts(3)
	slices.Sort(ports)
	if err != nil || len(slices.Compact(ports)) != 3 {
		t.Errorf("got %v, %v; want three ports", ports, err)
	}
}
