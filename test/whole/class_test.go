package whole_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws"
	product "github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/class"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/observe"
)

// Names of the role of instances: by itself, and with all that leads to it.
const (
	nodeRole    = "KarpenterNodeRole-test"
	nodeProfile = "KarpenterNodeInstanceProfile-test"
	nodeRoleARN = "arn:aws:iam::123456789012:role/" + nodeRole
)

// makeClass makes the class of all pools.
func (w *world) makeClass() {
	tags := map[string]string{"karpenter.sh/discovery": "test"}
	c := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	c.Spec.Role = nodeRole
	c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: tags}}
	c.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Tags: tags}}
	w.create(c)
}

// nodeClass is the class as the server has it; nil where it has none.
func (w *world) nodeClass() *awsv1.EC2NodeClass {
	w.t.Helper()
	c := &awsv1.EC2NodeClass{}
	err := w.hand.Get(context.Background(), client.ObjectKey{Name: "default"}, c)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return c
}

// choose has the class select these images.
func (w *world) choose(alias string) {
	w.t.Helper()
	edit(w, w.nodeClass(), func(c *awsv1.EC2NodeClass) { c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: alias}} })
}

// otherRole has the class name its role in another way: that takes another profile.
func (w *world) otherRole() {
	w.t.Helper()
	edit(w, w.nodeClass(), func(c *awsv1.EC2NodeClass) {
		c.Spec.Role = map[string]string{nodeRole: nodeRoleARN, nodeRoleARN: nodeRole}[c.Spec.Role]
	})
}

// ec2NodeClasses is the kind of classes in these stories.
func ec2NodeClasses() *class.Kind {
	kind := class.NodeClasses("Y2E=", validate.ClassOptions{})
	return &kind
}

// nodeClasses is what a controller does about classes.
func (w *world) nodeClasses(p *aws.Provider, b build, known product.NodeClasses, live client.Reader, events *observe.Events, metrics *observe.Metrics) ([]product.Loop, []product.Round) {
	var loops []product.Loop
	for _, kind := range w.kinds {
		loops = append(loops, product.ClassLoop(&class.Reconciler{
			Kind: kind, Store: known.Store.(client.Client), Live: live, Finder: p, Events: events, Metrics: metrics, Log: w.log, Now: time.Now, DryRun: true, Verified: aws.VerifiedFor, ReservedCapacity: true,
			Form: b.form(), Build: b.name, Compared: known.Compared,
		}))
	}
	return loops, []product.Round{product.ProfilesRound(&class.Profiles{Live: live, Kinds: w.kinds, Cloud: p, Every: aws.ProfilesEvery, Log: w.log})}
}

// made names the launch templates and instance profiles at AWS that the account did not
// begin with.
func (w *world) made() []string {
	w.t.Helper()
	var account struct {
		Account struct {
			Templates map[string]struct{ Name string }
			Profiles  map[string]struct{ Name string }
		}
	}
	text, err := w.aws.server.Export()
	if err == nil {
		err = json.Unmarshal(text, &account)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, t := range account.Account.Templates {
		out = append(out, "launch template "+t.Name)
	}
	for _, p := range account.Account.Profiles {
		out = append(out, "instance profile "+p.Name)
	}
	slices.Sort(out)
	return slices.DeleteFunc(out, func(name string) bool { return slices.Contains(w.aws.given, name) })
}

// leave deletes the class, which has no instances any more: in the end nothing is left of
// what was made for it.
func (w *world) leave(followed func(holds func() bool) func() bool) {
	w.t.Helper()
	w.delete(w.nodeClass())
	w.until(8*time.Minute, "an end of the class", followed(func() bool { return w.nodeClass() == nil }))
	if left := w.made(); len(left) > 0 {
		w.t.Errorf("the class has gone and left %v", left)
	}
}

func (w *world) classIsReady() bool { return condition.IsTrue(w.nodeClass(), awsv1.ClassReady) }

// lookUps are all calls by which it is found out whether a class that was ready still is.
var lookUps = []string{
	"CreateFleet" + dryRun, "CreateLaunchTemplate" + dryRun, "DescribeCapacityReservations", "DescribeCluster", "DescribeImages", "DescribePlacementGroups",
	"DescribeSecurityGroups", "DescribeSubnets", "GetInstanceProfile", "GetParameter", "ListInstanceProfiles", "RunInstances" + dryRun,
}

// saysNothing reports whether a trouble leaves open what AWS would have answered.
func (t trouble) saysNothing() bool {
	return slices.Contains([]trouble{notSent, noReply, "RequestLimitExceeded", "InternalError", "Unavailable", "ServiceFailure", "Throttling", "InternalServerError",
		"ThrottlingException", "ServerException", "ServiceUnavailableException"}, t)
}

// checkWithoutEffect has a controller begin where a class is ready and two instances run, and a
// look-up fail for twelve minutes. It returns what was asked of AWS.
func (w *world) checkWithoutEffect(a *aim) map[string]int {
	w.t.Helper()
	const n = 2
	w.inPartitions()
	edit(w, w.nodeClass(), func(c *awsv1.EC2NodeClass) {
		c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "web"}}}
	})
	w.up(n, nil, plain).stop()
	old := w.claimNames()
	c, stays := w.start(setup{aimed: a}), a == nil || a.with.saysNothing()
	for end := time.Now().Add(12 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		if stays && !w.classIsReady() {
			w.t.Fatalf("the class is not ready any more, without an answer of AWS: %+v",
				w.nodeClass().Status.Conditions)
		}
	}
	if reasons := w.drifted(); len(reasons) > 0 || w.launched() != n || !slices.Equal(w.claimNames(), old) || !w.run(n) {
		w.t.Errorf("drifted by %v, %d machines bought, claims were %v; %s", reasons, w.launched(), old, w.state())
	}
	calls := c.ordeal.counted(asked)
	c.carrier.take(aim{})
	w.until(3*time.Minute, "a class that is ready", w.classIsReady)
	w.scale("web", n+1)
	w.until(5*time.Minute, "another pod running", func() bool { return w.run(n + 1) })
	if w.launched() != n+1 {
		w.t.Errorf("bought %d machines for %d pods; %s", w.launched(), n+1, w.state())
	}
	w.sound()
	return calls
}

// A class is ready, and then one look-up fails for long, in each way that AWS documents,
// also to a controller that has just begun. Where that is no answer the class stays ready;
// nothing is disrupted whatever it is, and instances can be launched once calls work again.
func TestNoTroubleOfALookUpDisruptsAnything(t *testing.T) {
	calls := map[string]int{}
	reportAWS(t, 7, func(_ *testing.T, w *world) { calls = w.checkWithoutEffect(nil) })
	i := 0
	for _, action := range lookUps {
		if calls[action] == 0 {
			t.Errorf("%s is never called: what is tested? %v", action, calls)
		}
		for _, with := range troubles(action) {
			if i++; *deaths > 0 && i%(16**deaths) != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s %s", action, with), func(t *testing.T) {
				reportAWS(t, 7, func(_ *testing.T, w *world) {
					w.checkWithoutEffect(&aim{action: action, nth: 1, with: with, lasts: true})
				})
			})
		}
	}
}
