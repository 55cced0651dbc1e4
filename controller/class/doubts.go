package class

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// doubt keeps a condition that warns: true with a text, gone without one. An event reports
// it once until the text changes.
func (r *Reconciler) doubt(c *Subject, kind, reason, text string) {
	reported, text := r.records.of(c.GetName()).reported, c.InWords(text)
	if text == "" {
		condition.Clear(c, kind)
		delete(reported, kind)
		return
	}
	condition.Set(c, kind, metav1.ConditionTrue, reason, text, r.Now())
	if reported[kind] != text {
		reported[kind] = text
		r.publish(c, reason, text)
	}
}

// ownedTwice names the groups that carry the cluster's tag where there are
// several, and what to do; else it is empty.
func ownedTwice(groups []nodeclass.Group) string {
	var names []string
	for _, g := range groups {
		if g.Owned {
			names = append(names, fmt.Sprintf("%s (%s)", g.ID, g.Name))
		}
	}
	if len(names) < 2 {
		return ""
	}
	return fmt.Sprintf("spec.securityGroupSelectorTerms selects several groups with the cluster's tag kubernetes.io/cluster/...: %s; "+
		"load balancer controllers want one group of an instance to have it, and register no instance: remove the tag from all others, or select one of them",
		strings.Join(names, ", "))
}

// full names subnets without a free address, and what to do; else it is empty.
func full(subnets []nodeclass.Subnet) string {
	const need = 1 // of an instance by itself
	without := slices.DeleteFunc(slices.Clone(subnets), func(s nodeclass.Subnet) bool { return s.Free >= need })
	text := nodeclass.TooFewAddresses(without, need)
	switch {
	case text == "":
		return ""
	case len(without) == len(subnets):
		return text + ": nothing can be launched; free some of their addresses, or add subnets to what spec.subnetSelectorTerms selects"
	}
	return text + ": nodes are launched in other subnets alone; free some of their addresses, or add subnets to what spec.subnetSelectorTerms selects"
}

// replaced warns of images of another family than the object means.
func (r *Reconciler) replaced(c *Subject) {
	text := ""
	if c.Kind.Replaced != nil {
		text = c.Kind.Replaced(c.Object)
	}
	r.doubt(c, awsv1.ClassFamilyReplaced, awsv1.ReasonFamilyEnded, text)
}

// skewMax is by how many versions a kubelet may be behind the API server.
const skewMax = 3

// skew warns of images whose kubelets are behind the API server, or before it. Those of an
// alias follow it by themselves, some minutes after it. Without an answer on the server's
// version, what was known stays.
func (r *Reconciler) skew(ctx context.Context, c *Subject, images []nodeclass.Image) {
	if slices.ContainsFunc(c.Spec.Images, func(t nodeclass.ImageTerm) bool { return t.Alias != "" }) {
		r.doubt(c, awsv1.ClassKubeletSkew, "", "")
		return
	}
	version, err := r.Finder.KubernetesVersion(ctx)
	server, known := nodeclass.Minor(version)
	if err != nil || !known {
		return
	}
	var older, newer []string
	most := 0
	seen := r.seenKubelets(ctx, images)
	for _, image := range images {
		kubelet, known := image.Kubelet()
		if !known {
			kubelet, known = seen[image.ID], seen[image.ID] > 0
		}
		switch behind := server - kubelet; {
		case known && behind > 0:
			most = max(most, behind)
			older = append(older, fmt.Sprintf("%s (%s) has 1.%d, %d behind", image.ID, image.Name, kubelet, behind))
		case known && behind < 0:
			newer = append(newer, fmt.Sprintf("%s (%s) has 1.%d", image.ID, image.Name, kubelet))
		}
	}
	reason := awsv1.ReasonKubeletBehind
	if most > skewMax || len(newer) > 0 {
		reason = awsv1.ReasonKubeletUnsupported
	}
	var texts []string
	if len(newer) > 0 {
		texts = append(texts, fmt.Sprintf("kubelets of images that spec.amiSelectorTerms selects are newer than the API server, which is 1.%d: %s; "+
			"Kubernetes supports none that is: select images of version 1.%d, or bring the control plane to theirs", server, strings.Join(newer, ", "), server))
	}
	if len(older) > 0 {
		texts = append(texts, fmt.Sprintf("kubelets of images that spec.amiSelectorTerms selects are older than the API server, which is 1.%d: %s; "+
			"Kubernetes supports %d versions behind: select newer images, by an alias such as al2023@latest if they need not be pinned",
			server, strings.Join(older, ", "), skewMax))
	}
	r.doubt(c, awsv1.ClassKubeletSkew, reason, strings.Join(texts, "; "))
}

// seenKubelets are the minor versions that nodes of images report whose names say none, by
// image; of several, the oldest.
func (r *Reconciler) seenKubelets(ctx context.Context, images []nodeclass.Image) map[string]int {
	unknown := map[string]bool{}
	for _, image := range images {
		if _, known := image.Kubelet(); !known {
			unknown[image.ID] = true
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	var claims karpv1.NodeClaimList
	if err := r.Store.List(ctx, &claims); err != nil {
		return nil // the cache answers, or the next check will
	}
	out := map[string]int{}
	for i := range claims.Items {
		status := &claims.Items[i].Status
		node := &corev1.Node{}
		if !unknown[status.ImageID] || status.NodeName == "" || r.Store.Get(ctx, client.ObjectKey{Name: status.NodeName}, node) != nil {
			continue
		}
		minor, known := nodeclass.Minor(node.Status.NodeInfo.KubeletVersion)
		if had := out[status.ImageID]; known && (had == 0 || minor < had) {
			out[status.ImageID] = minor
		}
	}
	return out
}
