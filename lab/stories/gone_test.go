package stories_test

import (
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A controller starts while no API server answers, then while a definition is missing and another is of an older
// release: it says each, waits for the first two and goes on with what the third has. While it leads the API server is
// gone for longer than its lease: it ends and says why, and the next one goes on with the pods that came meanwhile.
func TestAfterMinutesWithoutAnAPIServer(t *testing.T) {
	aboutMinutes(t)
	t.Parallel()
	s := begin(t, ownLab(t, "--controller=false"))
	d, kubeconfig := s.door()
	mustKubectl(t, s.dir, "delete", "crd", "ec2nodeclasses.karpenter.k8s.aws")
	mustKubectl(t, s.dir, "patch", "crd", "nodeclaims.karpenter.sh", "--type=json", "-p", `[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/lastPodEventTime"}]`)

	first := s.run("first", "KUBECONFIG="+kubeconfig)
	first.awaitSays("the start waits for the API server at")
	d.open()
	first.awaitSays("the start waits for CustomResourceDefinitions")
	first.awaitSays("ec2nodeclasses.karpenter.k8s.aws: install the definitions of this release: helm upgrade --install daemok-crd")
	mustKubectl(t, s.dir, "create", "-f", filepath.Join(repository(), "charts", "daemok-crd", "files", "karpenter.k8s.aws_ec2nodeclasses.yaml"))
	first.awaitLeader(limit)
	first.awaitSays("v1: status.lastPodEventTime")

	s.pool("disruption: {consolidateAfter: Never}")
	s.workload("before", s.namespace, "1500m", 2)
	s.await("the first claims", claims, func(seen []*unstructured.Unstructured) bool { return len(inPool(seen, s.namespace)) > 0 })
	d.close() // as it launches
	s.workload("during", s.namespace, "1500m", 2)
	first.awaitEnd(limit)
	if first.says("restarts, as a standby") == 0 {
		t.Error("the controller that lost its lease does not say what follows")
	}
	second := s.run("second", "KUBECONFIG="+kubeconfig)
	second.awaitSays("the start waits for the API server at")
	d.open()
	for _, wave := range []string{"before", "during"} {
		s.await("pods of "+wave+" to run", "v1/Pod", of(wave, running(2)))
	}
	s.nothingTwice()
	if ever := instances(t, s.dir, map[string][]string{poolTag: {s.namespace}}); len(ever) > 4 {
		t.Errorf("%d instances were launched for 4 pods: %s", len(ever), describeInstances(ever))
	}
}

// door is a way to the API server that can be closed.
type door struct {
	story          *story
	listen, target string // addresses

	mu       sync.Mutex
	listener net.Listener // nil: closed
	passing  []net.Conn
}

// door returns a closed door, and a file by which a controller goes through it.
func (s *story) door() (*door, string) {
	s.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	d := &door{story: s, listen: free.Addr().String()}
	_ = free.Close()
	env := environment(s.T, s.dir)
	server, err := url.Parse(env["CLUSTER_ENDPOINT"])
	if err != nil {
		s.Fatal(err)
	}
	d.target = server.Host
	content, err := os.ReadFile(env["CONTROLLER_KUBECONFIG"])
	if err != nil || !strings.Contains(string(content), d.target) {
		s.Fatalf("the controller's kubeconfig does not lead to %s: %v", d.target, err)
	}
	file := filepath.Join(s.TempDir(), "kubeconfig")
	write(s.T, file, strings.ReplaceAll(string(content), d.target, d.listen))
	s.Cleanup(d.close)
	return d, file
}

func (d *door) open() {
	d.story.Helper()
	l, err := net.Listen("tcp", d.listen)
	if err != nil {
		d.story.Fatal(err)
	}
	d.mu.Lock()
	d.listener = l
	d.mu.Unlock()
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return // it was closed
			}
			out, err := net.Dial("tcp", d.target)
			if err != nil {
				_ = in.Close()
				continue
			}
			d.mu.Lock()
			d.passing = append(d.passing, in, out)
			d.mu.Unlock()
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
		}
	}()
}

// close shuts the door, and ends what passes. It may be repeated.
func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listener == nil {
		return
	}
	_ = d.listener.Close()
	for _, c := range d.passing {
		_ = c.Close()
	}
	d.listener, d.passing = nil, nil
}
