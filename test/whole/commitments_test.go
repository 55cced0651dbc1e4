package whole_test

import (
	"context"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	emulated "github.com/daemok/daemok/test/emulator/commitment"
	"github.com/daemok/daemok/test/fakecloud"
)

// committed is a ConfigMap that lists commitments.
func committed(w *world, file string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{}
	c.Namespace, c.Name = "kube-system", api.ConfigMapCommitments
	c.Data = map[string]string{api.CommitmentsFile: file}
	w.create(c)
	return c
}

// orLarger lets a pool have r5.large too, which costs more than m5.large.
func orLarger(p *karpv1.NodePool) {
	p.Spec.Template.Spec.Requirements[0].Values = []string{"m5.large", "r5.large"}
}

// paid counts nodes by type and capacity type.
func (w *world) paid() map[string]int {
	out := map[string]int{}
	for _, n := range w.nodes() {
		out[n.Labels[api.LabelInstanceType]+" "+n.Labels[api.LabelCapacityType]]++
	}
	return out
}

// SC-656: Reserved Instances that nothing uses are used first, then what is cheapest, and nodes that they pay for stay.
// A ConfigMap that cannot be read is reported, and changes nothing.
func TestReservedInstancesAreUsedFirst(t *testing.T) {
	report(t, fakecloud.Options{Seed: 150}, func(t *testing.T, w *world) {
		w.pool("default", orLarger)
		c := committed(w, "reservedInstances: [{id: web, instanceType: r5.large, count: 2}]")
		w.start(setup{})
		time.Sleep(2 * time.Minute)
		w.scale("web", 3)
		w.until(10*time.Minute, "all pods run", func() bool { return w.run(3) })
		if got := w.paid(); got["r5.large on-demand"] != 2 {
			t.Errorf("nodes are %v, want two r5.large on demand; %s", got, w.state())
		}
		edit(w, c, func(c *corev1.ConfigMap) {
			c.Data[api.CommitmentsFile] = "reservedInstances: [{id: web, count: 2}]"
		})
		w.until(5*time.Minute, "a report", func() bool { return w.story.reports("event InvalidCommitments") })
		time.Sleep(time.Hour)
		if got := w.paid(); got["r5.large on-demand"] != 2 {
			t.Errorf("nodes are %v, want the r5.large to stay; %s", got, w.state())
		}
		w.sound()
	})
}

// Without the gate nothing is planned with commitments, and the ConfigMap says so by an event; a pool with the
// annotation plans without them too.
func TestCommitmentsAreIgnored(t *testing.T) {
	for name, tt := range map[string]struct {
		off    bool
		change func(*karpv1.NodePool)
	}{
		"by the gate": {true, orLarger},
		"by the pool": {false, func(p *karpv1.NodePool) {
			orLarger(p)
			p.Annotations = map[string]string{api.AnnotationCommitments: api.CommitmentsIgnore}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 151}, func(t *testing.T, w *world) {
				w.pool("default", tt.change)
				committed(w, "reservedInstances: [{id: web, instanceType: r5.large, count: 2}]")
				w.start(setup{noCommitments: tt.off})
				time.Sleep(2 * time.Minute)
				w.scale("web", 2)
				w.until(10*time.Minute, "all pods run", func() bool { return w.run(2) })
				if got := w.paid(); got["r5.large on-demand"] != 0 {
					t.Errorf("nodes are %v, want no r5.large on demand; %s", got, w.state())
				}
				if tt.off != w.story.reports("event NotInEffect") {
					t.Errorf("the gate is off: %v, and the ConfigMap is reported: %v", tt.off, !tt.off)
				}
			})
		})
	}
}

// SC-637: The account has Reserved Instances for three r5.large, one of which another cluster uses, and a Savings
// Plan for about one m5.large on demand. Pods get what is left of both rather than spot instances, and once the
// Reserved Instances have ended nodes go by price: the Savings Plan then pays for the other cluster's instance.
func TestCommitmentsOfTheAccountAreUsedUntilTheyEnd(t *testing.T) {
	reportAWS(t, 152, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) {
			orLarger(p)
			p.Spec.Template.Spec.Requirements[1].Values = []string{"on-demand", "spot"}
		})
		w.aws.server.AddReservedInstances(emulated.ReservedInstances{
			Type: "r5.large", Count: 3, EndsAt: time.Now().Add(3 * time.Hour),
		})
		w.aws.server.AddSavingsPlan(emulated.Plan{CommitmentUSD: 0.08})
		w.runElsewhere("r5.large")
		time.Sleep(5 * time.Minute)
		w.start(setup{account: true})
		time.Sleep(2 * time.Minute)
		w.scale("web", 3)
		w.until(10*time.Minute, "all pods run", func() bool { return w.run(3) })
		if got := w.paid(); got["r5.large on-demand"] != 2 || got["m5.large on-demand"] != 1 {
			t.Errorf("nodes are %v, want two r5.large and one m5.large on demand; %s", got, w.state())
		}
		time.Sleep(2 * time.Hour)
		if got := w.paid(); got["r5.large on-demand"] != 2 {
			t.Errorf("before the end nodes are %v, want the r5.large to stay; %s", got, w.state())
		}
		w.until(2*time.Hour, "spot instances alone", func() bool { return w.paid()["m5.large spot"] == 3 && w.run(3) })
	})
}

// SC-634: The controller may not read the account: plans go on without commitments, and with those that users list.
func TestCommitmentsThatMayNotBeRead(t *testing.T) {
	reportAWS(t, 153, func(t *testing.T, w *world) {
		w.pool("default", orLarger)
		w.aws.server.AddReservedInstances(emulated.ReservedInstances{Type: "r5.large", Count: 3})
		w.aws.server.Deny("DescribeReservedInstances", "DescribeSavingsPlans")
		committed(w, "reservedInstances: [{id: lent, instanceType: r5.large, count: 1}, {id: gone, usedElsewhere: 1}]")
		w.start(setup{account: true})
		time.Sleep(2 * time.Minute)
		w.scale("web", 2)
		w.until(10*time.Minute, "all pods run", func() bool { return w.run(2) })
		if got := w.paid(); got["r5.large on-demand"] != 1 {
			t.Errorf("nodes are %v, want one r5.large on demand, which is lent; %s", got, w.state())
		}
		if w.story.reports("event InvalidCommitments") {
			t.Error("an entry that names no commitment of the account is refused")
		}
	})
}

// SC-634: An event on the controller's pod names each right that is missing to read the account's commitments.
func TestRightsToReadCommitmentsThatAreMissing(t *testing.T) {
	reportAWS(t, 154, func(_ *testing.T, w *world) {
		w.pool("default", func(*karpv1.NodePool) {})
		w.aws.server.Deny("DescribeReservedInstances", "DescribeSavingsPlans")
		w.deploy("daemok", 1, func(p *corev1.Pod) { p.Namespace = "kube-system" })
		w.until(time.Second, "a pod of the controller", func() bool { return len(w.allPods()) == 1 })
		w.start(setup{account: true, pod: "daemok-1"})
		for _, kind := range []string{"Reserved Instances", "Savings Plans"} {
			words := "CommitmentsUnreadable: Plans go on with what was read before of " + kind
			w.until(5*time.Minute, words, func() bool { return w.events.said(words) })
		}
	})
}

// runElsewhere has an instance run in the account that is of another cluster.
func (w *world) runElsewhere(instanceType types.InstanceType) {
	w.t.Helper()
	ctx, api := context.Background(), w.ec2()
	architecture := types.Filter{Name: awssdk.String("architecture"), Values: []string{"x86_64"}}
	images, err := api.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: []types.Filter{architecture}})
	if err != nil {
		w.t.Fatal(err)
	}
	tags := []types.Tag{{Key: awssdk.String("kubernetes.io/cluster/other"), Value: awssdk.String("owned")}}
	_, err = api.RunInstances(ctx, &ec2.RunInstancesInput{
		MinCount: awssdk.Int32(1), MaxCount: awssdk.Int32(1),
		InstanceType: instanceType, ImageId: images.Images[0].ImageId,
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeInstance, Tags: tags}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
