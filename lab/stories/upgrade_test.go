package stories_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Two replicas of one build are replaced by two of another, one after the other as a Deployment does it, while pods
// come at each step: as many instances are launched as there are pods to need one, none is terminated, every pod runs,
// and no node is taken for one of another form.
func TestAfterMinutesOfAnUpgradeUnderLoad(t *testing.T) {
	aboutMinutes(t)
	t.Parallel()
	next := buildOf(t, "next")
	s := begin(t, ownLab(t, "--controller=false"))
	old := s.run("old-1")
	old.awaitLeader(limit)
	standby := s.run("old-2")
	s.pool(template(s.namespace, `{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}`, `{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}`) + "\ndisruption: {consolidateAfter: Never}")
	const each = 6
	load := func(wave string) { s.workload(wave, s.namespace, "1500m", each) }

	load("before")
	first := s.runBuild(next, "next-1")
	s.await("the first claims", claims, func(seen []*unstructured.Unstructured) bool { return len(inPool(seen, s.namespace)) > 0 })
	load("during-the-first")
	old.signal(syscall.SIGTERM) // as it launches
	old.awaitEnd(limit)
	load("between")
	second := s.runBuild(next, "next-2")
	load("during-the-second")
	standby.signal(syscall.SIGTERM)
	standby.awaitEnd(limit)
	load("after")

	waves := []string{"before", "during-the-first", "between", "during-the-second", "after"}
	for _, wave := range waves {
		s.awaitFor(3*limit, "pods of "+wave+" to run", "v1/Pod", of(wave, running(each)))
	}
	s.nothingTwice()
	ever := instances(t, s.dir, map[string][]string{poolTag: {s.namespace}}) // those that have ended too
	if want := each * len(waves); len(ever) != want || len(poolInstances(t, s.dir, s.namespace)) != want {
		t.Errorf("%d instances were launched for %d pods that need one each: %s", len(ever), want, describeInstances(ever))
	}
	if !s.leads(first) && !s.leads(second) {
		t.Error("none of the new build's replicas leads")
	}
	class := named(s.list(classes), s.namespace)[0]
	if noted := class.GetAnnotations()["daemok.sh/launch-forms"]; !strings.Contains(noted, "+next") {
		t.Errorf("the class was not looked at by the new build: %s", noted)
	}
	if says := fmt.Sprint(class.Object["status"]); strings.Contains(says, "LaunchTemplateChanged") {
		t.Errorf("the class warns though both builds render it alike: %s", says)
	}
}

// An upgrade to a build that writes one setting of launch templates otherwise: the nodes that are there stay, the class
// says what differs until the last of them is gone, and the command of the build that is run says how many there are.
func TestAfterMinutesOfAnUpgradeThatChangesNewNodes(t *testing.T) {
	aboutMinutes(t)
	t.Parallel()
	next := buildOf(t, "next", edit{"cloud/aws/fleet/template.go", "LaunchTemplateInstanceMetadataTagsStateDisabled", "LaunchTemplateInstanceMetadataTagsStateEnabled"})
	s := begin(t, ownLab(t, "--controller=false"))
	const secret = "what-only-nodes-may-read"
	old := s.run("old")
	s.class(s.namespace, `userData: "#!/bin/bash\necho `+secret+`\n"`)
	s.poolOf(s.namespace, s.namespace, "disruption: {consolidateAfter: Never}")
	s.workload("before", s.namespace, "1500m", 3)
	s.await("pods of before to run", "v1/Pod", of("before", running(3)))
	before := poolInstances(t, s.dir, s.namespace)

	s.runBuild(next, "next")
	old.signal(syscall.SIGTERM)
	old.awaitEnd(limit)
	const changed = "daemok.sh/LaunchTemplateChanged"
	s.awaitCondition(classes, s.namespace, changed, "True", "RenderedOtherwise", "+next", "MetadataOptions.InstanceMetadataTags;")
	s.awaitCondition(classes, s.namespace, "Ready", "True")
	s.workload("after", s.namespace, "1500m", 2)
	s.await("pods of after to run", "v1/Pod", of("after", running(2)))
	after := poolInstances(t, s.dir, s.namespace)
	for _, i := range before {
		if !slices.ContainsFunc(after, func(o types.Instance) bool { return *o.InstanceId == *i.InstanceId }) {
			t.Errorf("instance %s was replaced", *i.InstanceId)
		}
	}
	said := s.planUpgrade()
	for _, words := range []string{
		"+next, which runs now, makes another launch template or user data (" + nodes(len(after)-len(before)) + " launched with them", "- MetadataOptions.InstanceMetadataTags: enabled", "+ MetadataOptions.InstanceMetadataTags: disabled",
		nodes(len(before)) + " of the earlier build ",
	} {
		if !strings.Contains(said, words) {
			t.Errorf("daemok plan --upgrade does not print %q but\n%s", words, said)
		}
	}
	events := mustKubectl(t, s.dir, "get", "events", "-A", "-o", "jsonpath={.items[*].message}")
	if says := fmt.Sprint(named(s.list(classes), s.namespace)[0].Object["status"], events, string(s.said("next"))); strings.Contains(says, secret) || !strings.Contains(events, "MetadataOptions.InstanceMetadataTags") {
		t.Errorf("status, events and log have the user data's secret, or no event names the setting: %s", says)
	}
	mustKubectl(t, s.dir, "delete", "nodeclaims", "--all")
	s.awaitFor(3*limit, "the class to warn no more", classes, func(seen []*unstructured.Unstructured) bool {
		return len(named(seen, s.namespace)) == 1 && !strings.Contains(fmt.Sprint(named(seen, s.namespace)[0].Object["status"]), changed)
	})
}

// nodes counts nodes as a sentence does.
func nodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// planUpgrade is what the command says of an upgrade to the build that it is of.
func (s *story) planUpgrade() string {
	s.Helper()
	said, err := exec.CommandContext(s.Context(), program("daemok"), "plan", "--upgrade", "--kubeconfig", filepath.Join(s.dir, "kubeconfig")).CombinedOutput()
	if err != nil {
		s.Fatalf("daemok plan --upgrade: %v\n%s", err, said)
	}
	return string(said)
}

// said is what a controller that the story runs has logged.
func (s *story) said(controller string) []byte {
	s.Helper()
	content, err := os.ReadFile(filepath.Join(s.dir, "logs", controller))
	if err != nil {
		s.Fatal(err)
	}
	return content
}

// edit replaces a text of one file of the repository.
type edit struct{ file, old, new string }

// buildOf builds the controller as another commit, from sources that are edited.
func buildOf(t *testing.T, commit string, edits ...edit) string {
	t.Helper()
	folder := t.TempDir()
	path, overlay := filepath.Join(folder, "daemok-controller"), map[string]string{}
	for n, e := range edits {
		content, err := os.ReadFile(filepath.Join(repository(), e.file))
		if err != nil || !strings.Contains(string(content), e.old) {
			t.Fatalf("%s has no %q to edit: %v", e.file, e.old, err)
		}
		overlay[filepath.Join(repository(), e.file)] = filepath.Join(folder, fmt.Sprint(n, ".go"))
		write(t, filepath.Join(folder, fmt.Sprint(n, ".go")), strings.ReplaceAll(string(content), e.old, e.new))
	}
	replaced, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "overlay.json"), string(replaced))
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-overlay", filepath.Join(folder, "overlay.json"),
		"-ldflags", "-X github.com/daemok/daemok/internal/version.commit="+commit, "-o", path, "./cmd/daemok-controller")
	command.Dir = repository()
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build the controller: %v\n%s", err, said)
	}
	return path
}

// leads reports whether the controller holds the lease.
func (s *story) leads(c *controller) bool {
	s.Helper()
	holder := mustKubectl(s.T, s.dir, "-n", "kube-system", "get", "lease", "karpenter-leader-election", "-o", "jsonpath={.spec.holderIdentity}")
	return strings.Contains(holder, fmt.Sprintf("_%d_", c.command.Process.Pid))
}
