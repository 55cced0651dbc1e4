package launch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
)

// What a claim says was decided is what was launched, with what spoke against the choices before it.
func TestADecisionReportsWhatWasLaunchedAndWhyTheFirstChoicesWereNot(t *testing.T) {
	offering := func(kind string, option cluster.Option, had bool, why string) cluster.InstanceType {
		return cluster.InstanceType{Name: kind, Offerings: []cluster.Offering{{Zone: "a", Option: option, Available: had, Why: why, Price: 90000, Priced: true}}}
	}
	const (
		c6a  = `"type":"c6a.large","zone":"a","option":"on-demand","price":0.08`
		c7i  = `"type":"c7i-flex.large","zone":"a","option":"on-demand","price":0.09`
		c6i  = `"type":"c6i.large","zone":"a","option":"on-demand","price":0.085`
		spot = `"type":"c6a.large","zone":"a","option":"spot","price":0.03`
	)
	for name, tt := range map[string]struct {
		said    string
		offered []cluster.InstanceType
		option  cluster.Option
		want    string
		instead string
		because string
	}{
		"it was launched as decided": {
			said: `{` + c7i + `,"reason":"cheapest"}`, offered: []cluster.InstanceType{offering("c7i-flex.large", cluster.OnDemand, true, "")}, option: cluster.OnDemand,
			want: `{` + c7i + `,"reason":"cheapest"}`,
		},
		"the first choices were sold out": {
			said: `{` + c6a + `,"cost":0.081,"reason":"cheapest","runnersUp":[{` + c6i + `,"whyNot":"$0.005/h more"},{` + c7i + `,"whyNot":"$0.010/h more"}]}`,
			offered: []cluster.InstanceType{
				offering("c6a.large", cluster.OnDemand, false, ""), offering("c6i.large", cluster.OnDemand, false, "the quota is used up"), offering("c7i-flex.large", cluster.OnDemand, true, ""),
			}, option: cluster.OnDemand,
			want:    `{` + c7i + `,"cost":0.091,"reason":"cheapest","runnersUp":[{` + c6a + `,"cost":0.081,"whyNot":"insufficient capacity"},{` + c6i + `,"whyNot":"the quota is used up"}]}`,
			instead: "c6a.large in a, on-demand", because: "insufficient capacity",
		},
		"EC2 took another of the types, which it may": {
			said: `{` + spot + `}`, offered: []cluster.InstanceType{offering("c6a.large", cluster.Spot, true, ""), offering("c7i-flex.large", cluster.Spot, true, "")}, option: cluster.Spot,
			want: `{"type":"c7i-flex.large","zone":"a","option":"spot","price":0.09,"runnersUp":[{` + spot +
				`,"whyNot":"EC2 chose among what the NodeClaim allows, by price and by how much it has of each"}]}`,
			instead: "c6a.large in a, spot", because: "EC2 chose among what the NodeClaim allows, by price and by how much it has of each",
		},
		"of two tenancies it was the one for all": {
			said: `{` + c6a + `}`, offered: []cluster.InstanceType{{Name: "c6a.large", Offerings: []cluster.Offering{
				{Zone: "a", Option: cluster.OnDemand, Available: true, Unless: constraint.Label{Key: "tenancy", Value: "default"}}, {Zone: "a", Option: cluster.OnDemand},
			}}}, option: cluster.OnDemand,
			want:    `{` + c7i + `,"runnersUp":[{` + c6a + `,"whyNot":"insufficient capacity"}]}`,
			instead: "c6a.large in a, on-demand", because: "insufficient capacity",
		},
		"it is no decision": {said: `decided`, option: cluster.OnDemand, want: `decided`},
	} {
		t.Run(name, func(t *testing.T) {
			m := cloud.Instance{Kind: "c7i-flex.large", Zone: "a", Option: tt.option}
			got, other := decided(tt.said, m, cluster.Offering{Price: 90000, Priced: true}, &cluster.Catalogue{InstanceTypes: tt.offered})
			if got != tt.want || other != (instead{tt.instead, tt.because}) {
				t.Errorf("the decision is\n%s, %+v; want\n%s, %s: %s", got, other, tt.want, tt.instead, tt.because)
			}
		})
	}
}

// The claim, the log and the record say the same, also where the claim's status cannot be written at first.
func TestWhatWasLaunchedInPlaceOfTheDecisionIsReported(t *testing.T) {
	o, c, _, lines := outcomesFor(t)
	reported := &recorded{}
	o.Record = reported
	c.Annotations = map[string]string{api.AnnotationDecision: `{"type":"m6a.large","zone":"a","option":"spot"}`}
	if err := o.Store.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	m := cloud.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", Kind: "m5.large", Zone: "a", Option: cluster.Spot}
	store := o.Store
	o.Store = interceptor.NewClient(store.(client.WithWatch), interceptor.Funcs{
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			return errors.New("the API server is away")
		},
	})
	if err := o.Launched(t.Context(), c, m); err == nil {
		t.Fatal("the status was written though the API server was away")
	}
	o.Store = store
	if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	if err := o.Launched(t.Context(), c, m); err != nil {
		t.Fatal(err)
	}
	if want := `{"type":"m5.large","zone":"a","option":"spot","price":0.04,"runnersUp":[{"type":"m6a.large","zone":"a","option":"spot","whyNot":"it is not offered to the pool any more"}]}`; c.Annotations[api.AnnotationDecision] != want {
		t.Errorf("the claim says %s, want %s", c.Annotations[api.AnnotationDecision], want)
	}
	want := recorded{"a was launched as m5.large in a, spot, not as m6a.large in a, spot: it is not offered to the pool any more", "a has i-1: m5.large in a, spot"}
	if !slices.Equal(*reported, want) {
		t.Errorf("the record says %q, want %q", *reported, want)
	}
	if want := `insteadOf="m6a.large in a, spot" because="it is not offered to the pool any more"`; !strings.Contains(lines.String(), want) {
		t.Errorf("the log says\n%swant %s in it", lines, want)
	}
}
