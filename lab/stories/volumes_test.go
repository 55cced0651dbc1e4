package stories_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A node runs pods with as many volumes as its driver says, however many pods it has room for: the next waits for
// another instance. A pod that is put there past the scheduler does not get its volume, and an event says why.
func TestNodesTakeNoMoreVolumesThanTheirDriverSays(t *testing.T) {
	t.Parallel()
	const taken = 26 // by an m5.large: 28 places, less its interface and its root volume
	s := begin(t, shared)
	s.pool("")
	disks := func(pods int32) {
		s.deploy("disks", pods, from(s.namespace), on("node.kubernetes.io/instance-type", "m5.large"), withDisk("gp3", "1Gi"))
	}
	disks(taken)
	s.await("one machine to run all pods", "v1/Pod", of("disks", runningOn(taken, 1)))
	var full string
	for node := range nodesOf(s.list("v1/Pod")) {
		full = node
	}
	disks(taken + 1)
	s.await("the next pod to run on another", "v1/Pod", of("disks", runningOn(taken+1, 2)))
	s.apply(fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: forced, annotations: {volume.kubernetes.io/selected-node: %[1]q}}
spec: {accessModes: [ReadWriteOnce], storageClassName: gp3, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: forced}
spec:
  nodeName: %[1]q
  containers: [{name: main, image: any}]
  volumes: [{name: disk, persistentVolumeClaim: {claimName: forced}}]
`, full))
	s.await("the pod to be told", "v1/Event", func(events []*unstructured.Unstructured) bool {
		return slices.ContainsFunc(events, func(e *unstructured.Unstructured) bool {
			return text(e, "involvedObject", "name") == "forced" && text(e, "reason") == "FailedAttachVolume" && strings.Contains(text(e, "message"), "AttachmentLimitExceeded")
		})
	})
}
