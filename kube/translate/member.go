package translate

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Wants is how many pods a workload keeps: what it says, one where it says
// nothing, and none while it is being deleted.
func Wants(workload *metav1.ObjectMeta, replicas *int32) int32 {
	switch {
	case workload.DeletionTimestamp != nil:
		return 0
	case replicas == nil:
		return 1
	}
	return *replicas
}

// FirstOrdinal is the ordinal of the first pod of a StatefulSet.
func FirstOrdinal(set *appsv1.StatefulSet) int32 {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return set.Spec.Ordinals.Start
}

// IsMember reports whether a StatefulSet that keeps so many pods, from the first
// ordinal on, creates the named pod again when it has gone. A name that is not
// made of the set's name and an ordinal is taken for a member's.
func IsMember(pod, set string, first, pods int32) bool {
	digits, named := strings.CutPrefix(pod, set+"-")
	ordinal, err := strconv.ParseInt(digits, 10, 32)
	if !named || err != nil {
		return true
	}
	return ordinal >= int64(first) && ordinal < int64(first)+int64(pods)
}
