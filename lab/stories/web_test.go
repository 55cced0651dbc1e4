package stories_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/daemok/daemok/kube/api"
)

// Who has a browser alone finds in the pages of `daemok web` why a pod waits, what the pool lacks, what would happen now,
// and what the cluster costs.
func TestTheCausesAreInTheMap(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.poolOf(s.namespace, "not-there", "")
	s.deploy("waits", 1, on(api.LabelNodePool, s.namespace), asking(corev1.ResourceCPU, "1"))
	s.deploy("runs", 1, onStanding(), asking(corev1.ResourceCPU, "10m"))
	s.await("one pod to run and one to wait", "v1/Pod", func(pods []*unstructured.Unstructured) bool {
		return countRunning(pods) == 1 && len(pods) == 2
	})
	waits := ""
	for _, p := range s.list("v1/Pod") {
		if p.GetLabels()["app"] == "waits" {
			waits = p.GetName()
		}
	}
	const why = "EC2NodeClass/not-there is not ready: it does not exist"
	s.browse(s.web(),
		"#/pod/"+s.namespace+"/"+waits, why,
		"#/pool/NodePool/"+s.namespace, why,
		"#/waiting", s.namespace,
		"#/plan", waits,
		"#/cost", s.namespace,
	)
}

// web runs `daemok web` until the story ends, and returns the address that it prints.
func (s *story) web() (address string) {
	s.Helper()
	ctx, stop := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, program("daemok"), "web")
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.Env = os.Environ()
	for name, value := range environment(s.T, s.dir) {
		command.Env = append(command.Env, name+"="+value)
	}
	command.Stderr = s.Output()
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		stop()
		_ = command.Wait() // it was interrupted
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if address, is := strings.CutPrefix(lines.Text(), "http://"); is {
			return "http://" + address
		}
	}
	s.Fatal("daemok web ended without an address")
	return ""
}

// browse opens pages in Chromium, and waits for words on each. Without Chromium or Node.js nothing is tried, and the log
// says so; in CI that is an error.
func (s *story) browse(address string, pagesAndWords ...string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), labWithin)
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(repository(), "ui", "web", "browser", "run.sh"),
		append([]string{"live.cjs", address}, pagesAndWords...)...)
	said, err := command.CombinedOutput()
	s.Logf("%s", said)
	if err != nil {
		s.Errorf("the pages of %s: %v", address, err)
	}
}
