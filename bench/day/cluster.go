package day

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/test/sim"
)

// How pods of the lab behave, as those of simulations do.
const (
	readyAfter   = "lab.daemok.sh/ready-after"
	succeedAfter = "lab.daemok.sh/succeed-after"
	stopAfter    = "lab.daemok.sh/stop-after"
	stopsIn      = "10s"
)

// user is a user of the lab's cluster.
type user struct{ client.WithWatch }

func (u user) make(ctx context.Context, o client.Object) error {
	if err := u.Create(ctx, o); err != nil {
		return fmt.Errorf("create %T %s: %w", o, o.GetName(), err)
	}
	return nil
}

// serve makes a Deployment without pods for a service, with its PodDisruptionBudget.
func (u user) serve(ctx context.Context, s *sim.Service) error {
	labels, none := map[string]string{"app": s.Name}, int32(0)
	selector := &metav1.LabelSelector{MatchLabels: labels}
	template := podOf(s.Shape, labels)
	template.Annotations[readyAfter] = s.Starts.String()
	err := u.make(ctx, &appsv1.Deployment{ObjectMeta: named(s.Name), Spec: appsv1.DeploymentSpec{Replicas: &none, Selector: selector, Template: template}})
	if err != nil || s.MaxUnavailable < 0 {
		return err
	}
	most := intstr.FromInt(int(s.MaxUnavailable))
	return u.make(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: named(s.Name), Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector, MaxUnavailable: &most}})
}

// scale has a Deployment have so many replicas.
func (u user) scale(ctx context.Context, name string, count int) error {
	d := &appsv1.Deployment{ObjectMeta: named(name)}
	if err := u.Patch(ctx, d, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, count))); err != nil {
		return fmt.Errorf("scale Deployment %s to %d: %w", name, count, err)
	}
	return nil
}

// run makes a Job whose pod runs for so long.
func (u user) run(ctx context.Context, j *sim.Job) error {
	template, retries := podOf(j.Shape, map[string]string{"app": j.Name}), int32(100)
	template.Annotations[succeedAfter] = j.Length.String()
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return u.make(ctx, &batchv1.Job{ObjectMeta: named(j.Name), Spec: batchv1.JobSpec{Template: template, BackoffLimit: &retries}})
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}
}

// podOf is a pod of a shape that simulations read.
func podOf(shape *cluster.Shape, labels map[string]string) corev1.PodTemplateSpec {
	grace := int64(time.Minute / time.Second)
	selector := &metav1.LabelSelector{MatchLabels: labels}
	out := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{stopAfter: stopsIn}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			NodeSelector:                  map[string]string{api.LabelNodePool: "default"},
			Containers: []corev1.Container{{Name: "c", Image: "pause", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(shape.Requests.CPU), resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(int64(shape.Requests.Memory), resource.BinarySI),
			}}}},
		},
	}
	for _, s := range shape.Spread {
		out.Spec.TopologySpreadConstraints = append(out.Spec.TopologySpreadConstraints,
			corev1.TopologySpreadConstraint{TopologyKey: s.Key, MaxSkew: s.MaxSkew, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector})
	}
	for _, n := range shape.Neighbours {
		out.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: n.Key, LabelSelector: selector}}}}
	}
	return out
}
