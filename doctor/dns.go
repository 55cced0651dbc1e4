package doctor

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Memory below which a node is too small for cluster DNS beside the system's own pods.
const dnsMemory = 1 << 30

func dns(ctx context.Context, p *Patient) ([]Finding, error) {
	pods, nodes, err := placed(ctx, p.Store, client.InNamespace("kube-system"), client.MatchingLabels{"k8s-app": "kube-dns"})
	if err != nil {
		return nil, err
	}
	asks, err := asksClusterDNS(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(pods) == 0 {
		return noDNS(ctx, p, asks)
	}
	waiting, own, small := 0, 0, 0
	for i := range pods {
		n, known := nodes[pods[i].Spec.NodeName]
		switch {
		case !known:
			waiting++
		case isManaged(n):
			own++
		case n.Status.Allocatable.Memory().Value() < dnsMemory:
			small++
		}
	}
	switch {
	case waiting == len(pods):
		return []Finding{trouble(Error, "", "no pod of CoreDNS has a node"+asks.effect(), "see why with kubectl -n kube-system describe pods -l k8s-app=kube-dns"+asks.wayOut())}, nil
	case own == len(pods)-waiting:
		return []Finding{trouble(Warning, "", "all pods of CoreDNS are on nodes that the controller may remove", "keep one of them on a managed node group or on Fargate, or give them a PodDisruptionBudget"+asks.wayOut())}, nil
	case small > 0:
		return []Finding{trouble(Warning, "", fmt.Sprintf("%d of %d pods of CoreDNS are on nodes with less than 1 GiB for pods", small, len(pods)), "use a larger instance type for that node group")}, nil
	}
	return []Finding{fine("%d pods of CoreDNS, %d of them on nodes that stay", len(pods), len(pods)-own-waiting)}, nil
}

// asksDNS says whether the controller finds AWS by the cluster's DNS, and so launches nothing without it.
type asksDNS bool

// asksClusterDNS reads it from the dnsPolicy of the controller's pods.
func asksClusterDNS(ctx context.Context, p *Patient) (asksDNS, error) {
	found, err := p.find(ctx)
	if err != nil || found.Deployment == nil {
		return false, err
	}
	pod := found.Deployment.Spec.Template.Spec
	switch pod.DNSPolicy {
	case corev1.DNSDefault, corev1.DNSNone:
		return false, nil
	case corev1.DNSClusterFirstWithHostNet:
		return true, nil
	}
	return asksDNS(!pod.HostNetwork), nil
}

func (a asksDNS) effect() string {
	if !a {
		return ""
	}
	return "; the controller needs it to find AWS, and launches nothing without"
}

func (a asksDNS) wayOut() string {
	if !a {
		return ""
	}
	return "; value dnsPolicy: Default has the controller ask its node's DNS instead"
}

// noDNS is what it means that there is no pod of CoreDNS.
func noDNS(ctx context.Context, p *Patient, asks asksDNS) ([]Finding, error) {
	var all appsv1.DeploymentList
	if err := p.Store.List(ctx, &all, client.InNamespace("kube-system")); err != nil {
		return nil, fmt.Errorf("look for the Deployment of CoreDNS: %w", err)
	}
	severity, wayOut := Warning, "install the EKS add-on coredns"
	if asks {
		severity = Error
	}
	for i := range all.Items {
		d := &all.Items[i]
		if d.Spec.Template.Labels["k8s-app"] == "kube-dns" && d.Spec.Replicas != nil && *d.Spec.Replicas == 0 {
			wayOut = "kubectl -n kube-system scale deployment " + d.Name + " --replicas=2"
		}
	}
	return []Finding{trouble(severity, "", "no pod in kube-system has the label k8s-app=kube-dns: nothing answers for Services"+asks.effect(), wayOut+asks.wayOut())}, nil
}
