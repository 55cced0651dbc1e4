package podspec

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

// What a Job does when one of its pods is evicted: that pod counts as failed, unless its
// podFailurePolicy says otherwise.
func TestAnotherPodOfAJob(t *testing.T) {
	const again = ""
	onDisruption := func(a batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: a, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}}
	}
	onExit := func(a batchv1.PodFailurePolicyAction, op batchv1.PodFailurePolicyOnExitCodesOperator, codes ...int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: a, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: op, Values: codes}}
	}
	rules := func(limit int32, list ...batchv1.PodFailurePolicyRule) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Spec.BackoffLimit, j.Spec.PodFailurePolicy = &limit, &batchv1.PodFailurePolicy{Rules: list}
		}
	}
	limit := func(n, failed int32) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Spec.BackoffLimit, j.Status.Failed = &n, failed }
	}
	perIndex := func(n int32) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex, j.Spec.BackoffLimit = &n, new(int32(1<<31-1)) }
	}
	done := func(c batchv1.JobConditionType) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: c, Status: corev1.ConditionTrue}}
		}
	}
	type want struct {
		returns bool
		oneOff  string // a part of it
		retries int
	}
	unwanted := want{}
	for name, tt := range map[string]struct {
		job  func(*batchv1.Job)
		says map[string]string
		want want
	}{
		"six may fail unless it says so":          {func(*batchv1.Job) {}, nil, want{true, again, 6}},
		"none may fail":                           {limit(0, 0), nil, want{false, "backoffLimit is 0", 0}},
		"one of four failed":                      {limit(4, 1), nil, want{true, again, 3}},
		"all that may have failed":                {limit(4, 4), nil, want{false, "4 failed, and its backoffLimit is 4", 0}},
		"more may fail than are evicted together": {limit(1<<31-1, 0), nil, want{true, again, retriesMost}},
		"the last that may failed and is not counted yet": {func(j *batchv1.Job) {
			limit(1, 0)(j)
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: []types.UID{"u"}}
		}, nil, want{false, "backoffLimit", 0}},
		"one ends, which counts at once": {func(j *batchv1.Job) { limit(2, 1)(j); j.Status.Terminating = new(int32(1)) }, nil, want{true, again, 1}},
		"one ends, which counts when it has failed": {func(j *batchv1.Job) {
			limit(2, 1)(j)
			j.Status.Terminating, j.Spec.PodReplacementPolicy = new(int32(1)), new(batchv1.Failed)
		}, nil, want{false, "backoffLimit", 0}},
		"its user lets it end":                             {limit(0, 0), map[string]string{api.AnnotationDoNotDisrupt: "false"}, want{}},
		"its user lets it end, and another comes":          {limit(4, 0), map[string]string{api.AnnotationDoNotDisrupt: "false"}, want{true, again, 0}},
		"evictions are ignored":                            {rules(0, onDisruption(batchv1.PodFailurePolicyActionIgnore)), nil, want{true, again, 0}},
		"evictions are counted":                            {rules(0, onDisruption(batchv1.PodFailurePolicyActionCount)), nil, want{false, "backoffLimit", 0}},
		"evictions fail the Job":                           {rules(6, onDisruption(batchv1.PodFailurePolicyActionFailJob)), nil, want{false, "podFailurePolicy", 0}},
		"evictions fail the index":                         {rules(6, onDisruption(batchv1.PodFailurePolicyActionFailIndex)), nil, want{false, "its index fails", 0}},
		"a policy about other conditions":                  {rules(2, batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "ConfigIssue"}}}), nil, want{true, again, 2}},
		"another exit code fails the Job before":           {rules(0, onExit(batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyOnExitCodesOpIn, 42), onDisruption(batchv1.PodFailurePolicyActionIgnore)), nil, want{true, again, 0}},
		"that of an evicted container fails the Job first": {rules(6, onExit(batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyOnExitCodesOpIn, 1, 143), onDisruption(batchv1.PodFailurePolicyActionIgnore)), nil, want{false, "podFailurePolicy", 0}},
		"all exit codes but one fail the Job first":        {rules(6, onExit(batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyOnExitCodesOpNotIn, 3), onDisruption(batchv1.PodFailurePolicyActionIgnore)), nil, want{false, "podFailurePolicy", 0}},
		"an ignored exit code may not be the one":          {rules(0, onExit(batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyOnExitCodesOpIn, 143)), nil, want{false, "backoffLimit", 0}},
		"an index that may fail once more":                 {perIndex(2), map[string]string{batchv1.JobIndexFailureCountAnnotation: "1"}, want{true, again, retriesMost}},
		"an index that may not fail again":                 {perIndex(2), map[string]string{batchv1.JobIndexFailureCountAnnotation: "2"}, want{false, "2 failed, and backoffLimitPerIndex of its Job is 2", 0}},
		"an index that may not fail at all":                {perIndex(0), nil, want{false, "backoffLimitPerIndex", 0}},
		"it is suspended":                                  {func(j *batchv1.Job) { j.Spec.Suspend = new(true) }, nil, unwanted},
		"it is complete":                                   {done(batchv1.JobComplete), nil, unwanted},
		"it has failed":                                    {done(batchv1.JobFailed), nil, unwanted},
		"it is about to have failed":                       {done(batchv1.JobFailureTarget), nil, unwanted},
		"as many succeeded as it wants":                    {func(j *batchv1.Job) { j.Spec.Completions, j.Status.Succeeded = new(int32(3)), 3 }, nil, unwanted},
		"more are to succeed":                              {func(j *batchv1.Job) { j.Spec.Completions, j.Status.Succeeded = new(int32(3)), 2 }, nil, want{true, again, 6}},
		"it wants none at a time":                          {func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(0)) }, nil, unwanted},
		"one of a work queue succeeded":                    {func(j *batchv1.Job) { j.Spec.Parallelism, j.Status.Succeeded = new(int32(3)), 1 }, nil, want{false, "no completions", 0}},
		"it is being deleted":                              {func(j *batchv1.Job) { j.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, nil, unwanted},
		"it is being deleted and leaves its pods": {func(j *batchv1.Job) {
			j.DeletionTimestamp, j.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{metav1.FinalizerOrphanDependents}
		}, nil, want{false, "leaves it behind", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			job := &batchv1.Job{}
			tt.job(job)
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: tt.says}}
			out := cluster.Pod{Returns: true, Node: "n"}
			w := WorkloadOf(job)
			w.Judge(&out, "job", StandingOf(p, false))
			if out.Returns != tt.want.returns || (out.OneOff == "") != (tt.want.oneOff == "") || !strings.Contains(out.OneOff, tt.want.oneOff) || out.Retries != tt.want.retries {
				t.Errorf("it returns: %v, or not since %q, %d may fail; want %+v", out.Returns, out.OneOff, out.Retries, tt.want)
			}
		})
	}
}

// Kinds of other groups may have the same names.
func TestOwnersAreKnownByTheirGroups(t *testing.T) {
	for of, want := range map[[2]string]client.Object{
		{"batch/v1", "Job"}: &batchv1.Job{}, {"apps/v1", "StatefulSet"}: &appsv1.StatefulSet{}, {"v1", "ReplicationController"}: &corev1.ReplicationController{},
		{"batch.volcano.sh/v1alpha1", "Job"}: nil, {"apps.kruise.io/v1beta1", "StatefulSet"}: nil, {"argoproj.io/v1alpha1", "Workflow"}: nil,
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", OwnerReferences: []metav1.OwnerReference{{APIVersion: of[0], Kind: of[1], Name: "o", Controller: new(true)}}}, Spec: corev1.PodSpec{NodeName: "n"}}
		if got := OwnerKind(p); (got == nil) != (want == nil) {
			t.Errorf("of %v the kind is %T, want %T", of, got, want)
		}
		if out := Pod(p, time.Unix(1, 0), false); !out.Returns || out.OneOff != "" {
			t.Errorf("a pod of %v is taken for %+v, want one that returns until its owner says otherwise", of, out)
		}
	}
}

// A pod without a controller is gone for good once it is evicted from its node. One that
// waits for a node is not evicted.
func TestAPodWithoutAController(t *testing.T) {
	bare := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{NodeName: "n"}}
		change(p)
		return p
	}
	for name, tt := range map[string]struct {
		pod             *corev1.Pod
		returns, oneOff bool
	}{
		"it runs":              {bare(func(*corev1.Pod) {}), false, true},
		"it waits":             {bare(func(p *corev1.Pod) { p.Spec.NodeName = "" }), true, false},
		"it ends":              {bare(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }), false, false},
		"it is done":           {bare(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), false, false},
		"its user lets it end": {bare(func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "false"} }), false, false},
		"it is static":         {bare(func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "m"} }), false, false},
		"its owner is no controller of it": {bare(func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "c"}}
		}), false, true},
	} {
		if got := Pod(tt.pod, time.Unix(1, 0), false); got.Returns != tt.returns || (got.OneOff != "") != tt.oneOff {
			t.Errorf("%s: it returns: %v, %q; want %v, and a reason: %v", name, got.Returns, got.OneOff, tt.returns, tt.oneOff)
		}
	}
}
