package stories_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// report sends a command about instances, which the lab must take.
func (s *story) report(order ...string) string {
	s.Helper()
	return mustLab(s.T, 0, s.dir, "machine", order...).stdout
}

// awaitConsole waits until an instance's console says so.
func (s *story) awaitConsole(instance, words string) {
	s.Helper()
	said := ""
	if !poll(limit, farEvery, func() bool {
		said = s.report("console", instance)
		return strings.Contains(said, words)
	}) {
		s.Fatalf("console says\n%s\nwant %q", said, words)
	}
}

// terminates has an instance that the story launched end with it.
func (s *story) terminates(launched types.Instance) {
	s.Cleanup(func() {
		c, _ := awsOf(s.T, s.dir)
		_, err := ec2.NewFromConfig(c).TerminateInstances(context.Background(), &ec2.TerminateInstancesInput{InstanceIds: []string{*launched.InstanceId}})
		got, ended := lab(context.Background(), s.dir, "kubectl", "delete", "node", *launched.PrivateDnsName, "--ignore-not-found", "--wait=false")
		if err != nil || ended != nil || got.code != 0 {
			s.Errorf("end machine of story: %v, %v %s", err, ended, got.stderr)
		}
	})
}

// joined holds when a node is there and ready.
func joined(name string) func([]*unstructured.Unstructured) bool {
	return func(nodes []*unstructured.Unstructured) bool {
		found := named(nodes, name)
		return len(found) == 1 && hasCondition(found[0], "Ready")
	}
}

// Emulated instances do what instances and their kubelets do, and what commands say;
// commands for all instances to come are given while no other story launches any.
func TestMachines(t *testing.T) {
	t.Parallel()
	for name, happen := range map[string]func(*story){
		"an instance becomes a node": (*story).becomesNode,
		"a machine misbehaves":       (*story).misbehaves,
		"a machine does not join":    (*story).doesNotJoin,
	} {
		t.Run(name, func(t *testing.T) { happen(begin(t, bare)) })
	}
}

// becomesNode launches an instance through the SDK: it boots, joins the cluster
// under the name EC2 gave it, and ends when it is terminated.
func (s *story) becomesNode() {
	s.Helper()
	instance := launch(s.T, s.dir)
	name := *instance.PrivateDnsName
	s.await(name+" to be ready", "v1/Node", joined(name))
	s.await("its provider ID", "v1/Node", func(nodes []*unstructured.Unstructured) bool {
		return strings.HasSuffix(text(named(nodes, name)[0], "spec", "providerID"), "/"+*instance.InstanceId)
	})
	c, _ := awsOf(s.T, s.dir)
	client, ids := ec2.NewFromConfig(c), []string{*instance.InstanceId}
	if _, err := client.TerminateInstances(s.Context(), &ec2.TerminateInstancesInput{InstanceIds: ids}); err != nil {
		s.Fatal(err)
	}
	gone := ec2.NewInstanceTerminatedWaiter(client, func(o *ec2.InstanceTerminatedWaiterOptions) {
		o.MinDelay, o.MaxDelay = 200*time.Millisecond, time.Second
	})
	if err := gone.Wait(s.Context(), &ec2.DescribeInstancesInput{InstanceIds: ids}, limit); err != nil {
		s.Error(err)
	}
	s.drop("v1/Node", name) // as its controller would
}

// misbehaves silences a kubelet: it lets its pods be, and goes on with them when it wakes;
// its node reports what the command says; what happened can be read in the events.
func (s *story) misbehaves() {
	s.Helper()
	instance := launch(s.T, s.dir)
	s.terminates(instance)
	node := *instance.PrivateDnsName
	s.await(node+" to be ready", "v1/Node", joined(node))
	s.deploy("web", 1, on(hostLabel, node), graceful(600))
	s.await("the pod to run", "v1/Pod", of("web", running(1)))

	if said := s.report("silence", node); !strings.Contains(said, *instance.InstanceId) {
		s.Errorf("machine silence %s says %q, want the instance", node, said)
	}
	s.scale("web", 0)
	s.await("the pod to be asked to go, in vain", "v1/Pod", func(pods []*unstructured.Unstructured) bool {
		return len(pods) == 1 && pods[0].GetDeletionTimestamp() != nil
	})
	if list := s.report("list", node); !strings.Contains(list, "silent") {
		s.Errorf("machine list says\n%s\nwant a silent one", list)
	}
	s.report("wake", *instance.InstanceId)
	s.await("the pod to go", "v1/Pod", func(pods []*unstructured.Unstructured) bool { return len(pods) == 0 })

	s.report("condition", node, "KernelDeadlock=True")
	deadlocked := func(want bool) func([]*unstructured.Unstructured) bool {
		return func(nodes []*unstructured.Unstructured) bool {
			return hasCondition(named(nodes, node)[0], "KernelDeadlock") == want
		}
	}
	s.await("the condition", "v1/Node", deadlocked(true))
	s.report("condition", node, "KernelDeadlock-")
	s.await("the condition to go", "v1/Node", deadlocked(false))

	s.awaitEvents(s.namespace, "web-", "Pulled", "Created", "Started", "Killing")
	s.awaitEvents(eventsOfCluster, node, "Starting", "NodeReady")
}

// awaitEvents waits until a kubelet has written all of these events about an object whose
// name begins so.
func (s *story) awaitEvents(namespace, name string, reasons ...string) {
	s.Helper()
	in := *s
	in.namespace = namespace
	in.await("events "+strings.Join(reasons, ", ")+" of "+name, "v1/Event", func(events []*unstructured.Unstructured) bool {
		reported := map[string]bool{}
		for _, e := range events {
			if text(e, "source", "component") == "kubelet" && strings.HasPrefix(text(e, "involvedObject", "name"), name) {
				reported[text(e, "reason")] = true
			}
		}
		for _, reason := range reasons {
			if !reported[reason] {
				return false
			}
		}
		return true
	})
}

// doesNotJoin has an instance never register, and has its role be one that is not mapped:
// its console says why it does not join. It does when all is put right.
func (s *story) doesNotJoin() {
	s.Helper()
	role := "KarpenterNodeRole-" + environment(s.T, s.dir)["CLUSTER_NAME"]
	s.report("next", "m5.*", "--never-register")
	s.account("unmap-role", role)
	instance := launch(s.T, s.dir)
	s.terminates(instance)
	s.awaitConsole(*instance.InstanceId, "keeps this instance from registering")
	s.report("next", "m5.*", "--mend")
	s.report("reboot", *instance.InstanceId)
	s.awaitConsole(*instance.InstanceId, "role "+role+" is not mapped")
	s.account("map-role", role)
	s.await("the node to be ready", "v1/Node", joined(*instance.PrivateDnsName))
}

// account sends a command about the emulated account.
func (s *story) account(order ...string) {
	s.Helper()
	mustLab(s.T, 0, s.dir, "aws", order...)
}
