package whole_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/provisioner"
	"github.com/daemok/daemok/migrate/adopt"
)

// ec2 is the account's EC2, for its people.
func (w *world) ec2() *ec2.Client {
	return ec2.New(ec2.Options{
		Region: "us-east-1", BaseEndpoint: awssdk.String("http://aws.test"), HTTPClient: &carrier{account: w.aws, usual: true},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), RetryMaxAttempts: 1,
	})
}

// tagsOf are the tags of an instance at EC2, less those that are AWS's own.
func (w *world) tagsOf(id string) map[string]string {
	w.t.Helper()
	out, err := w.ec2().DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		w.t.Fatal(err)
	}
	tags := map[string]string{}
	for _, t := range out.Reservations[0].Instances[0].Tags {
		if !strings.HasPrefix(*t.Key, "aws:") {
			tags[*t.Key] = *t.Value
		}
	}
	return tags
}

// retag puts tags on an instance at EC2 in place of all that it has.
func (w *world) retag(id string, tags map[string]string) {
	w.t.Helper()
	var old, now []types.Tag
	for key := range w.tagsOf(id) {
		old = append(old, types.Tag{Key: &key})
	}
	for key, value := range tags {
		now = append(now, types.Tag{Key: &key, Value: &value})
	}
	if _, err := w.ec2().DeleteTags(context.Background(), &ec2.DeleteTagsInput{Resources: []string{id}, Tags: old}); err != nil {
		w.t.Fatal(err)
	}
	if len(now) == 0 {
		return
	}
	if _, err := w.ec2().CreateTags(context.Background(), &ec2.CreateTagsInput{Resources: []string{id}, Tags: now}); err != nil {
		w.t.Fatal(err)
	}
}

// asThatEraLeftIt has a cluster look as if a Karpenter that knew no NodeClaims had made
// its nodes: no claims, labels of a Provisioner, tags of that era.
func (w *world) asThatEraLeftIt(provisioner string) {
	w.t.Helper()
	for _, n := range w.nodes() {
		edit(w, &n, func(n *corev1.Node) {
			n.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha5.GroupVersion.String(), Kind: "Provisioner", Name: provisioner, UID: w.provisionerNow(provisioner).UID}}
			delete(n.Labels, api.LabelRegistered)
			delete(n.Labels, api.LabelNodeClass)
			n.Annotations = nil
		})
		w.retag(translate.InstanceID(n.Spec.ProviderID), map[string]string{
			"Name": "karpenter.sh/provisioner-name/" + provisioner, api.TagProvisioner: provisioner, "kubernetes.io/cluster/test": "owned",
		})
	}
	for _, c := range w.claims() {
		edit(w, &c, func(c *karpv1.NodeClaim) { c.Finalizers = nil })
		w.delete(&c)
	}
}

// lives are the pods and nodes that there are, by the UIDs that they keep for life, and
// the instances.
func (w *world) lives() (out []string) {
	for _, p := range w.allPods() {
		out = append(out, "pod "+string(p.UID)+" on "+p.Spec.NodeName)
	}
	for _, n := range w.nodes() {
		out = append(out, "node "+string(n.UID))
	}
	for _, m := range w.liveInstances() {
		out = append(out, "machine "+m.ID)
	}
	slices.Sort(out)
	return out
}

// unchanged checks that nothing has moved, gone or come.
func (w *world) unchanged(before []string) {
	w.t.Helper()
	if now := w.lives(); !slices.Equal(now, before) {
		w.t.Errorf("there were\n%s\nand there are\n%s", strings.Join(before, "\n"), strings.Join(now, "\n"))
	}
	for _, n := range w.nodes() {
		if n.DeletionTimestamp != nil || translate.HasTaint(&n, api.TaintDisrupted) {
			w.t.Errorf("node %s is about to go", n.Name)
		}
	}
}

// adoptAll asks a pool to take all nodes over, from the claims of these, if they have any.
func (w *world) adoptAll(pool translate.PoolObject) {
	w.t.Helper()
	from := map[string]string{}
	for _, c := range w.claims() {
		from[c.Status.ProviderID] = c.Name
	}
	for _, n := range w.nodes() {
		c, err := translate.Adoption(pool, &n, from[n.Spec.ProviderID])
		if err != nil {
			w.t.Fatal(err)
		}
		if c.Name != from[n.Spec.ProviderID] { // else it was done before
			w.create(c)
		}
	}
}

// adopted reports whether all nodes are those of claims of the pool, which are ready and
// known at the cloud.
func (w *world) adopted(pool translate.PoolObject) bool {
	claims, nodes := w.claims(), w.nodes()
	for _, c := range claims {
		if translate.PoolOf(&c) != pool.ID || !condition.IsTrue(&c, karpv1.ClaimInitialized) || c.Annotations[api.AnnotationInstanceTagged] != "true" {
			return false
		}
	}
	for _, n := range nodes {
		if len(n.OwnerReferences) != 1 || n.OwnerReferences[0].Kind != "NodeClaim" || translate.PoolOfNode(&n) != pool.ID {
			return false
		}
	}
	return len(claims) == len(nodes)
}

// five has a Provisioner and its nodes, on which five pods run.
func (w *world) five(s setup) *controller {
	w.t.Helper()
	w.nodeTemplate(v1alpha5.DefaultTemplate)
	w.provisioner("default", func(s *v1alpha5.ProvisionerSpec) {
		s.TTLSecondsAfterEmpty = new(int64(60))
		s.Requirements = []v1alpha5.Requirement{{Key: corev1.LabelInstanceTypeStable, Operator: "In", Values: []string{"m5.large"}}}
	})
	c := w.start(s)
	w.scale("inflate", 5)
	w.until(5*time.Minute, "all pods run", func() bool { return w.run(5) && len(w.nodes()) == 5 })
	return c
}

// Nodes that a Karpenter of the v1alpha5 API has made, which knew no NodeClaims, are
// taken over: pods, nodes and instances stay, and from then on the nodes go as others do.
func TestNodesWithoutClaimsAreTakenOver(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.five(setup{}).stop()
		w.asThatEraLeftIt("default")
		c := w.start(setup{})
		before := w.lives()
		time.Sleep(3 * time.Minute)
		w.unchanged(before) // none asked for anything
		pool := provisioner.Pool(w.provisionerNow("default"))
		serves := translate.Generations{translate.NodePools(), provisioner.Generation()}
		orphans, err := adopt.Find(t.Context(), w.hand, serves)
		if err != nil || len(orphans) != 5 {
			t.Fatalf("%d orphans, %v", len(orphans), err)
		}
		for _, o := range orphans {
			if _, err := adopt.Ask(t.Context(), w.hand, o); err != nil {
				t.Fatal(err)
			}
		}
		w.until(5*time.Minute, "the nodes are taken over", func() bool { return w.adopted(pool) })
		if orphans, err := adopt.Find(t.Context(), w.hand, serves); err != nil || len(orphans) != 0 {
			t.Errorf("%d orphans are left, %v", len(orphans), err)
		}
		time.Sleep(3 * time.Minute)
		w.unchanged(before)
		w.sound()
		for _, claim := range w.claims() {
			if claim.Labels[api.LabelInstanceType] != "m5.large" || claim.Status.ImageID == "" || claim.Status.Capacity.Cpu().Value() != 2 || claim.Status.NodeName == "" {
				t.Errorf("claim %s has labels %v and status %+v", claim.Name, claim.Labels, claim.Status)
			}
			tags := w.tagsOf(translate.InstanceID(claim.Status.ProviderID))
			want := map[string]string{
				"Name": "karpenter.sh/provisioner-name/default", api.TagProvisioner: "default", api.TagNodePool: "default", api.TagNodeClaim: claim.Name,
				api.TagNodeClass: "default", api.TagEKSCluster: "test", "kubernetes.io/cluster/test": "owned",
			}
			if !maps.Equal(tags, want) {
				t.Errorf("machine of claim %s has the tags %v, want %v", claim.Name, tags, want)
			}
		}
		if reported := strings.Join(c.reports("daemok_nodes_adopted_total"), " "); !strings.Contains(reported, "nodepool=provisioner/default zone=us-east-1a 5") {
			t.Errorf("the metric tells %q", reported)
		}
		w.scale("inflate", 0)
		w.until(10*time.Minute, "the empty nodes go", w.empty)
	})
}

// nodePoolFor makes the NodePool to which the Provisioner's nodes are to go.
func (w *world) nodePoolFor() translate.PoolObject {
	w.t.Helper()
	return translate.FromNodePool(w.pool("default", nil))
}

// Nodes of a Provisioner are handed to a NodePool of the same name: the claims are others,
// and pods, nodes and instances are the same. The Provisioner can go then, and
// consolidation goes on.
func TestNodesAreHandedFromPoolToPool(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.five(setup{})
		before := w.lives()
		pool := w.nodePoolFor()
		w.adoptAll(pool)
		w.until(5*time.Minute, "the nodes are handed over", func() bool { return w.adopted(pool) })
		w.unchanged(before)
		w.delete(w.provisionerNow("default"))
		time.Sleep(3 * time.Minute)
		w.unchanged(before)
		w.sound()
		for _, n := range w.nodes() {
			if n.Labels[api.LabelProvisioner] != "default" {
				t.Errorf("node %s has the labels %v; pods may ask for its Provisioner's", n.Name, n.Labels)
			}
		}
		w.scale("inflate", 3)
		w.until(10*time.Minute, "consolidation goes on", func() bool { return w.run(3) && len(w.instances()) == 3 })
		w.scale("inflate", 0)
		w.until(10*time.Minute, "the empty nodes go", w.empty)
	})
}

// Nodes go to a NodePool, back, and there once more: claims that take them over have the names
// of those that had them then, and name each other.
func TestNodesAreHandedToAndFro(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.five(setup{})
		before := w.lives()
		newer := w.nodePoolFor()
		w.adoptAll(newer)
		w.until(5*time.Minute, "the nodes are handed over", func() bool { return w.adopted(newer) })
		older := provisioner.Pool(w.provisionerNow("default"))
		w.adoptAll(older)
		w.until(5*time.Minute, "the nodes are handed back", func() bool { return w.adopted(older) })
		w.unchanged(before)
		w.adoptAll(newer)
		w.until(5*time.Minute, "the nodes are handed over once more", func() bool { return w.adopted(newer) })
		w.unchanged(before)
		w.adoptAll(older)
		w.until(5*time.Minute, "the nodes are handed back once more", func() bool { return w.adopted(older) })
		w.delete(w.defaultPool())
		time.Sleep(3 * time.Minute)
		w.unchanged(before)
		w.sound()
	})
}

// The controller dies before or after each of its writes and calls while nodes are handed
// over, and another begins with an empty memory: no pod moves and no instance comes or goes.
func TestDeathAtAnyCallOfAHandOver(t *testing.T) {
	report := func(t *testing.T, dieAt int, after bool) (calls int) {
		reportAWS(t, 1, func(_ *testing.T, w *world) {
			c := w.five(setup{})
			w.until(time.Minute, "the machines have their names", func() bool {
				return !slices.ContainsFunc(w.claims(), func(c karpv1.NodeClaim) bool { return c.Annotations[api.AnnotationInstanceTagged] != "true" })
			})
			before := w.lives()
			pool := w.nodePoolFor()
			time.Sleep(time.Minute) // until all that follows from the class is done
			began := len(c.ordeal.made())
			c.ordeal.dieAfter(dieAt, after)
			w.adoptAll(pool)
			w.until(20*time.Minute, "the nodes are handed over", func() bool {
				if c.ordeal.isKilled() {
					c.done.Wait()
					w.story.add(fmt.Sprintf("the controller died at %s", c.ordeal.last()))
					c = w.start(setup{})
				}
				return w.adopted(pool)
			})
			calls = len(c.ordeal.made()) - began
			time.Sleep(5 * time.Minute)
			w.unchanged(before)
			w.sound()
		})
		return calls
	}
	calls := report(t, 0, false)
	if calls < 5*5 {
		t.Fatalf("it took %d calls only", calls)
	}
	const some = 7 // of the calls
	for k := 1; k <= calls; k++ {
		for _, after := range []bool{false, true} {
			if !tried(k-1, some, after) {
				continue
			}
			t.Run(fmt.Sprintf("at call %d, after it %v", k, after), func(t *testing.T) { report(t, k, after) })
		}
	}
}

// A claim that is to take over an instance that it cannot have says why, and nothing is
// launched for it; when it goes nothing else does.
func TestWhatCannotBeTakenOverStaysAsItIs(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.five(setup{}).stop()
		w.asThatEraLeftIt("default")
		nodes := w.nodes()
		instance := func(i int) string { return translate.InstanceID(nodes[i].Spec.ProviderID) }
		w.retag(instance(0), map[string]string{"kubernetes.io/cluster/other": "owned"})
		w.retag(instance(1), nil)
		before, launched := w.lives(), w.launched()
		pool := provisioner.Pool(w.provisionerNow("default"))
		ask := func(name, providerID string, i int) {
			c, err := translate.Adoption(pool, &nodes[i], "")
			if err != nil {
				t.Fatal(err)
			}
			c.Name, c.Annotations[api.AnnotationAdopt] = name, providerID
			w.create(c)
		}
		ask("foreign", nodes[0].Spec.ProviderID, 0)
		ask("nobodys", nodes[1].Spec.ProviderID, 1)
		ask("one", nodes[3].Spec.ProviderID, 3)
		ask("two", nodes[3].Spec.ProviderID, 3)
		ask("absent", "aws:///us-east-1a/i-0ffffffffffffffff", 4)
		ask("unreadable", "i-0ffffffffffffffff", 4)
		w.start(setup{}) // once both are there that ask for the same instance: the first alone would have it
		want := map[string]string{
			"foreign": "owned by cluster other", "nobodys": "has no tag kubernetes.io/cluster/test", "one": "NodeClaim two", "two": "NodeClaim one",
			"absent": "no node has the provider ID", "unreadable": "is no provider ID",
		}
		says := func() bool {
			for _, c := range w.claims() {
				launched := condition.Get(&c, karpv1.ClaimLaunched)
				if launched == nil || launched.Reason != karpv1.ReasonNotAdopted || !strings.Contains(launched.Message, want[c.Name]) {
					return false
				}
			}
			return len(w.claims()) == len(want)
		}
		w.until(time.Minute, "each says why not", says)
		for _, c := range w.claims() {
			if c.Name == "foreign" {
				edit(w, &c, func(c *karpv1.NodeClaim) { delete(c.Annotations, api.AnnotationAdopt) })
			}
		}
		want["foreign"] = "write it again or delete the claim"
		w.until(time.Minute, "without the annotation too", says)
		time.Sleep(5 * time.Minute)
		w.unchanged(before)
		for _, c := range w.claims() {
			w.delete(&c)
		}
		time.Sleep(5 * time.Minute)
		w.unchanged(before)
		if len(w.claims()) != 0 || w.launched() != launched {
			t.Errorf("%d machines were bought, and claims %v are left", w.launched()-launched, w.claimNames())
		}
	})
}

// Without the right to tag instances that others have launched an instance is taken over all
// the same, and stays until it has its tags.
func TestAInstanceThatCannotBeTaggedIsNotGivenUp(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.five(setup{}).stop()
		w.asThatEraLeftIt("default")
		before := w.lives()
		c := w.start(setup{aimed: &aim{action: "CreateTags", nth: 1, with: "UnauthorizedOperation", lasts: true}})
		pool := provisioner.Pool(w.provisionerNow("default"))
		w.adoptAll(pool)
		w.until(2*time.Minute, "users are told", func() bool { return w.events.said("NotTagged") })
		time.Sleep(3 * time.Minute)
		w.unchanged(before)
		w.scale("inflate", 0)
		time.Sleep(5 * time.Minute)
		if len(w.claims()) != 5 || len(w.liveInstances()) != 5 {
			t.Errorf("before their tags machines were given up: %s", w.state())
		}
		c.carrier.take(aim{})
		w.until(20*time.Minute, "with tags they go", w.empty)
	})
}
