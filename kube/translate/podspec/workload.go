package podspec

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
)

// Why no pod comes in place of one that is evicted.
const (
	noController = "it has no controller"
	leftBehind   = "its owner is being deleted and leaves it behind"
)

// Workload is what the controller of pods says of which it creates again. It is the
// one rule for that: snapshots ask it by what watches show, and the check right before a
// node is deleted by what the API server has. The zero value is one that is gone: it
// creates none.
type Workload struct {
	pods    int32  // that it wants
	set     bool   // it is a StatefulSet, whose pods have ordinals
	first   int32  // ordinal of the first of them
	orphans bool   // it is being deleted and leaves its pods behind
	job     jobEnd // of a Job: what an evicted pod means to it
}

// OwnerKind makes an empty object of the kind that controls the pod, to be read; nil where none
// does, or one of a kind that is not examined, which is taken to create its pods again.
func OwnerKind(pod *corev1.Pod) client.Object {
	of := metav1.GetControllerOfNoCopy(pod)
	if of == nil {
		return nil
	}
	switch of.APIVersion + "/" + of.Kind {
	case "apps/v1/ReplicaSet":
		return &appsv1.ReplicaSet{}
	case "apps/v1/StatefulSet":
		return &appsv1.StatefulSet{}
	case "v1/ReplicationController":
		return &corev1.ReplicationController{}
	case "batch/v1/Job":
		return &batchv1.Job{}
	}
	return nil
}

// WorkloadOf reads an object of one of those kinds.
func WorkloadOf(owner client.Object) Workload {
	var out Workload
	switch o := owner.(type) {
	case *appsv1.ReplicaSet:
		out.pods = wanted(o.Spec.Replicas)
	case *appsv1.StatefulSet:
		out.pods, out.set = wanted(o.Spec.Replicas), true
		if o.Spec.Ordinals != nil {
			out.first = o.Spec.Ordinals.Start
		}
	case *corev1.ReplicationController:
		out.pods = wanted(o.Spec.Replicas)
	case *batchv1.Job:
		out.pods, out.job = jobWants(o), jobEndOf(o)
	}
	if owner.GetDeletionTimestamp() != nil {
		out.pods, out.orphans = 0, slices.Contains(owner.GetFinalizers(), metav1.FinalizerOrphanDependents)
	}
	return out
}

func wanted(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

// Wants is how many pods the workload keeps; none while it is being deleted.
func (w *Workload) Wants() int32 { return w.pods }

// IsDone reports whether it is as if it were gone.
func (w *Workload) IsDone() bool { return w.pods == 0 && !w.orphans }

// Alike reports whether two states of a workload say the same of the pods that there are,
// however many more it creates.
func (w *Workload) Alike(o *Workload) bool {
	a, b := *w, *o
	if !a.set {
		a.pods, b.pods = min(a.pods, 1), min(b.pods, 1)
	}
	return a == b
}

// IsMember reports whether the workload creates the named pod again, whatever became of
// it. A name that is not made of the name of a StatefulSet and an ordinal is taken for a
// member's.
func (w *Workload) IsMember(pod, workload string) bool {
	if !w.set || w.pods == 0 {
		return w.pods > 0
	}
	digits, named := strings.CutPrefix(pod, workload+"-")
	ordinal, err := strconv.ParseInt(digits, 10, 32)
	if !named || err != nil {
		return true
	}
	return ordinal >= int64(w.first) && ordinal < int64(w.first)+int64(w.pods)
}

// Standing is what a pod itself says of what comes after it is evicted.
type Standing struct {
	MayEnd   bool  // it may be, though nothing does its work again
	Failures int32 // those that count against its index, of a Job that counts them so
}

// StandingOf reads a pod. autoscaler says whether annotations of Cluster Autoscaler count.
func StandingOf(pod *corev1.Pod, autoscaler mark.ClusterAutoscaler) Standing {
	failures, _ := strconv.ParseInt(pod.Annotations[batchv1.JobIndexFailureCountAnnotation], 10, 32)
	return Standing{pod.Annotations[api.AnnotationDoNotDisrupt] == "false" || autoscaler.MayEnd(pod), int32(failures)}
}

// Judge says of a pod on a node, of which Pod said that it returns, whether the workload,
// which has the name, creates another in its place and, where it does not, whether work
// ends with it.
func (w *Workload) Judge(p *cluster.Pod, workload string, says Standing) {
	if !p.Returns {
		return
	}
	if w.orphans {
		ends(p, leftBehind, says)
		return
	}
	if p.Returns = w.IsMember(p.Name, workload); !p.Returns || w.job == (jobEnd{}) {
		return
	}
	if why := w.job.why(says); why != "" {
		ends(p, why, says)
	} else if !says.MayEnd && !w.job.free {
		p.Retries = int(w.job.retries)
	}
}

// ends says of a pod that no other comes in its place, though its work is not done.
func ends(p *cluster.Pod, why string, says Standing) {
	if p.Returns = false; !says.MayEnd && !p.Ending {
		p.OneOff = why
	}
}
