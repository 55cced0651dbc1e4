package launch

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

const efa = "vpc.amazonaws.com/efa"

// oneKind offers one kind alone.
type oneKind struct{ kind cluster.InstanceType }

func (o oneKind) Kinds(context.Context, cloud.Class) (*cluster.Catalogue, error) {
	return &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{o.kind}}, nil
}

// forms forms the request for a launch's claim.
func forms(t *testing.T, requests *Requests, l plan.Launch) (Request, error) {
	t.Helper()
	pool, _ := onlyPool{}.Pool(l.Pool)
	c, err := translate.Claim(pool, l, "x7k2p")
	if err != nil {
		t.Fatal(err)
	}
	return requests.For(t.Context(), c)
}

// TestThoseThatAskForAFabricAreLaunchedApart: the cloud attaches it to instances whose request
// says so, and has to make ready what they are launched from.
func TestThoseThatAskForAFabricAreLaunchedApart(t *testing.T) {
	with := kind("c5n.18xlarge", 72000, "a on-demand 3888")
	with.Capacity, with.Allocatable = with.Capacity.With(efa, 1), with.Allocatable.With(efa, 1)
	with.Offerings[0].Labels = with.Offerings[0].Labels.With(api.LabelZoneID, "use1-az1")
	ears, requests := &listening{}, &Requests{Classes: oneClass{}, Catalog: oneKind{with}}
	plain := launching("default", 1000, "c5n.18xlarge")
	asking := plain
	asking.Requests = plain.Requests.With(efa, 1)
	one, err := forms(t, requests, plain)
	if err != nil || one.Options[0].ZoneID != "use1-az1" {
		t.Fatalf("offers %+v, error %v", one.Options, err)
	}
	other, err := forms(t, requests, asking)
	if err != nil || !slices.Equal(other.Extended, []string{efa}) {
		t.Errorf("SC-446: the request says %v, error %v; want %s", other.Extended, err, efa)
	}
	claiming := plain
	claiming.Pods = []cluster.Pod{{Name: "a", Shape: &cluster.Shape{Drivers: []string{api.DriverEFA}}}}
	third, err := forms(t, requests, claiming)
	if err != nil || !slices.Equal(third.Extended, []string{efa}) {
		t.Errorf("SC-668: for a claim the request says %v, error %v; want %s", third.Extended, err, efa)
	}
	first, _ := sameRequest(one)
	if second, err := sameRequest(other); err != nil || first == second {
		t.Errorf("SC-446: both are bought with one request, error %v", err)
	}
	(&Preparer{Pools: onlyPool{}, Instances: ears, Log: slog.New(slog.DiscardHandler), Requests: requests}).Prepare(t.Context(), []plan.Launch{plain, asking})
	if len(ears.reported) != 2 {
		t.Errorf("%d of the two are prepared for", len(ears.reported))
	}
}

// TestAClaimThatNothingIsLeftForSaysWhatHelps: where the cloud says why an offering cannot be
// had and what to do, so does the claim's pool.
func TestAClaimThatNothingIsLeftForSaysWhatHelps(t *testing.T) {
	for _, why := range []string{"", "AWS limits the account to 4 vCPUs: request more in Service Quotas"} {
		gone := kind("m5.large", 2000, "!a spot 30", "!a on-demand 96")
		gone.Offerings[1].Why = why
		_, err := forms(t, &Requests{Classes: oneClass{}, Catalog: oneKind{gone}}, launching("default", 1000, "m5.large"))
		short, ok := errors.AsType[*cloud.NoCapacityError](err)
		if !ok || !strings.HasSuffix(short.Cause, "available now"+strings.TrimSuffix(": "+why, ": ")) {
			t.Errorf("%v; want it to end in %q", err, why)
		}
	}
}

// An attempt that wrote the labels of its instance on the claim, and whose instance went
// before more was written, decides nothing about the next one.
func TestLabelsOfAnEarlierAttemptDecideNothing(t *testing.T) {
	pool, _ := onlyPool{}.Pool(launching("default", 1000).Pool)
	l := launching("default", 1000, "m5.xlarge")
	l.Labels = constraint.NewLabels(map[string]string{"team": "web"})
	c, err := translate.Claim(pool, l, "x7k2p")
	if err != nil {
		t.Fatal(err)
	}
	want, err := (&Requests{Classes: oneClass{}, Catalog: oneClass{}}).For(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Labels = maps.Clone(c.Labels)
	c.Labels[api.LabelInstanceType], c.Labels[api.LabelZone], c.Labels[api.LabelCapacityType] = "t3a.nano", "b", "spot"
	got, err := (&Requests{Classes: oneClass{}, Catalog: oneClass{}}).For(t.Context(), c)
	if err != nil || !slices.Equal(got.Options, want.Options) || !maps.Equal(got.Node.Labels, want.Node.Labels) {
		t.Errorf("asks for %+v with labels %v, error %v; want %+v with %v", got.Options, got.Node.Labels, err, want.Options, want.Node.Labels)
	}
	if want.Node.Labels["team"] != "web" || len(want.Options) != 1 {
		t.Errorf("asks for %+v with labels %v; want an m5.xlarge, and the label team", want.Options, want.Node.Labels)
	}
}

// TestMinValuesThatCannotBeKeptAnyMore: the plan kept them, and since then a
// type was unavailable.
func TestMinValuesThatCannotBeKeptAnyMore(t *testing.T) {
	tests := map[string]struct {
		least    int
		relaxed  string
		launched bool
	}{
		"what is kept is bought":                                 {2, "", true},
		"what is not makes room for a new plan":                  {3, "", false},
		"so does a claim that says it was not relaxed":           {3, "false", false},
		"SC-120 a claim that was relaxed is bought all the same": {3, "true", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{api.AnnotationMinValuesRelaxed: tt.relaxed}}}
			c.Spec.Requirements = []karpv1.Requirement{{Key: api.LabelInstanceType, Operator: "Exists", MinValues: &tt.least}}
			r, err := (&Requests{Classes: oneClass{}, Catalog: oneClass{}}).For(t.Context(), c)
			if short, ok := errors.AsType[*cloud.NoCapacityError](err); ok == tt.launched || tt.launched && len(r.Options) != 2 || r.Relaxed != (tt.launched && tt.relaxed == "true") {
				t.Errorf("For = %d offers, relaxed %v, %v; bought must be %v", len(r.Options), r.Relaxed, short, tt.launched)
			}
		})
	}
}
