package launch

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// oneClass offers two kinds under one class.
type oneClass struct{ notReady bool }

func (o oneClass) Class(ctx context.Context, ref karpv1.NodeClassReference) (translate.LaunchClass, error) {
	if o.notReady {
		return translate.LaunchClass{}, &translate.NotReadyError{ClassID: ref.Name, Why: "no subnets"}
	}
	return o.Known(ctx, ref)
}

func (oneClass) Known(context.Context, karpv1.NodeClassReference) (translate.LaunchClass, error) {
	return translate.LaunchClass{Cloud: cloud.Class{ID: "EC2NodeClass/main"}}, nil
}

func (oneClass) Kinds(context.Context, cloud.Class) (*cluster.Catalogue, error) {
	return &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{
		kind("m5.large", 2000, "a on-demand 96"), kind("m5.xlarge", 4000, "a on-demand 192"),
	}}, nil
}

// onlyPool is the pool "default", made of the class.
type onlyPool struct{}

func (onlyPool) Pool(id cluster.PoolID) (translate.PoolObject, bool) {
	p := &karpv1.NodePool{}
	p.Name = "default"
	p.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "main"}
	return translate.FromNodePool(p), id.Name == "default"
}

// listening is a cloud that records what it is asked to prepare.
type listening struct {
	mu       sync.Mutex
	reported []cloud.LaunchRequest
	err      error
}

func (l *listening) Prepare(_ context.Context, r cloud.LaunchRequest) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reported = append(l.reported, r)
	return l.err
}

// launching is a launch of the plan for an instance of one of the types.
func launching(pool string, cpu quantity.MilliCPU, types ...string) plan.Launch {
	return plan.Launch{
		Pool: cluster.PoolID{Kind: translate.KindNodePool, Name: pool}, Requests: quantity.Resources{CPU: cpu},
		Requirements: constraint.NewRequirements(want(api.LabelInstanceType, constraint.In, types...)),
	}
}

func TestPreparer(t *testing.T) {
	tests := map[string]struct {
		launches []plan.Launch
		notReady bool
		err      error
		reported int
		log      string
	}{
		"each launch is prepared for":               {[]plan.Launch{launching("default", 1000, "m5.large"), launching("default", 3000, "m5.xlarge")}, false, nil, 2, ""},
		"equal ones are told of once":               {[]plan.Launch{launching("default", 1000, "m5.large"), launching("default", 1500, "m5.large")}, false, nil, 1, ""},
		"a refusal is logged, the others go on":     {[]plan.Launch{launching("default", 1000, "m5.large"), launching("default", 3000, "m5.xlarge")}, false, errors.New("no rights"), 2, "no rights"},
		"a pool that went needs nothing":            {[]plan.Launch{launching("gone", 1000, "m5.large")}, false, nil, 0, ""},
		"a class that is not ready is left alone":   {[]plan.Launch{launching("default", 1000, "m5.large")}, true, nil, 0, ""},
		"what cannot be bought is not prepared for": {[]plan.Launch{launching("default", 1000, "x9.huge")}, false, nil, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			ears := &listening{err: tt.err}
			p := &Preparer{
				Pools: onlyPool{}, Instances: ears, Log: slog.New(slog.NewTextHandler(&log, nil)),
				Requests: &Requests{Classes: oneClass{tt.notReady}, Catalog: oneClass{}},
			}
			p.Prepare(t.Context(), tt.launches)
			if len(ears.reported) != tt.reported {
				t.Errorf("told of %d requests, want %d", len(ears.reported), tt.reported)
			}
			if !strings.Contains(log.String(), tt.log) || tt.log == "" && log.Len() > 0 {
				t.Errorf("logged %q, want %q", log.String(), tt.log)
			}
		})
	}
}

// TestWhatIsForeseenIsNotLookedUpAgain: of launches that are made ready alike each has what
// can be launched for it looked up ahead.
func TestWhatIsForeseenIsNotLookedUpAgain(t *testing.T) {
	requests := &Requests{Classes: oneClass{}, Catalog: oneClass{}}
	launches := []plan.Launch{launching("default", 1000, "m5.large"), launching("default", 1500, "m5.large"), launching("default", 1500, "m5.large")}
	(&Preparer{Pools: onlyPool{}, Instances: &listening{}, Log: slog.New(slog.DiscardHandler), Requests: requests}).Prepare(t.Context(), launches)
	for _, l := range launches {
		before := maps.Clone(requests.choices.of["EC2NodeClass/main"].chosen)
		if _, err := forms(t, requests, l); err != nil {
			t.Fatal(err)
		}
		if after := requests.choices.of["EC2NodeClass/main"].chosen; len(before) != 2 || len(after) != len(before) {
			t.Errorf("%d choices are known before the claim of %v, %d after it; want those of both sizes", len(before), l.Requests, len(after))
		}
	}
}

// TestWhatIsPreparedIsWhatIsLaunched: the request foreseen and the one formed
// from the launch's claim are equal, or what is ready would be of no use.
func TestWhatIsPreparedIsWhatIsLaunched(t *testing.T) {
	ears, requests := &listening{}, &Requests{Classes: oneClass{}, Catalog: oneClass{}}
	l := launching("default", 1000, "m5.large", "m5.xlarge")
	l.Labels = constraint.NewLabels(map[string]string{"rack": "7"})
	(&Preparer{Pools: onlyPool{}, Instances: ears, Log: slog.New(slog.DiscardHandler), Requests: requests}).Prepare(t.Context(), []plan.Launch{l})
	pool, _ := onlyPool{}.Pool(l.Pool)
	c, err := translate.Claim(pool, l, "x7k2p")
	if err != nil {
		t.Fatal(err)
	}
	launched, err := requests.For(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	foreseen, _ := sameRequest(Request{LaunchRequest: ears.reported[0], ClassMarks: launched.ClassMarks, Whole: launched.Whole})
	if real, err := sameRequest(launched); err != nil || foreseen != real {
		t.Errorf("prepared %+v\nbought   %+v (%v)", ears.reported[0], launched, err)
	}
}
