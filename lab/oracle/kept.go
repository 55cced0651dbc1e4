package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
)

// kept draws what is kept whatever pods wait: static pools, and a CapacityBuffer. Its dice are its own.
func (g *generator) kept() {
	own := &generator{dice: dice{rand.New(rand.NewPCG(g.Seed, 39))}, World: g.World, features: g.features,
		drivers: &drivers{}}
	if own.one(3) {
		own.static()
	}
	if own.one(3) {
		own.buffer()
	}
}

// static makes a pool static that has no more nodes than it is to keep.
func (g *generator) static() {
	p := pick(g.dice, g.Pools...)
	n := int64(g.IntN(4))
	for _, c := range g.Claims {
		if c.Labels[api.LabelNodePool] == p.Name {
			n++
		}
	}
	p.Spec.Replicas, p.Spec.Weight, p.Spec.Limits = &n, nil, nil
	if g.one(3) {
		p.Spec.Limits = corev1.ResourceList{"nodes": *resource.NewQuantity(n, resource.DecimalSI)}
	}
}

// buffer keeps capacity for pods of a template. Of one buffer all pods are equal, so that their order is that of the
// plan; the volumes of its pods do not count.
func (g *generator) buffer() {
	g.features.volumes = false
	pod := g.template(99)
	pod.Name = "spare"
	pod = admitted(pod)
	meta := metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}
	t := &corev1.PodTemplate{ObjectMeta: meta, Template: templateOf(pod)}
	n := int32(1 + g.few(12))
	b := &v1beta1.CapacityBuffer{ObjectMeta: meta}
	b.Spec.PodTemplateRef, b.Spec.Replicas = &v1beta1.LocalObjectRef{Name: t.Name}, &n
	g.Templates, g.Buffers = append(g.Templates, t), append(g.Buffers, b)
}

// virtual is the n-th pod of a buffer as a real one.
func (w *World) virtual(b *plan.Buffer, n int) (*corev1.Pod, error) {
	for _, t := range w.Templates {
		if t.Namespace == b.Namespace && t.Name == b.Name {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: fmt.Sprintf("%s-%03d", b.Name, n),
				Labels: t.Template.Labels}, Spec: *t.Template.Spec.DeepCopy(), Status: waitingStatus()}
			pod.UID = types.UID("uid-" + pod.Name)
			return pod, nil
		}
	}
	return nil, fmt.Errorf("the plan keeps capacity for CapacityBuffer %s/%s, which the world does not have",
		b.Namespace, b.Name)
}

// judgeBuffers asks the scheduler about the virtual pods, as real ones that come after all others: each place is one,
// and those without a place have none.
func (st *stage) judgeBuffers(ctx context.Context) error {
	for i := range st.plan.Buffers {
		b := &st.plan.Buffers[i]
		for n, x := range b.Places {
			pod, err := st.world.virtual(b, n)
			if err != nil {
				return err
			}
			st.pods[nameOf(pod)] = pod
			if st.nodes.byName[x.Target] == nil {
				st.report(Disagreement{Kind: Broken, Pod: nameOf(pod), Node: x.Target, Plugin: "target",
					Reason: "there is no such " + string(x.On)})
				continue
			}
			v := st.judge(ctx, pod, x.Target)[0]
			if v.plugin == names.PodTopologySpread && st.gone() {
				v = st.judge(ctx, pod, x.Target)[0]
			}
			if !v.accepted {
				st.report(Disagreement{Kind: Refused, Pod: nameOf(pod), Node: x.Target, Plugin: v.plugin, Reason: v.reason})
			}
			if err := st.bind(pod, x.Target); err != nil {
				return err
			}
		}
		if b.Missing == 0 || len(st.found) > 0 {
			continue
		}
		pod, err := st.world.virtual(b, len(b.Places))
		if err != nil {
			return err
		}
		st.pods[nameOf(pod)] = pod
		u := plan.Unplaced{Reasons: b.Reasons}
		if st.refused(ctx, pod, u) {
			st.unsold(ctx, pod, u)
		}
	}
	return nil
}
