package class

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
)

// podNetwork is the DaemonSet of the VPC's network plugin, which gives pods addresses.
var podNetwork = client.ObjectKey{Namespace: "kube-system", Name: "aws-node"}

// networkMode is how the plugin gives out addresses.
type networkMode struct {
	prefixes bool // 16 at a time, so that an instance has many more of them
	custom   bool // none of the first interface's
}

// modeOf reads the plugin's settings.
func modeOf(ds *appsv1.DaemonSet) (m networkMode) {
	for _, c := range ds.Spec.Template.Spec.Containers {
		if c.Name != podNetwork.Name {
			continue
		}
		is := func(name string) bool {
			return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name && strings.EqualFold(e.Value, "true") })
		}
		m.prefixes, m.custom = is("ENABLE_PREFIX_DELEGATION"), is("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG")
	}
	return m
}

// density warns where the network plugin's mode and the number of pods that instances may
// run do not go together. Where there is no such plugin nothing is said; while it cannot be
// read, what was known stays.
func (r *Reconciler) density(ctx context.Context, c *Subject, settings nodeclass.Class) {
	ds := &appsv1.DaemonSet{}
	err := r.Store.Get(ctx, podNetwork, ds)
	if client.IgnoreNotFound(err) != nil {
		return
	}
	text := ""
	if err == nil && !settings.Spec.EffectiveFamily().Windows() {
		crowded, err := r.Finder.Crowded(ctx, settings)
		if err != nil {
			return
		}
		text = disagreement(modeOf(ds), settings.Spec, crowded, r.ReservedENIs)
	}
	r.doubt(c, awsv1.ClassPodDensity, awsv1.ReasonPodDensityMismatch, text)
}

// disagreement says what does not go together, and what helps; else it is empty.
func disagreement(mode networkMode, spec nodeclass.Spec, crowded nodeclass.Crowded, reservedENIs int) string {
	limited := spec.Kubelet.MaxPods != nil || spec.Kubelet.MaxPodsBy != ""
	switch {
	case mode.prefixes && !limited && !spec.PodPrefixes:
		return "DaemonSet kube-system/aws-node has ENABLE_PREFIX_DELEGATION=true, and spec.kubelet.maxPods is not set: nodes run as many pods as " +
			"they have single addresses for, and the further ones are of no use: set annotation " + api.AnnotationPodDensity + ": " + api.PrefixDelegation +
			", or spec.kubelet.maxPods, such as 110"
	case !mode.prefixes && spec.PodPrefixes:
		return "annotation " + api.AnnotationPodDensity + " is " + api.PrefixDelegation + ", and DaemonSet kube-system/aws-node does not have " +
			"ENABLE_PREFIX_DELEGATION=true: pods would wait for addresses that are never assigned: set it there, or remove the annotation"
	case mode.custom && !limited && reservedENIs == 0:
		return "DaemonSet kube-system/aws-node has AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG=true, and the addresses of the first network interface are counted " +
			"for pods, which get none of them: set --reserved-enis=1 (RESERVED_ENIS), or spec.kubelet.maxPods"
	case !mode.prefixes && crowded.Types > 0:
		return fmt.Sprintf("spec.kubelet.maxPods is more than there are addresses for on %d of %d instance types, such as %s, which may run %d pods and has addresses for %d: "+
			"pods would wait for one there; lower it, or set ENABLE_PREFIX_DELEGATION=true in DaemonSet kube-system/aws-node",
			crowded.Types, crowded.Of, crowded.First, crowded.Pods, crowded.Addresses)
	}
	return ""
}
