package stories_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const standing = "standing"

// onStanding keeps pods on the nodes that stand without a pool.
func onStanding() preference { return on("eks.amazonaws.com/nodegroup", standing) }

// nodesOf returns the nodes on which pods are, each once.
func nodesOf(pods []*unstructured.Unstructured) map[string]int {
	nodes := map[string]int{}
	for _, p := range pods {
		if node := text(p, "spec", "nodeName"); node != "" {
			nodes[node]++
		}
	}
	return nodes
}

// runningOn holds when n pods run, on as many different nodes as said.
func runningOn(n, nodes int) func([]*unstructured.Unstructured) bool {
	return func(pods []*unstructured.Unstructured) bool { return running(n)(pods) && len(nodesOf(pods)) == nodes }
}

// Pods of every kind that pools must serve later run on the nodes that stand:
// with volumes that are made in their zone and attached, a port of the node,
// spread over zones, together and apart, and with priority.
func TestStandingNodesRunPodsOfEveryKind(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.priority(s.namespace, 1000)
	s.stateful("db", 2, "gp3", "3Gi", onStanding())
	s.deploy("scratch", 1, onStanding(), withDisk("gp3", "1Gi"))
	s.deploy("port", 2, onStanding(), onPort(8080))
	s.deploy("spread", 4, spreadOver(zoneLabel), onStanding())
	s.deploy("lone", 2, apart(hostLabel), onStanding())
	s.deploy("friend", 1, beside(hostLabel, "lone"), onStanding())
	s.deploy("first", 1, ofPriority(s.namespace), onStanding())
	s.deploy("addon", 1, tolerating("CriticalAddonsOnly"), on("eks.amazonaws.com/nodegroup", "system"))
	for app, holds := range map[string]func([]*unstructured.Unstructured) bool{
		"db": running(2), "scratch": running(1), "port": runningOn(2, 2), "spread": runningOn(4, 2), "lone": runningOn(2, 2),
		"friend": running(1), "first": running(1), "addon": running(1),
	} {
		s.await("pods of "+app+" to run as they want", "v1/Pod", of(app, holds))
	}
	s.await("every claim to have its volume", "v1/PersistentVolumeClaim", func(all []*unstructured.Unstructured) bool {
		bound := 0
		for _, c := range all {
			if text(c, "status", "phase") == "Bound" {
				bound++
			}
		}
		return bound == 3
	})
}

// Pods end as their annotations say: done, failed, or in their own time after
// they were asked to go.
func TestPodsEndAsAsked(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.apply(`
apiVersion: batch/v1
kind: Job
metadata: {name: good}
spec:
  template:
    metadata: {annotations: {lab.daemok.sh/succeed-after: 1s}}
    spec: {restartPolicy: Never, containers: [{name: main, image: any}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: bad}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {lab.daemok.sh/fail-after: 1s}}
    spec: {restartPolicy: Never, containers: [{name: main, image: any}]}
`)
	s.deploy("slow", 1, onStanding(), graceful(600), noted("lab.daemok.sh/stop-after", "2s"))
	s.await("the slow pod to run", "v1/Pod", of("slow", running(1)))
	s.deploy("slow", 0, onStanding(), graceful(600), noted("lab.daemok.sh/stop-after", "2s"))
	s.await("the slow pod to be asked to go", "v1/Pod", of("slow", func(pods []*unstructured.Unstructured) bool {
		return len(pods) == 1 && pods[0].GetDeletionTimestamp() != nil
	}))
	s.await("the slow pod to go", "v1/Pod", of("slow", func(pods []*unstructured.Unstructured) bool { return len(pods) == 0 }))
	for job, condition := range map[string]string{"good": "Complete", "bad": "Failed"} {
		s.await("job "+job+" to be "+condition, "batch/v1/Job", func(jobs []*unstructured.Unstructured) bool {
			found := named(jobs, job)
			return len(found) == 1 && hasCondition(found[0], condition)
		})
	}
}

func hasCondition(o *unstructured.Unstructured, kind string) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == kind && c["status"] == "True" {
			return true
		}
	}
	return false
}
