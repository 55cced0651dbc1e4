package footprint

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/store"
)

// instanceType is that of all nodes: no other would be cheaper.
const instanceType = "m5.2xlarge"

// buildFor is how long the controller may take to launch all nodes.
const buildFor = 10 * time.Minute

// withoutLease has the controller need no lease: while many nodes come at once it could not renew one in
// time on a host of few processors.
var withoutLease = map[string]string{"DISABLE_LEADER_ELECTION": "true"}

// byController is how many nodes the controller launches at most; the others are copies of these.
const byController = 100

// build makes the cluster: the controller launches nodes for pods that wait, which join at once,
// and pods are bound to them. The controller ends when nothing is under way, and the other nodes come.
func (w *world) build(ctx context.Context) error {
	dice := rand.New(rand.NewPCG(1, 2)) // equal seeds make equal work
	pods, err := w.populate(dice)
	if err != nil || w.options.Nodes == 0 {
		return err
	}
	daemons := daemonSets()
	count := min(byController, w.options.Nodes)
	first, others := pods[:count*w.perNode()], pods[count*w.perNode():]
	if err := w.launch(ctx, count, first, daemons, dice); err != nil {
		return err
	}
	nodes, err := w.copyNodes(ctx, w.options.Nodes-count, dice)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := w.bind(n, others[:w.perNode()], daemons, dice); err != nil {
			return err
		}
		others = others[w.perNode():]
	}
	return w.consolidate(ctx)
}

// perNode is how many pods of Deployments fill a node.
func (w *world) perNode() int { return w.options.Pods/w.options.Nodes - daemonsPerNode }

// launch has the controller launch nodes for pods. It ends when nothing is under way, and the controller with it.
func (w *world) launch(ctx context.Context, count int, pods []*corev1.Pod, daemons []*daemonSet,
	dice *rand.Rand) error {
	ctx, stop := context.WithTimeoutCause(ctx, buildFor,
		fmt.Errorf("the controller did not launch %d nodes within %v", count, buildFor))
	defer stop()
	for _, p := range pods {
		if err := w.store.Put(p); err != nil {
			return err
		}
	}
	w.store.AuditTo(w.saw)
	defer w.store.AuditTo(nil)
	c, err := w.start(ctx, withoutLease)
	if err != nil {
		return err
	}
	defer c.end() //nolint:errcheck // it returns none
	for complete := map[string]bool{}; len(complete) < count || len(pods) > 0; {
		select {
		case claim := <-w.joined:
			if err := w.join(claim, dice); err != nil {
				return err
			}
		case node := <-w.opened:
			perNode := min(w.perNode(), len(pods))
			if err := w.bind(node, pods[:perNode], daemons, dice); err != nil {
				return err
			}
			pods = pods[perNode:]
		case name := <-w.ready:
			complete[name] = true
		case <-c.ended:
			return c.died()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := c.wait(ctx, 20*time.Second); err != nil { // notes that follow are written
		return err
	}
	return c.end()
}

// consolidate has nodes of the complete cluster checked as those of others are.
func (w *world) consolidate(ctx context.Context) error {
	pool := &karpv1.NodePool{}
	if err := w.hand.Get(ctx, client.ObjectKey{Name: "default"}, pool); err != nil {
		return err
	}
	pool.Spec.Disruption.ConsolidateAfter = "30s"
	return w.hand.Update(ctx, pool)
}

// saw sorts what the controller writes into what follows from it.
func (w *world) saw(a store.Audit) {
	switch o := a.After.(type) {
	case *karpv1.NodeClaim:
		before, _ := a.Before.(*karpv1.NodeClaim)
		if o.Status.ProviderID != "" && before.Status.ProviderID == "" {
			w.joined <- o
		}
		if condition.IsTrue(o, karpv1.ClaimInitialized) && !condition.IsTrue(before, karpv1.ClaimInitialized) {
			w.ready <- o.Name
		}
	case *corev1.Node:
		if before, _ := a.Before.(*corev1.Node); translate.HasTaint(before,
			api.TaintUnregistered) && !translate.HasTaint(o, api.TaintUnregistered) {
			w.opened <- o
		}
	}
}

// populate makes everything but nodes and pods of Deployments, and returns these as they wait for nodes.
func (w *world) populate(dice *rand.Rand) ([]*corev1.Pod, error) {
	ctx := context.Background()
	objects := []client.Object{
		namespace(metav1.NamespaceSystem), namespace(metav1.NamespaceDefault),
		&storagev1.StorageClass{ObjectMeta: meta("", "gp3"), Provisioner: "ebs.csi.aws.com"},
	}
	for _, set := range daemonSets() {
		objects = append(objects, &set.DaemonSet)
	}
	count := w.options.Pods - daemonsPerNode*w.options.Nodes
	var pods []*corev1.Pod
	for i := 0; count > 0; i++ {
		replicas := min(count, 30+dice.IntN(271))
		count -= replicas
		a := newApp(i, dice)
		made := a.pods(replicas, dice)
		objects = append(objects, a.objects(replicas)...)
		pods = append(pods, made...)
	}
	if err := w.store.Put(objects...); err != nil {
		return nil, err
	}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	tag := map[string]string{"karpenter.sh/discovery": clusterName}
	class.Spec.Role = "KarpenterNodeRole-" + clusterName
	class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	class.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: tag}}
	class.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Tags: tag}}
	if w.options.Nodes > 0 {
		most := intstr.FromInt(w.options.Pods / w.options.Nodes)
		class.Spec.Kubelet = &awsv1.Kubelet{MaxPods: &most}
	}
	pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: store.PoolSpec()}
	pool.Spec.Template.Spec.Requirements = []karpv1.Requirement{
		{Key: api.LabelInstanceType, Operator: "In", Values: []string{instanceType}},
		{Key: api.LabelCapacityType, Operator: "In", Values: []string{api.CapacityTypeOnDemand}},
	}
	pool.Spec.Disruption.ConsolidateAfter = karpv1.Never // nodes are empty until pods are bound to them
	for _, o := range []client.Object{class, pool} {
		if err := w.hand.Create(ctx, o); err != nil {
			return nil, err
		}
	}
	return pods, nil
}

// join makes the node of a launched claim, as its kubelet and the cloud's controllers do. The
// instance counts as tagged with the names of its node and cluster: the controller would take a second for each.
func (w *world) join(claim *karpv1.NodeClaim, dice *rand.Rand) error {
	tagged := claim.DeepCopy()
	tagged.Annotations[api.AnnotationInstanceTagged], tagged.Annotations[api.AnnotationClusterNameTagged] = "true", "true"
	if err := w.hand.Patch(context.Background(), tagged, client.MergeFrom(claim)); err != nil {
		return err
	}
	n := nodeOf(claim, int64(w.options.Pods/w.options.Nodes), dice)
	return w.store.Put(n, csiNode(n))
}

// bind puts pods on a node, and those of DaemonSets, and has them run.
func (w *world) bind(n *corev1.Node, pods []*corev1.Pod, daemons []*daemonSet, dice *rand.Rand) error {
	var running []client.Object
	for _, d := range daemons {
		p := podOf(d, "", dice)
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField,
				Operator: corev1.NodeSelectorOpIn, Values: []string{n.Name}}}}}}}}
		pods = append(slices.Clone(pods), p)
	}
	for _, p := range pods {
		running = append(running, runningOn(p, n, dice))
	}
	return w.store.Put(running...)
}

// beatEvery is how often a kubelet reports the status of a node that does not change.
const beatEvery = 5 * time.Minute

// beat has the kubelets report, one after another, until ctx ends.
func (w *world) beat(ctx context.Context) {
	if w.options.Nodes == 0 {
		return
	}
	var nodes corev1.NodeList
	if err := w.hand.List(ctx, &nodes); err != nil || len(nodes.Items) == 0 {
		return
	}
	for at := 0; pause.For(ctx, beatEvery/time.Duration(len(nodes.Items))) == nil; at = (at + 1) % len(nodes.Items) {
		var n corev1.Node
		if w.hand.Get(ctx, client.ObjectKeyFromObject(&nodes.Items[at]), &n) != nil {
			continue // it has gone
		}
		for i := range n.Status.Conditions {
			n.Status.Conditions[i].LastHeartbeatTime = metav1.Now()
		}
		_ = w.hand.Status().Update(ctx,
			&n) // one that conflicts comes again in five minutes, as a kubelet's does sooner
	}
}

// churn has pods end one after another, and come again on the same node under another name, until ctx ends.
func (w *world) churn(ctx context.Context) {
	if w.options.Changes <= 0 {
		return
	}
	var all corev1.PodList
	if err := w.hand.List(ctx, &all); err != nil {
		return
	}
	pods := slices.DeleteFunc(all.Items, func(p corev1.Pod) bool { return p.OwnerReferences[0].Kind == "DaemonSet" })
	dice := rand.New(rand.NewPCG(3, 4))
	dice.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	for at := 0; pause.For(ctx,
		time.Duration(float64(time.Second)/w.options.Changes)) == nil; at = (at + 1) % len(pods) {
		old := pods[at].DeepCopy()
		next := old.DeepCopy()
		next.Name, next.UID, next.ResourceVersion = old.Name[:len(old.Name)-5]+letters(5, dice), uuid.NewUUID(), ""
		next.CreationTimestamp = metav1.Now()
		if w.hand.Delete(ctx, old) != nil || w.store.Put(next) != nil {
			return // the measurement ends
		}
		pods[at] = *next
	}
}
