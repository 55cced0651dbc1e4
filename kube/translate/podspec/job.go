package podspec

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Why a Job creates no pod in place of one that is evicted.
const (
	othersSucceeded = "its Job has no completions, and creates no other pod once one has succeeded"
	policyFailsJob  = "its Job fails where a pod is disrupted, by its podFailurePolicy"
	policyFailsPart = "its index fails where a pod is disrupted, by the podFailurePolicy of its Job"
)

// retriesMost is more pods of a Job than are evicted together.
const retriesMost = 1000

// jobEnd is what it means to a Job that one of its pods is evicted. The zero value is
// that of other workloads.
type jobEnd struct {
	free     bool   // nothing: an eviction is no failure
	always   string // why none comes, whatever has failed so far
	retries  int32  // how many more pods may fail before the Job does
	last     string // why none comes where none may
	limited  bool   // failures of an index count by themselves
	perIndex int32  // how many pods of one may fail
}

// why says why no other pod comes in place of one; empty: one does.
func (j *jobEnd) why(says Standing) string {
	switch {
	case j.always != "" || j.free:
		return j.always
	case j.limited && says.Failures >= j.perIndex:
		return fmt.Sprintf("its index fails with one more failed pod: %d failed, and backoffLimitPerIndex of its Job is %d", says.Failures, j.perIndex)
	case j.retries <= 0:
		return j.last
	}
	return ""
}

// jobEndOf reads a Job. The pods of one that is finished or suspended are none that it wants, which
// jobWants reports.
func jobEndOf(o *batchv1.Job) jobEnd {
	out := jobEnd{limited: o.Spec.BackoffLimitPerIndex != nil}
	if out.limited {
		out.perIndex = *o.Spec.BackoffLimitPerIndex
	}
	switch onDisruption(o.Spec.PodFailurePolicy) {
	case batchv1.PodFailurePolicyActionFailJob:
		out.always = policyFailsJob
	case batchv1.PodFailurePolicyActionFailIndex:
		out.always = policyFailsPart
	case batchv1.PodFailurePolicyActionIgnore:
		out.free = true
	}
	if o.Spec.Completions == nil && succeeded(o) > 0 {
		out.always = othersSucceeded
	}
	limit, failed := int32(6), failed(o) // Kubernetes' default
	if o.Spec.BackoffLimit != nil {
		limit = *o.Spec.BackoffLimit
	}
	out.retries = min(max(0, limit-failed), retriesMost)
	if out.retries == 0 {
		out.last = fmt.Sprintf("its Job fails with one more failed pod: %d failed, and its backoffLimit is %d", failed, limit)
	}
	return out
}

// jobWants is how many pods a Job keeps running.
func jobWants(o *batchv1.Job) int32 {
	if o.Spec.Suspend != nil && *o.Spec.Suspend || isDone(o) {
		return 0
	}
	n := wanted(o.Spec.Parallelism)
	if o.Spec.Completions != nil {
		n = min(n, *o.Spec.Completions-succeeded(o))
	}
	return max(0, n)
}

// isDone reports whether the Job has ended, or is about to: it ends its pods then.
func isDone(o *batchv1.Job) bool {
	return slices.ContainsFunc(o.Status.Conditions, func(c batchv1.JobCondition) bool {
		switch c.Type {
		case batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet:
			return c.Status == corev1.ConditionTrue
		}
		return false
	})
}

func succeeded(o *batchv1.Job) int32 {
	n := o.Status.Succeeded
	if u := o.Status.UncountedTerminatedPods; u != nil {
		n += int32(len(u.Succeeded))
	}
	return n
}

// failed counts the pods that have failed, and those that end and will have.
func failed(o *batchv1.Job) int32 {
	n := o.Status.Failed
	if u := o.Status.UncountedTerminatedPods; u != nil {
		n += int32(len(u.Failed))
	}
	if p := o.Spec.PodReplacementPolicy; p != nil && *p == batchv1.Failed && o.Status.Terminating != nil {
		n += *o.Status.Terminating // they do not count before they have ended
	}
	return n
}

// onDisruption is what is done with a pod that fails since it was evicted: by the first rule about
// the condition DisruptionTarget, or by one before it that may be about the exit codes of a
// container that was signalled to end, whichever is worst.
func onDisruption(policy *batchv1.PodFailurePolicy) batchv1.PodFailurePolicyAction {
	worst := batchv1.PodFailurePolicyActionIgnore
	if policy == nil {
		return batchv1.PodFailurePolicyActionCount
	}
	order := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount,
		batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionFailJob}
	worse := func(a batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyAction {
		return order[max(slices.Index(order, worst), slices.Index(order, a))]
	}
	for i := range policy.Rules {
		r := &policy.Rules[i]
		if slices.ContainsFunc(r.OnPodConditions, isDisruption) {
			return worse(r.Action)
		}
		if r.OnExitCodes != nil && mayMeanEnd(r.OnExitCodes) {
			worst = worse(r.Action)
		}
	}
	return worse(batchv1.PodFailurePolicyActionCount)
}

func isDisruption(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
	return c.Type == corev1.DisruptionTarget && (c.Status == "" || c.Status == corev1.ConditionTrue)
}

// mayMeanEnd reports whether a rule may be about a container that was signalled to end, with
// SIGTERM or, later, SIGKILL.
func mayMeanEnd(r *batchv1.PodFailurePolicyOnExitCodesRequirement) bool {
	const sigTerm, sigKill = 128 + 15, 128 + 9
	term, kill := slices.Contains(r.Values, sigTerm), slices.Contains(r.Values, sigKill)
	if r.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn {
		return !term || !kill
	}
	return term || kill
}
