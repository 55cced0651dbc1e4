package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

// heard collects events.
type heard []observe.Event

func (h *heard) Publish(e observe.Event) { *h = append(*h, e) }

// reservedCapacity is a catalogue of one kind and the class that offers it.
type reservedCapacity struct{}

func (reservedCapacity) Kinds(context.Context, cloud.Class) (*cluster.Catalogue, error) {
	offering := cluster.Offering{Zone: "a", Option: cluster.Spot, Price: 40_000, Priced: true}
	has := quantity.Resources{CPU: 2000}.With(efa, 1)
	return &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{{Name: "m5.large", Capacity: has, Allocatable: has, OnRequest: []string{efa}, Offerings: []cluster.Offering{offering}}}}, nil
}

func (reservedCapacity) Class(context.Context, karpv1.NodeClassReference) (translate.LaunchClass, error) {
	return translate.LaunchClass{}, nil
}
func (reservedCapacity) Known(context.Context, karpv1.NodeClassReference) (translate.LaunchClass, error) {
	return translate.LaunchClass{}, nil
}

// outcomesFor is what writes outcomes on the claim named a, of the pool
// default.
func outcomesFor(t *testing.T) (o *Outcomes, c *karpv1.NodeClaim, events *heard, lines *bytes.Buffer) {
	t.Helper()
	store := storeWith("a")
	c, events, lines = &karpv1.NodeClaim{}, &heard{}, &bytes.Buffer{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	c.Labels = map[string]string{api.LabelNodePool: "default"}
	if err := store.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	o = &Outcomes{
		Store: store, Classes: reservedCapacity{}, Catalog: reservedCapacity{}, Events: events, Log: slog.New(slog.NewTextHandler(lines, nil)),
		Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", ""), Now: func() time.Time { return time.Unix(0, 0) },
	}
	return o, c, events, lines
}

func TestTheInstanceThatWasLaunchedIsInTheLog(t *testing.T) {
	o, c, _, lines := outcomesFor(t)
	if err := o.Launched(t.Context(), c, cloud.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", Kind: "m5.large", Zone: "a", Option: cluster.Spot}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"level=INFO", "claim=a", "pool=default", "instance=i-1", "type=m5.large", "zone=a", "capacityType=spot", "priceUSDPerHour=0.04"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("the log says\n%swant %q in it", lines, want)
		}
	}
}

// SC-229: what was launched stands on the claim: the instance, its image, what it has,
// and that it is launched. Labels of the claim itself are kept, but for those that the instance
// decides and an attempt has left there whose instance is gone.
func TestTheInstanceThatWasLaunchedIsOnItsClaim(t *testing.T) {
	o, c, _, _ := outcomesFor(t)
	c.Labels[api.LabelZone], c.Labels[api.LabelGPUName], c.Labels["team"] = "b", "t4", "web"
	if err := o.Store.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := o.Launched(t.Context(), c, cloud.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", Image: "ami-1", Kind: "m5.large", Zone: "a", Option: cluster.Spot}); err != nil {
		t.Fatal(err)
	}
	got := &karpv1.NodeClaim{}
	if err := o.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, got); err != nil {
		t.Fatal(err)
	}
	if got.Status.ProviderID != "aws:///a/i-1" || got.Status.ImageID != "ami-1" || !condition.IsTrue(got, karpv1.ClaimLaunched) {
		t.Errorf("status %+v, want machine aws:///a/i-1 of image ami-1, launched", got.Status)
	}
	if cpu := got.Status.Capacity.Cpu().String(); cpu != "2" {
		t.Errorf("the machine has %s cores, want 2", cpu)
	}
	if _, there := got.Status.Allocatable[efa]; there {
		t.Errorf("the machine has %v for pods, and none of them asked for %s", got.Status.Allocatable, efa)
	}
	for key, want := range map[string]string{
		api.LabelNodePool: "default", api.LabelInstanceType: "m5.large", api.LabelCapacityType: "spot", api.LabelZone: "a", api.LabelGPUName: "", "team": "web",
	} {
		if got.Labels[key] != want {
			t.Errorf("label %s = %q, want %q", key, got.Labels[key], want)
		}
	}
}

// SC-230: a claim that nothing can be launched for goes, so that a plan can look
// elsewhere at once; it is counted by the reason.
func TestAClaimThatNothingCanBeLaunchedForGoes(t *testing.T) {
	tests := map[string]struct {
		why           error
		reason, count string
	}{
		"machines are short":     {&cloud.NoCapacityError{Cause: "sold out"}, "InsufficientCapacityError", "insufficient_capacity"},
		"its class is not ready": {fmt.Errorf("buy: %w", &translate.NotReadyError{ClassID: "EC2NodeClass/default", Why: "no subnets"}), "NodeClassNotReady", "nodeclass_not_ready"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, c, events, _ := outcomesFor(t)
			registry := prometheus.NewRegistry()
			o.Metrics = observe.NewMetrics(registry, "", "", "", "")
			if err := o.NotToBeHad(t.Context(), c, tt.why); err != nil {
				t.Fatal(err)
			}
			if err := o.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, &karpv1.NodeClaim{}); !apierrors.IsNotFound(err) {
				t.Errorf("the claim is still there (%v)", err)
			}
			if got := (*events)[0]; got.Reason != tt.reason || got.Key != "NodeClaim/a" || !strings.Contains(got.Message, tt.why.Error()) {
				t.Errorf("told %+v, want %s with %q", got, tt.reason, tt.why)
			}
			lines, err := scraped.Lines(registry, "karpenter_nodeclaims_disrupted_total")
			if err != nil || len(lines) != 1 || !strings.Contains(lines[0], "nodepool=default reason="+tt.count+" ") || !strings.HasSuffix(lines[0], " 1") {
				t.Errorf("counted %q (%v), want one of %s", lines, err, tt.count)
			}
		})
	}
}

// Each launch that failed is one line, however many claims it was for.
func TestALaunchRequestThatFailedIsInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lines := newEmulated(), &bytes.Buffer{}
		s.before = func(cloud.LaunchRequest) error { return errors.New("no route to host") }
		store := storeWith("a", "b")
		l := (&Launcher{
			Store: store, Live: store, Requests: s, Instances: s, Outcome: book{store: store},
			Log: slog.New(slog.NewTextHandler(lines, nil)), Now: time.Now, CallFor: time.Second,
		}).Open()
		l.Add("a")
		l.Add("b")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_ = l.Run(ctx)
		if got := strings.Count(lines.String(), "level=WARN"); got != len(s.requests) || !strings.Contains(lines.String(), "claims=2") {
			t.Errorf("%d lines for %d purchases:\n%s", got, len(s.requests), lines)
		}
	})
}

func TestAShortageIsReportedToThePool(t *testing.T) {
	o, c, events, _ := outcomesFor(t)
	if err := o.NotToBeHad(t.Context(), c, &cloud.NoCapacityError{Cause: "nothing fits"}); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, e := range *events {
		got = append(got, e.Key+" "+e.Reason+" "+e.Message)
	}
	want := []string{
		"NodeClaim/a InsufficientCapacityError NodeClaim a: no capacity: nothing fits",
		"NodePool/default InsufficientCapacityError NodeClaim a: no capacity: nothing fits; what else the pool allows is tried",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	*events = nil
	o.Short([]*karpv1.NodeClaim{c}, &translate.NotReadyError{ClassID: "EC2NodeClass/default", Why: "no subnets"})
	if len(*events) > 0 {
		t.Errorf("a class that is not ready is told as a shortage: %+v", *events)
	}
}

// What is launched on demand in the place of spot should be of five types at least.
func TestFewTypesInThePlaceOfSpotAreReportedToThePool(t *testing.T) {
	o, c, events, _ := outcomesFor(t)
	o.Few(c, []string{"m5.large", "m5a.large"})
	if got := *events; len(got) != 1 || got[0].Key != "NodePool/default" || !got[0].Warning || got[0].Reason != "FewInstanceTypes" ||
		!strings.Contains(got[0].Message, "on demand, with no more types than m5.large, m5a.large: allow at least 5") {
		t.Errorf("events %+v", got)
	}
}

// The reason stands before the message wherever users read it.
func TestAReasonIsNotSaidTwice(t *testing.T) {
	tests := map[string]struct {
		err          error
		reason, want string
	}{
		"a refusal":         {&cloud.RefusedError{Reason: "LaunchFailed", Cause: "spec.userData: line 1"}, "LaunchFailed", "spec.userData: line 1"},
		"a refusal wrapped": {fmt.Errorf("buy: %w", &cloud.RefusedError{Reason: "InvalidAMIID", Cause: "ami-1"}), "InvalidAMIID", "buy: ami-1"},
		"too many calls":    {&cloud.ThrottledError{Call: "ec2:CreateFleet"}, "RequestLimitExceeded", "ec2:CreateFleet is throttled by the cloud: have other programs of this account call it less often"},
		"the cloud fails":   {&cloud.InternalError{Cause: errors.New("call ec2:CreateFleet: InternalError")}, "InternalError", "call ec2:CreateFleet: InternalError"},
		"no answer":         {errors.New("connection reset"), "LaunchFailed", "connection reset"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, c, events, _ := outcomesFor(t)
			if err := o.Failed(t.Context(), c, tt.err); err != nil {
				t.Fatal(err)
			}
			is := condition.Get(c, karpv1.ClaimLaunched)
			if is.Reason != tt.reason || is.Message != tt.want || (*events)[0].Message != tt.want {
				t.Errorf("condition %s, event %q; want %s: %s", condition.Describe(is), (*events)[0].Message, tt.reason, tt.want)
			}
		})
	}
}

// fields is a class whose fields have other names than those of an EC2NodeClass.
type fields struct{ reservedCapacity }

func (fields) Known(context.Context, karpv1.NodeClassReference) (translate.LaunchClass, error) {
	return translate.LaunchClass{InWords: func(text string) string {
		return strings.ReplaceAll(text, "spec.amiSelectorTerms", "spec.amiSelector")
	}}, nil
}

// What a user can do about a failure names the fields of the claim's own class.
func TestAFailureNamesTheFieldsOfTheClass(t *testing.T) {
	o, c, events, _ := outcomesFor(t)
	o.Classes = fields{}
	if err := o.Failed(t.Context(), c, &cloud.RefusedError{Reason: "AMINotFound", Cause: "select an image that exists in spec.amiSelectorTerms"}); err != nil {
		t.Fatal(err)
	}
	const want = "select an image that exists in spec.amiSelector"
	if says := condition.Get(c, karpv1.ClaimLaunched).Message; says != want || (*events)[0].Message != want {
		t.Errorf("condition %q, event %q; want %q", says, (*events)[0].Message, want)
	}
}
