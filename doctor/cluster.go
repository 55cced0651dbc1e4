package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/definitions"
	"github.com/daemok/daemok/kube/installation"
	"github.com/daemok/daemok/kube/translate"
)

// Minor versions of Kubernetes 1 that the controller is tested with.
const (
	oldestTested = 29
	newestTested = 36
)

func kubernetesVersion(ctx context.Context, p *Patient) ([]Finding, error) {
	version, err := p.Version(ctx)
	if err != nil {
		return nil, err
	}
	_, text, _ := strings.Cut(version, ".")
	minor, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("the API server says version %q", version)
	}
	switch {
	case minor < oldestTested:
		return []Finding{trouble(Warning, "", fmt.Sprintf("the API server is of Kubernetes %s, and the oldest that is tested is 1.%d", version, oldestTested), "upgrade the cluster")}, nil
	case minor > newestTested:
		return []Finding{trouble(Warning, "", fmt.Sprintf("the API server is of Kubernetes %s, and the newest that is tested is 1.%d", version, newestTested), "check for a newer release of Daemok")}, nil
	}
	return []Finding{fine("Kubernetes %s", version)}, nil
}

func definitionsOf(ctx context.Context, p *Patient) ([]Finding, error) {
	differences, err := definitions.Read(ctx, p.Store, p.Definitions)
	if err != nil {
		return nil, err
	}
	var out []Finding
	releases := map[string]bool{}
	for _, d := range differences {
		out = append(out, definition(d)...)
		if d.Release != "" {
			releases[d.Namespace+"/"+d.Release] = true
		}
	}
	have := strings.Join(slices.Sorted(maps.Keys(releases)), " and ")
	if len(releases) > 1 {
		out = append(out, trouble(Warning, "", "they belong to several Helm releases, "+have+": an upgrade of one leaves the others as they are", "docs/tasks/install.md, CustomResourceDefinitions, says how one release takes all of them"))
	}
	if len(out) == 0 {
		out = append(out, fine("all are of this release of Daemok%s", after("; they belong to Helm release ", have)))
	}
	return out, nil
}

func after(words, text string) string {
	if text == "" {
		return ""
	}
	return words + text
}

// helm4 goes behind a command for definitions that are there already. Helm 4 applies them by the API server, which
// refuses to change fields that another program wrote.
const helm4 = "\nwhere Helm 4 speaks of a conflict: add --force-conflicts"

// definitionGoes is the way out where a definition is being deleted, which cannot be undone.
const definitionGoes = "docs/tasks/adopt.md, Definitions that were deleted, says how the nodes are kept"

// definition is what is wrong with one.
func definition(d definitions.Difference) (out []Finding) {
	object := "CustomResourceDefinition/" + d.Name
	owner := after(" (Helm release "+d.Namespace+"/", d.Release)
	if owner != "" {
		owner += " has it)"
	}
	if d.Missing {
		if definitions.Needed(d.Name) {
			out = append(out, trouble(Error, object, "it is missing, and the controller waits until it is there", d.WayOut()))
		}
		return out // users of other Kinds do not need them
	}
	if d.Going {
		out = append(out, trouble(Error, object, "it is being deleted, and with it all objects of its kind", definitionGoes))
		return out
	}
	for _, stored := range d.Strange {
		out = append(out, trouble(Error, object, "objects may be stored as "+stored+", which this release does not know", "daemok migrate crds --backup FOLDER"))
	}
	for _, v := range d.Unserved {
		out = append(out, trouble(Error, object, "it does not serve "+v+owner, d.WayOut()))
	}
	switch {
	case len(d.Unknown) > 0:
		out = append(out, trouble(Warning, object, "it is of another release and lacks fields of this one, which the API server drops: "+definitions.Fields(d.Unknown)+owner, d.WayOut()+helm4))
	case d.OfLaterRelease():
		later := fine("it has fields that this release does not use, and serves this release too: %s%s", definitions.Fields(d.Later), owner)
		later.Object = object
		out = append(out, later)
	case len(d.Other) > 0:
		out = append(out, trouble(Warning, object, "its schema of "+strings.Join(d.Other, " and ")+" is of another release: values may be refused, or accepted that should not be"+owner, d.WayOut()+helm4))
	}
	return out
}

// find searches for the controller's Deployment, once.
func (p *Patient) find(ctx context.Context) (*installation.Installation, error) {
	if p.install == nil {
		found, err := installation.Find(ctx, p.Store, p.Namespace)
		if err != nil {
			return nil, err
		}
		p.install = &found
	}
	return p.install, nil
}

func controllerRuns(ctx context.Context, p *Patient) ([]Finding, error) {
	found, err := p.find(ctx)
	if err != nil {
		return nil, err
	}
	d := found.Deployment
	if d == nil {
		where, err := installation.Namespaces(ctx, p.Store)
		switch {
		case err != nil:
			return nil, err
		case len(where) == 0:
			return []Finding{trouble(Warning, "", "no Deployment in namespace "+p.Namespace+" runs the controller", "install it, or name the namespace that it is in by --system-namespace")}, nil
		}
		return []Finding{trouble(Warning, "", fmt.Sprintf("no Deployment in namespace %s runs the controller, and one in %s does", p.Namespace, strings.Join(where, " and ")), "daemok doctor --system-namespace "+where[0])}, nil
	}
	if found.Shadow() && d.Status.ReadyReplicas > 0 {
		return []Finding{fine("Deployment %s is in shadow mode: it makes plans and changes nothing; "+
			"daemok shadow report shows what it would have done", d.Name)}, nil
	}
	pods, nodes, err := podsOf(ctx, p, d)
	if err != nil {
		return nil, err
	}
	object := "Deployment/" + d.Name
	wants := int32(1)
	if d.Spec.Replicas != nil {
		wants = *d.Spec.Replicas
	}
	out := []Finding{}
	ended, last := lastError(pods)
	logs := fmt.Sprintf("kubectl -n %s logs deployment/%s", p.Namespace, d.Name)
	if last != "" {
		logs = fmt.Sprintf("kubectl -n %s logs %s --previous", p.Namespace, strings.TrimPrefix(ended, "Pod/"))
	}
	switch {
	case wants == 0:
		out = append(out, trouble(Warning, object, "it has no replicas, so no nodes are launched", fmt.Sprintf("kubectl -n %s scale deployment %s --replicas=2", p.Namespace, d.Name)))
	case d.Status.ReadyReplicas == 0:
		out = append(out, trouble(Error, object, "none of its pods is ready"+after("; "+ended+" ended with: ", last), logs))
	case last != "":
		out = append(out, trouble(Warning, ended, "it is not ready; it ended with: "+last, logs))
	case d.Status.ReadyReplicas < wants:
		out = append(out, trouble(Warning, object, fmt.Sprintf("%d of %d replicas are ready: where the leader ends, no other is there to go on", d.Status.ReadyReplicas, wants),
			fmt.Sprintf("see why with kubectl -n %s get pods; each replica wants a node of its own that the controller does not manage", p.Namespace)))
	}
	if name := found.Setting("CLUSTER_NAME"); p.Name != "" && name != "" && name != p.Name {
		out = append(out, trouble(Error, object, fmt.Sprintf("its cluster is called %s, and this one %s", name, p.Name), "set settings.clusterName to "+p.Name+", or ask about the other cluster with --cluster-name "+name))
	}
	if own := onOwnNodes(pods, nodes); own != "" {
		out = append(out, trouble(Error, own, "the controller runs on a node that it may remove itself", "keep its pods on a managed node group or on Fargate: affinity to nodes without the label "+api.LabelNodePool))
	}
	if len(out) == 0 {
		whose := ""
		if isKarpenter(d) {
			whose = " of Karpenter, not Daemok,"
		}
		out = append(out, fine("%d of %d replicas%s are ready", d.Status.ReadyReplicas, wants, whose))
	}
	return out, nil
}

// podsOf are the controller's pods, and all nodes by name.
func podsOf(ctx context.Context, p *Patient, d *appsv1.Deployment) ([]corev1.Pod, map[string]*corev1.Node, error) {
	chosen, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return nil, nil, fmt.Errorf("read the selector of Deployment %s: %w", d.Name, err)
	}
	return placed(ctx, p.Store, client.InNamespace(p.Namespace), client.MatchingLabelsSelector{Selector: chosen})
}

// lastError is a pod of which a container is not ready that ended with an error, and the error; empty: there is none.
// The chart has the kubelet keep the end of the log; where there is none the exit code is the error.
func lastError(pods []corev1.Pod) (pod, text string) {
	for i := range pods {
		for _, c := range pods[i].Status.ContainerStatuses {
			for _, ended := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
				switch {
				case c.Ready || ended == nil:
				case ended.Message != "":
					return "Pod/" + pods[i].Name, errorOf(ended.Message)
				case ended.ExitCode != 0:
					return "Pod/" + pods[i].Name, fmt.Sprintf("exit code %d, %s", ended.ExitCode, ended.Reason)
				}
			}
		}
	}
	return "", ""
}

// errorOf is what the last line of a log says: its error, where it is a line of the controller's.
func errorOf(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	last := lines[len(lines)-1]
	var line struct{ Error string }
	if json.Unmarshal([]byte(last), &line) == nil && line.Error != "" {
		return line.Error
	}
	return last
}

// onOwnNodes is a pod of the controller on a node that the controller manages; empty:
// there is none.
func onOwnNodes(pods []corev1.Pod, nodes map[string]*corev1.Node) string {
	for i := range pods {
		if n, known := nodes[pods[i].Spec.NodeName]; known && isManaged(n) {
			return "Pod/" + pods[i].Name
		}
	}
	return ""
}

// isManaged reports whether the node is of a NodePool or Provisioner.
func isManaged(n *corev1.Node) bool { return translate.PoolOfNode(n).Name != "" }

// placed are pods, and all nodes by name.
func placed(ctx context.Context, store client.Reader, which ...client.ListOption) ([]corev1.Pod, map[string]*corev1.Node, error) {
	var pods corev1.PodList
	if err := store.List(ctx, &pods, which...); err != nil {
		return nil, nil, fmt.Errorf("list pods: %w", err)
	}
	var nodes corev1.NodeList
	if err := store.List(ctx, &nodes); err != nil {
		return nil, nil, fmt.Errorf("list nodes: %w", err)
	}
	named := map[string]*corev1.Node{}
	for i := range nodes.Items {
		named[nodes.Items[i].Name] = &nodes.Items[i]
	}
	return pods.Items, named, nil
}

func otherAutoscalers(ctx context.Context, p *Patient) ([]Finding, error) {
	found, err := p.find(ctx)
	if err != nil {
		return nil, err
	}
	var list appsv1.DeploymentList
	if err := p.Store.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list Deployments: %w", err)
	}
	if found.Shadow() {
		return []Finding{fine("another autoscaler may be at work: Deployment %s is in shadow mode and changes nothing",
			found.Deployment.Name)}, nil
	}
	var out []Finding
	for i := range list.Items {
		d := &list.Items[i]
		ours := found.Deployment != nil && d.UID == found.Deployment.UID && d.Name == found.Deployment.Name && d.Namespace == found.Deployment.Namespace
		if d.Spec.Replicas != nil && *d.Spec.Replicas == 0 || ours {
			continue
		}
		stop := fmt.Sprintf("kubectl -n %s scale deployment %s --replicas=0", d.Namespace, d.Name)
		name := "Deployment/" + d.Namespace + "/" + d.Name
		for _, c := range d.Spec.Template.Spec.Containers {
			switch {
			case strings.Contains(c.Image, "cluster-autoscaler"):
				out = append(out, trouble(Warning, name, "the Cluster Autoscaler is at work too: both launch nodes for the same pods", "daemok migrate --from cluster-autoscaler, and then "+stop))
			case installation.IsKarpenter(c.Image):
				out = append(out, trouble(Error, name, "Karpenter runs too: only one of the two leads, and only where both use the lease karpenter-leader-election in one namespace", stop))
			}
		}
		second, is, err := installation.Read(ctx, p.Store, d)
		if err != nil {
			return out, err
		}
		if is && found.Deployment != nil && !isKarpenter(d) && !second.Shadow() {
			out = append(out, secondRelease(found, &second))
		}
	}
	if len(out) == 0 {
		out = append(out, fine("no other is at work"))
	}
	return out, nil
}

func isKarpenter(d *appsv1.Deployment) bool {
	return slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return installation.IsKarpenter(c.Image) })
}

// secondRelease is what it means that Daemok is installed twice.
func secondRelease(first, second *installation.Installation) Finding {
	one, other := "Deployment/"+first.Namespace+"/"+first.Deployment.Name, "Deployment/"+second.Namespace+"/"+second.Deployment.Name
	remove := fmt.Sprintf("keep one of them: kubectl -n %s scale deployment %s --replicas=0", second.Namespace, second.Deployment.Name)
	if release := second.Deployment.Annotations["meta.helm.sh/release-name"]; release != "" {
		remove += fmt.Sprintf(", then helm uninstall %s --namespace %s", release, second.Deployment.Annotations["meta.helm.sh/release-namespace"])
	}
	if lease := first.Lease(); lease.Excludes(second.Lease()) {
		return trouble(Warning, other, fmt.Sprintf("it is a second Daemok beside %s: both use the lease %s, so that one of them leads, with its own settings, and the other waits", one, lease), remove)
	}
	return trouble(Error, other, fmt.Sprintf("it is a second Daemok beside %s: it leads by %s, and the first by %s, so that both launch nodes for the same pods and remove nodes of the same NodePools", one, leads(second.Lease()), leads(first.Lease())), remove)
}

// leads says what an installation leads by.
func leads(by installation.Lease) string {
	if by.IsNone() {
		return by.String()
	}
	return "lease " + by.String()
}
