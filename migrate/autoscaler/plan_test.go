package autoscaler

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud/nodegroup"
)

// plan runs the plan for a group with an aws and a kubectl that print their arguments, and then more.
func plan(t *testing.T, more string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"aws": `case "$2" in describe-auto-scaling-groups) printf 'i-1\ti-2\ti-3\ti-4\n';; *) echo "aws $*";; esac`,
		"kubectl": `case "$1 $2" in
"get nodes") printf 'one aws:///a/i-1\ntwo aws:///a/i-2\nfour aws:///a/i-4\n';;
"drain two") exit 1;;
*) echo "kubectl $*";; esac`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := &Settings{Name: "ca"}
	script := s.plan([]replaced{{nodegroup.Group{Name: "my group", Min: 2, Desired: 30}, "my-group"}})
	command := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script+more)
	command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return string(out)
}

// An instance of a group ends when its node was drained, and not where that failed, where nothing
// is known of its node, or where it ends already.
func TestThePlanEndsWhatWasDrained(t *testing.T) {
	want := `kubectl get nodepools
kubectl scale deployment ca --replicas=0
aws autoscaling update-auto-scaling-group --auto-scaling-group-name my group --min-size 0
aws autoscaling suspend-processes --auto-scaling-group-name my group --scaling-processes AZRebalance
kubectl cordon one
kubectl cordon two
kubectl cordon four
kubectl drain one --ignore-daemonsets --delete-emptydir-data
aws autoscaling terminate-instance-in-auto-scaling-group --instance-id i-1 --should-decrement-desired-capacity
i-3 of my group has no node, and stays: see why, and terminate it yourself
`
	if got := plan(t, ""); got != want {
		t.Errorf("the plan did\n%s\nwant\n%s", got, want)
	}
}

// The groups get their sizes back, nodes that were not drained take pods again, and the NodePools let their nodes go: the
// budget that keeps nodes from being replaced would keep those of a deleted NodePool for ever.
func TestThePlanCanBeUndone(t *testing.T) {
	done := plan(t, "")
	got := strings.TrimPrefix(plan(t, "go_back\n"), done)
	want := `aws autoscaling update-auto-scaling-group --auto-scaling-group-name my group --min-size 2 --desired-capacity 30
aws autoscaling resume-processes --auto-scaling-group-name my group --scaling-processes AZRebalance
kubectl uncordon one
kubectl uncordon two
kubectl uncordon four
kubectl scale deployment ca --replicas=1
kubectl patch nodepool my-group --type=merge --patch {"spec": {"disruption": {"budgets": [{"nodes": "10%"}]}}}
kubectl delete nodepool my-group --wait=false
`
	if got != want {
		t.Errorf("going back did\n%s\nwant\n%s", got, want)
	}
}
