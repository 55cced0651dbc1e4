package autoscaler

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/daemok/daemok/cloud/nodegroup"
)

// A machine of a group ends when its node was drained, and not where that failed, where
// nothing is known of its node, or where it ends already.
func TestThePlanEndsWhatWasDrained(t *testing.T) {
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
	command := exec.CommandContext(t.Context(), "sh", "-eu", "-c", s.plan([]nodegroup.Group{{Name: "my group", Desired: 30}}))
	command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	want := `kubectl get nodepools
kubectl scale deployment ca --replicas=0
aws autoscaling update-auto-scaling-group --auto-scaling-group-name my group --min-size 0
aws autoscaling suspend-processes --auto-scaling-group-name my group --scaling-processes AZRebalance
kubectl cordon one
kubectl cordon two
kubectl cordon four
kubectl drain one --ignore-daemonsets --delete-emptydir-data
aws autoscaling terminate-instance-in-auto-scaling-group --instance-id i-1 --should-decrement-desired-capacity
i-3 of my group has no node, and stays: see why, and end it yourself
`
	if err != nil || string(out) != want {
		t.Errorf("the plan did (%v)\n%s\nwant\n%s", err, out, want)
	}
}
