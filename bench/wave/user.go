package wave

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/deploy"
	"github.com/daemok/daemok/examples"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// user is a user of the lab's cluster.
type user struct{ client.WithWatch }

// allowNominations gives the controller the optional right to nominate nodes for pods.
func (u user) allowNominations(ctx context.Context) error {
	for _, text := range bytes.Split(deploy.NominateRBAC, []byte("\n---\n")) {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			return fmt.Errorf("read optional rights: %w", err)
		}
		if err := u.Create(ctx, o); err != nil {
			return fmt.Errorf("create %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// makeWork creates the EC2NodeClass of the examples and a Deployment for each shape.
func (u user) makeWork(ctx context.Context, clusterName string, work *cluster.Snapshot) error {
	text, err := examples.Manifest("v1/ec2nodeclass.yaml", clusterName)
	if err != nil {
		return err
	}
	class := &awsv1.EC2NodeClass{}
	if err := yaml.Unmarshal(text, class); err != nil {
		return fmt.Errorf("read the example of an EC2NodeClass: %w", err)
	}
	if err := u.Create(ctx, class); err != nil {
		return fmt.Errorf("create EC2NodeClass %s: %w", class.Name, err)
	}
	replicas := map[*cluster.Shape]int32{}
	for i := range work.Waiting {
		replicas[work.Waiting[i].Shape]++
	}
	for i, shape := range work.Shapes() {
		if err := u.Create(ctx, deployment(fmt.Sprintf("d%02d", i), shape, replicas[shape])); err != nil {
			return fmt.Errorf("create Deployment d%02d: %w", i, err)
		}
	}
	return nil
}

func deployment(name string, shape *cluster.Shape, replicas int32) *appsv1.Deployment {
	labels, grace := map[string]string{"app": name}, int64(0)
	requests := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(shape.Requests.CPU), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(int64(shape.Requests.Memory), resource.BinarySI),
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: &grace,
					NodeSelector:                  map[string]string{api.LabelNodePool: "default"},
					Containers:                    []corev1.Container{{Name: "c", Image: "pause", Resources: corev1.ResourceRequirements{Requests: requests}}},
				},
			},
		},
	}
}

// makePool creates the NodePool of the examples for these capacity types and sizes. It removes no nodes.
func (u user) makePool(ctx context.Context, capacity []string, vcpuMost int) error {
	text, err := examples.Manifest("v1/nodepool.yaml", "")
	if err != nil {
		return err
	}
	pool := &karpv1.NodePool{}
	if err := yaml.Unmarshal(text, pool); err != nil {
		return fmt.Errorf("read the example of a NodePool: %w", err)
	}
	spec := &pool.Spec.Template.Spec
	for i := range spec.Requirements {
		if spec.Requirements[i].Key == api.LabelCapacityType {
			spec.Requirements[i].Values = capacity
		}
	}
	spec.Requirements = append(spec.Requirements, karpv1.Requirement{Key: api.LabelCPU, Operator: corev1.NodeSelectorOpLt, Values: []string{strconv.Itoa(vcpuMost + 1)}})
	pool.Spec.Limits, pool.Spec.Disruption.ConsolidateAfter = nil, karpv1.Never
	if err := u.Create(ctx, pool); err != nil {
		return fmt.Errorf("create NodePool %s: %w", pool.Name, err)
	}
	return nil
}

// awaitWaiting waits until kube-scheduler has found no node for n pods.
func (u user) awaitWaiting(ctx context.Context, n int) error {
	return u.follow(ctx, n, func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
		})
	}, func() {})
}

// awaitRunning waits until n pods run, and returns after how long each did, sorted.
func (u user) awaitRunning(ctx context.Context, n int) (ran []time.Duration, err error) {
	from := time.Now()
	err = u.follow(ctx, n, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }, func() { ran = append(ran, time.Since(from)) })
	return ran, err
}

// follow watches until n pods are as wanted, and calls seen when each is so for the first time.
func (u user) follow(ctx context.Context, n int, wanted func(*corev1.Pod) bool, seen func()) error {
	// A watch without a revision begins with all pods that there are.
	events, err := u.Watch(ctx, &corev1.PodList{}, client.InNamespace(metav1.NamespaceDefault))
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	defer events.Stop()
	is := map[types.UID]bool{}
	for len(is) < n {
		select {
		case e, open := <-events.ResultChan():
			p, ok := e.Object.(*corev1.Pod)
			if !open || !ok {
				return fmt.Errorf("watch pods: the watch ended with %d of %d: %v", len(is), n, e.Object)
			}
			if !is[p.UID] && wanted(p) {
				is[p.UID] = true
				seen()
			}
		case <-ctx.Done():
			return fmt.Errorf("watch pods: %d of %d are as wanted: %w", len(is), n, ctx.Err())
		}
	}
	return nil
}
