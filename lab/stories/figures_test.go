package stories_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Five hundred pods of five deployments: how long from the last pod to the last launch,
// until all run, and what memory that takes. It prints figures and sets no bounds, since
// instances that run tests differ.
func TestFiguresOfFiveHundredPods(t *testing.T) {
	if !*figures {
		t.Skip("measures, and needs the machine for itself: make bill")
	}
	const deployments, replicas = 5, 100
	s := begin(t, ownLab(t, "--controller=true"))
	s.pool("")
	s.awaitCondition(pools, s.namespace, "Ready", "True")
	for i := range deployments {
		s.workload(fmt.Sprintf("d%d", i), s.namespace, fmt.Sprintf("%dm", 250*(i+1)), replicas)
	}
	all := deployments * replicas
	s.await("all pods to be created", "v1/Pod", func(pods []*unstructured.Unstructured) bool { return len(pods) == all })
	created := time.Now()
	s.await("all pods to have met the scheduler", "v1/Pod", func(pods []*unstructured.Unstructured) bool { return countScheduled(pods) == all })
	marked := time.Now()
	s.awaitFor(3*limit, "all pods to run", "v1/Pod", running(all))
	run := time.Now()

	for _, line := range controllerSays(t, s.dir, "made a plan") {
		t.Log(line)
	}
	fleets := fleetCalls(t, s.dir)
	if len(fleets) == 0 {
		t.Fatal("the log of AWS has no CreateFleet")
	}
	for _, at := range fleets {
		t.Logf("CreateFleet began %+.2fs from the last pod created, %+.2fs from the scheduler's last word on one",
			at.Sub(created).Seconds(), at.Sub(marked).Seconds())
	}
	last := fleets[len(fleets)-1]
	memory := memoryOf(t, s.pid("controller"))
	t.Logf("%d pods, %d CreateFleet calls; from the last pod created: first call %+.2fs, last call %+.2fs, all running %+.2fs; "+
		"controller RSS %d MiB, at most %d MiB", all, len(fleets), fleets[0].Sub(created).Seconds(), last.Sub(created).Seconds(),
		run.Sub(created).Seconds(), memory["VmRSS"]/1024, memory["VmHWM"]/1024)
}

// controllerSays returns the lines of the controller's log with these words.
func controllerSays(t *testing.T, dir, words string) (lines []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "logs", "controller.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if strings.Contains(line, words) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// countScheduled counts pods that the scheduler has placed or found no place
// for; before that no autoscaler may act on them.
func countScheduled(pods []*unstructured.Unstructured) int {
	n := 0
	for _, p := range pods {
		conditions, _, _ := unstructured.NestedSlice(p.Object, "status", "conditions")
		for _, c := range conditions {
			if c.(map[string]any)["type"] == "PodScheduled" {
				n++
			}
		}
	}
	return n
}

var fleetCall = regexp.MustCompile(`(?m)^time=(\S+) .*action=CreateFleet .*took=(\S+)$`)

// fleetCalls returns when the calls to CreateFleet that launched began.
func fleetCalls(t *testing.T, dir string) []time.Time {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "logs", "aws.log"))
	if err != nil {
		t.Fatal(err)
	}
	var began []time.Time
	for _, found := range fleetCall.FindAllStringSubmatch(string(content), -1) {
		at, err := time.Parse(time.RFC3339Nano, found[1])
		if err != nil {
			t.Fatal(err)
		}
		took, err := time.ParseDuration(found[2])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(found[0], "status=200") {
			began = append(began, at.Add(-took))
		}
	}
	return began
}

var memoryLine = regexp.MustCompile(`(?m)^(Vm\w+):\s+(\d+) kB$`)

// memoryOf returns a process's memory in KiB by the kernel's names.
func memoryOf(t *testing.T, pid int) map[string]int {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("this system does not tell: %v", err)
	}
	amounts := map[string]int{}
	for _, found := range memoryLine.FindAllStringSubmatch(string(content), -1) {
		if amounts[found[1]], err = strconv.Atoi(found[2]); err != nil {
			t.Fatal(err)
		}
	}
	return amounts
}
