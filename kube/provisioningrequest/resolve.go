// Package provisioningrequest reads ProvisioningRequests: whether they are to be served, which pods they ask
// capacity for, and for how long.
//
// It reads what a request names, and nothing else. It promises to leave alone requests of other provisioning
// classes, and those for another autoscaler. What admission adds to the pods, and where they have room, others
// find out.
package provisioningrequest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	v1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/virtual"
)

const (
	// BookedFor is for how long capacity is kept once there is some for all pods, as by Cluster Autoscaler.
	BookedFor = 10 * time.Minute
	// validFor is for how long capacity is sought where a request does not say, as by Cluster Autoscaler.
	validFor = 7 * 24 * time.Hour
)

// ClassServed reports whether requests of the provisioning class are Daemok's.
func ClassServed(class string) bool {
	return class == v1.ClassCheckCapacity || class == v1.ClassBestEffortAtomic
}

// Ours reports whether the request is to be served by the autoscaler of this name; empty: by the one that serves requests
// which name none.
func Ours(r *v1.ProvisioningRequest, instance string) bool {
	return r.DeletionTimestamp == nil && ClassServed(r.Spec.ProvisioningClassName) &&
		string(r.Spec.Parameters[v1.ParameterProcessorInstance]) == instance
}

// ValidUntil is when capacity is sought no longer. A parameter that cannot be read is an error.
func ValidUntil(r *v1.ProvisioningRequest) (time.Time, error) {
	text, said := r.Spec.Parameters[v1.ParameterValidUntilSeconds]
	if !said {
		return r.CreationTimestamp.Add(validFor), nil
	}
	seconds, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || seconds <= 0 {
		return time.Time{}, fmt.Errorf(
			"spec.parameters.%s is %q: write a whole number of seconds above 0, and create the request again",
			v1.ParameterValidUntilSeconds, text)
	}
	return r.CreationTimestamp.Add(time.Duration(seconds) * time.Second), nil
}

// Invalid says why no plan can serve the request as it is written, and what to do; empty: some can.
func Invalid(r *v1.ProvisioningRequest) string {
	if _, err := ValidUntil(r); err != nil {
		return err.Error()
	}
	pods := int64(0)
	for _, set := range r.Spec.PodSets {
		pods += int64(set.Count)
	}
	if pods > cluster.ProvisioningRequestPodsMax {
		return fmt.Sprintf("spec.podSets ask capacity for %d pods, and %d is the most of one request: split it",
			pods, cluster.ProvisioningRequestPodsMax)
	}
	return ""
}

// Resolved is a ProvisioningRequest with what its pods are made from.
type Resolved struct {
	Object   *v1.ProvisioningRequest
	Pods     []*corev1.Pod // one of each pod set; none: NotReady says why
	NotReady virtual.Refusal
}

// Resolve reads the templates that the request names. An error is one of reading, after which it is to be tried again.
func Resolve(ctx context.Context, from client.Reader, r *v1.ProvisioningRequest) (Resolved, error) {
	out := Resolved{Object: r}
	for i := range r.Spec.PodSets {
		pod, why, err := podOf(ctx, from, r, r.Spec.PodSets[i].PodTemplateRef.Name)
		if err != nil {
			return out, fmt.Errorf("resolve ProvisioningRequest %s: %w", client.ObjectKeyFromObject(r), err)
		}
		if pod == nil {
			out.Pods, out.NotReady = nil, why
			return out, nil
		}
		out.Pods = append(out.Pods, pod)
	}
	return out, nil
}

// podOf is the pod of a template; nil: why says why there is none.
func podOf(
	ctx context.Context, from client.Reader, r *v1.ProvisioningRequest, name string,
) (pod *corev1.Pod, why virtual.Refusal, err error) {
	key := client.ObjectKey{Namespace: r.Namespace, Name: name}
	template := &corev1.PodTemplate{}
	switch err := from.Get(ctx, key, template); {
	case apierrors.IsNotFound(err):
		why.Reason = v1.ReasonPodTemplateNotFound
		why.Message = fmt.Sprintf("PodTemplate %s is not there: create it", key)
		return nil, why, nil
	case apierrors.IsForbidden(err):
		why.Reason = v1.ReasonResolutionFailed
		why.Message = fmt.Sprintf(
			"PodTemplate %s may not be read: allow the controller to get podtemplates: %v", key, err)
		return nil, why, nil
	case err != nil:
		return nil, why, fmt.Errorf("read PodTemplate %s: %w", key, err)
	}
	pod = virtual.Pod(plan.KindRequest, r, &template.Template)
	text, err := virtual.Prioritise(ctx, from, pod)
	if err != nil || text != "" {
		return nil, virtual.Refusal{Reason: v1.ReasonResolutionFailed, Message: text}, err
	}
	return pod, why, nil
}

// ProvisionedAt is when there was capacity for all pods of the request; zero: there was none yet.
func ProvisionedAt(r *v1.ProvisioningRequest) time.Time {
	c := condition.Get(r, v1.RequestProvisioned)
	if c == nil || c.Status != metav1.ConditionTrue {
		return time.Time{}
	}
	return c.LastTransitionTime.Time
}

// Over says why no capacity of the request is sought or kept any more; empty: it is.
func Over(r *v1.ProvisioningRequest) string {
	for _, kind := range []string{v1.RequestFailed, v1.RequestCapacityRevoked, v1.RequestBookingExpired} {
		if c := condition.Get(r, kind); c != nil && c.Status == metav1.ConditionTrue {
			return kind + ": " + c.Message
		}
	}
	return ""
}

// Consumed names the ProvisioningRequest, of the pod's namespace, that a pod consumes; empty: none of Daemok's classes.
func Consumed(pod *corev1.Pod) string {
	name, class := pod.Annotations[api.AnnotationConsumesRequest], pod.Annotations[api.AnnotationProvisioningClass]
	if name == "" {
		name = pod.Annotations[api.AnnotationConsumesRequestOld]
		class = pod.Annotations[api.AnnotationProvisioningClassOld]
	}
	if class != "" && !ClassServed(class) {
		return ""
	}
	return name
}
