package translate

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// forPodsMost is how many pods a claim lists: about 4 kB.
const forPodsMost = 100

// forPods is the annotation daemok.sh/for-pods of a claim that is made for the pods.
func forPods(pods []cluster.Pod) string {
	uids := make([]string, 0, len(pods))
	for i := range pods[:min(len(pods), forPodsMost)] {
		uids = append(uids, pods[i].UID)
	}
	if more := len(pods) - forPodsMost; more > 0 {
		uids = append(uids, fmt.Sprintf("+%d", more))
	}
	return strings.Join(uids, ",")
}

// ForPods lists the UIDs of pods that a claim was made for, in the order in which it
// says them. all is false where it does not say, or does not list them all.
func ForPods(claim *karpv1.NodeClaim) (uids []string, all bool) {
	text, said := claim.Annotations[api.AnnotationForPods]
	if text == "" {
		return nil, said
	}
	uids = strings.Split(text, ",")
	if last := len(uids) - 1; strings.HasPrefix(uids[last], "+") {
		return uids[:last], false
	}
	return uids, true
}

// forRequests is the annotation daemok.sh/for-provisioning-requests of a claim that is made for virtual pods of
// such; empty: it is made for none.
func forRequests(of []plan.VirtualPods) string {
	var names []string
	for _, x := range of {
		if x.Booked() {
			names = append(names, x.Namespace+"/"+x.Name)
		}
	}
	return strings.Join(names, ",")
}

// ForRequests lists the ProvisioningRequests that a claim was made for, as namespace/name.
func ForRequests(claim *karpv1.NodeClaim) []string {
	text := claim.Annotations[api.AnnotationForRequests]
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
