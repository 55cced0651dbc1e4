package aws

import (
	"context"
	"errors"
	"maps"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/pace"
	"github.com/daemok/daemok/cloud/aws/rights"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Pause is a wait in which the clock moves on.
func (c *clock) Pause(ctx context.Context, d time.Duration) error {
	c.Advance(d)
	return ctx.Err()
}

// account is an emulated AWS account and a provider that has learnt its types. The provider has the
// rights of the policies that users are given, and no others.
type account struct {
	*clock
	server   *emulator.Server
	provider *Provider
	class    nodeclass.Class
	launched string         // an instance
	admin    client.Clients // that may do everything
}

func openAccount(t testing.TB) *account {
	t.Helper()
	a := &account{clock: newClock()}
	a.server = emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Now: a.Now})
	web := httptest.NewServer(a.server)
	t.Cleanup(func() { a.server.Close(); web.Close() })
	pointAt(t, web.URL)
	a.admin = client.From(client.At(web.URL, "us-east-1", client.Key{ID: "admin", Secret: "secret"}), pace.New(a.Now, a.Pause))
	a.restrict(t)
	var err error
	if a.provider, err = New(t.Context(), Options{Cluster: "prod", Now: a.Now, Pause: a.Pause, MemoryOverhead: 0.075,
		Warn: func(err error) { t.Error(err) }}); err != nil {
		t.Fatal(err)
	}
	if err := a.provider.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.provider.types, a.provider.typesSeq = a.types(t), 1 // prices: those of the table
	a.class = a.resolve(t, defaultSpec())
	a.Advance(time.Minute) // a profile just made is accepted by now
	return a
}

// controllerRole is the role of the controller in the account.
const controllerRole = "prod-karpenter"

// policies are those of a cluster that uses everything.
func policies() []rights.Part {
	const role = "arn:aws:iam::123456789012:role/"
	return rights.Parts(rights.Scope{Partition: "aws", Account: "123456789012", Region: "us-east-1", Cluster: "prod",
		NodeRoles: []string{role + "KarpenterNodeRole-prod", role + controllerRole}, Queue: "arn:aws:sqs:us-east-1:123456789012:prod", Features: rights.Features()})
}

// restrict leaves the provider the rights of the policies for a cluster that uses everything.
func (a *account) restrict(t testing.TB) {
	t.Helper()
	for _, p := range policies() {
		if err := a.server.Attach(controllerRole, p.Name, p.Document().JSON()); err != nil {
			t.Fatal(err)
		}
	}
	a.server.Enforce("test", controllerRole)
}

// regionsTypes are the types of the region as some account has read them: it is the same in all.
var regionsTypes []catalog.Type

func (a *account) types(t testing.TB) []catalog.Type {
	t.Helper()
	if regionsTypes == nil {
		if err := a.provider.RefreshTypes(t.Context()); err != nil {
			t.Fatal(err)
		}
		regionsTypes = a.provider.types
	}
	return slices.Clone(regionsTypes)
}

func defaultSpec() nodeclass.Spec {
	tags := map[string]string{"karpenter.sh/discovery": "prod"}
	return nodeclass.Spec{
		Subnets: []nodeclass.SubnetTerm{{Tags: tags}}, Groups: []nodeclass.GroupTerm{{Tags: tags}},
		Images: []nodeclass.ImageTerm{{Alias: "al2023@latest"}}, Role: "KarpenterNodeRole-prod", Tags: map[string]string{"team": "web"},
	}
}

func (a *account) resolve(t testing.TB, spec nodeclass.Spec) nodeclass.Class {
	t.Helper()
	class := nodeclass.Class{Name: "default", UID: "uid-1", Spec: spec}
	found, err := a.provider.Resolve(t.Context(), class)
	if err != nil {
		t.Fatal(err)
	}
	class.Resolved = found
	return class
}

func (a *account) kinds(t testing.TB) *cluster.Catalogue {
	t.Helper()
	c, err := a.provider.Kinds(t.Context(), a.port())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (a *account) port() cloud.Class {
	return cloud.Class{ID: "EC2NodeClass/default", Settings: &a.class}
}

// request asks for one instance of the first of these types that can be had in any zone.
func (a *account) request(t testing.TB, token string, option cluster.Option, kinds ...string) cloud.LaunchRequest {
	t.Helper()
	r := cloud.LaunchRequest{Class: a.port(), Token: token, Batch: "batch-" + token, Count: 1,
		Tags: map[string]string{"karpenter.sh/nodepool": "web"},
		Node: cloud.NodeSetup{Labels: map[string]string{"karpenter.sh/nodepool": "web"}}}
	for _, k := range a.kinds(t).InstanceTypes {
		for _, o := range k.Offerings {
			if slices.Contains(kinds, k.Name) && o.Option == option {
				r.Options = append(r.Options, cloud.OfferingChoice{Kind: k.Name, Zone: o.Zone, Option: option, Priority: float64(o.Price) / 1e6})
			}
		}
	}
	if len(r.Options) == 0 {
		t.Fatalf("no offers of %v", kinds)
	}
	return r
}

func TestResolveFindsTheAccount(t *testing.T) {
	a := openAccount(t)
	r := a.class.Resolved
	if len(r.Subnets) == 0 || r.Subnets[0].ZoneID == "" || r.Subnets[0].Free == 0 || len(r.Groups) == 0 || len(r.Images) < 3 || r.Profile == "" {
		t.Errorf("Resolved = %+v", r)
	}
	for _, family := range []string{"bottlerocket@latest", "windows2022@latest"} {
		spec := defaultSpec()
		spec.Images = []nodeclass.ImageTerm{{Alias: family}}
		found := a.resolve(t, spec)
		if len(found.Resolved.Images) == 0 {
			t.Errorf("%s: no images", family)
		}
		if family == "bottlerocket@latest" && found.Resolved.Images[0].Release() == "" {
			t.Errorf("the name %q tells no release", found.Resolved.Images[0].Name)
		}
	}
	missing := a.class
	missing.Spec.Role = "nobody"
	_, err := a.provider.Profile(t.Context(), missing)
	if answer, ok := errors.AsType[*nodeclass.MissingError](err); !ok || answer.Reason != nodeclass.RoleNotFound {
		t.Errorf("Profile for a role that is not there = %v", err)
	}
}

func TestWhatAClassMadeIsRemovedWithIt(t *testing.T) {
	a := openAccount(t)
	if _, err := a.provider.Launch(t.Context(), a.request(t, "t1", cluster.OnDemand, "m5.large")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.provider.Forget(t.Context(), a.class); err != nil {
			t.Fatal(err)
		}
	}
	other := a.resolve(t, defaultSpec())
	if other.Resolved.Profile != a.class.Resolved.Profile {
		t.Errorf("the profile made anew is called %s, it was %s", other.Resolved.Profile, a.class.Resolved.Profile)
	}
}

// The life of one instance, as the controllers go through it.
func TestOneInstanceFromLaunchToEnd(t *testing.T) {
	a := openAccount(t)
	p := a.provider
	got, err := p.Launch(t.Context(), a.request(t, "t1", cluster.Spot, "m5.large", "m5a.large", "m6g.large"))
	if err != nil || len(got) != 1 {
		t.Fatalf("Launch = %+v, %v", got, err)
	}
	m := got[0]
	if m.Zone == "" || m.ZoneID == "" || m.Image == "" || m.Option != cluster.Spot || m.ProviderID != "aws:///"+m.Zone+"/"+m.ID {
		t.Errorf("machine = %+v", m)
	}
	if gone, err := p.Terminate(t.Context(), "i-0123456789abcdef0"); err != nil || !slices.Equal(gone, []string{"i-0123456789abcdef0"}) {
		t.Errorf("Terminate of an unknown machine = %v, %v", gone, err)
	}
	a.Advance(time.Minute)
	listed, err := p.List(t.Context(), cloud.Filter{Batch: "batch-t1"})
	if err != nil || len(listed) != 1 {
		t.Fatalf("List by batch = %+v, %v", listed, err)
	}
	l := listed[0]
	if l.ID != m.ID || l.Kind != m.Kind || l.Zone != m.Zone || l.ZoneID != m.ZoneID || l.Image != m.Image || l.Option != m.Option ||
		l.Class != "default" || l.State != cloud.Running || l.PrivateDNS == "" || l.ProviderID != m.ProviderID {
		t.Errorf("listed as %+v\nlaunched as %+v", l, m)
	}
	for k, v := range m.Tags {
		if l.Tags[k] != v {
			t.Errorf("tag %s = %q, want %q", k, l.Tags[k], v)
		}
	}
	if err := p.Tag(t.Context(), m, map[string]string{"Name": "node-1"}); err != nil {
		t.Errorf("Tag = %v", err)
	}
	if gone, err := p.Terminate(t.Context(), m.ID); err != nil || len(gone) > 0 {
		t.Errorf("Terminate = gone %v, %v", gone, err)
	}
	a.Advance(10 * time.Minute)
	if listed, err := p.List(t.Context(), cloud.Filter{IDs: []string{m.ID}}); err != nil || len(listed) > 0 {
		t.Errorf("a terminated machine is listed: %+v, %v", listed, err)
	}
	if gone, err := p.Terminate(t.Context(), m.ID); err != nil || !slices.Equal(gone, []string{m.ID}) {
		t.Errorf("Terminate of a terminated machine = gone %v, %v", gone, err)
	}
}

func TestTheSameTokenLaunchesOnce(t *testing.T) {
	a := openAccount(t)
	r := a.request(t, "t1", cluster.OnDemand, "m5.large")
	r.Count = 3
	first, err := a.provider.Launch(t.Context(), r)
	if err != nil || len(first) != 3 {
		t.Fatalf("Launch = %v, %v", first, err)
	}
	// Addresses have changed meanwhile; the request is still the same.
	if _, err := a.provider.Subnets(t.Context(), a.class); err != nil {
		t.Fatal(err)
	}
	again, err := a.provider.Launch(t.Context(), r)
	if err != nil || len(again) != 3 || again[0].ID != first[0].ID {
		t.Errorf("again = %v, %v", again, err)
	}
	r.Count = 4
	_, err = a.provider.Launch(t.Context(), r)
	if _, ok := errors.AsType[*cloud.TokenMismatchError](err); !ok {
		t.Errorf("the token with another count = %v, want a mismatch", err)
	}
	a.Advance(time.Minute)
	if all, err := a.provider.List(t.Context(), cloud.Filter{}); err != nil || len(all) != 3 {
		t.Errorf("%d machines, %v; want 3", len(all), err)
	}
}

func TestTheNextChoiceIsLaunchedAtOnceAndShortageRemembered(t *testing.T) {
	a := openAccount(t)
	r := a.request(t, "t1", cluster.OnDemand, "m5.large")
	first := r.Options[0]
	a.server.Market().SetCapacity(market.Pool{Kind: first.Kind, Zone: first.Zone, Option: market.OnDemand}, 0, 0)
	got, err := a.provider.Launch(t.Context(), r)
	if err != nil || len(got) != 1 || got[0].Zone == first.Zone {
		t.Fatalf("Launch = %+v, %v; want the next zone", got, err)
	}
	before := a.kinds(t).Revision
	for _, o := range r.Options {
		a.server.Market().SetCapacity(market.Pool{Kind: o.Kind, Zone: o.Zone, Option: market.OnDemand}, 0, 0)
	}
	r.Token, r.Batch = "t2", "batch-t2"
	_, err = a.provider.Launch(t.Context(), r)
	short, ok := errors.AsType[*cloud.NoCapacityError](err)
	if !ok || len(short.Offerings) != len(r.Options) {
		t.Fatalf("Launch = %v, want all %d offers short", err, len(r.Options))
	}
	if c := a.kinds(t); c.Revision == before || available(c, "m5.large", cluster.OnDemand) {
		t.Error("the offers are still shown as available")
	}
	a.Advance(3 * time.Minute)
	if !available(a.kinds(t), "m5.large", cluster.OnDemand) {
		t.Error("the offers are short for more than three minutes")
	}
}

func available(c *cluster.Catalogue, kind string, option cluster.Option) bool {
	for _, k := range c.InstanceTypes {
		for _, o := range k.Offerings {
			if k.Name == kind && o.Option == option && o.Available {
				return true
			}
		}
	}
	return false
}

func TestMissingRightsAreNamed(t *testing.T) {
	a := openAccount(t)
	a.server.Deny("CreateFleet")
	_, err := a.provider.Launch(t.Context(), a.request(t, "t1", cluster.OnDemand, "m5.large"))
	refused, ok := errors.AsType[*cloud.RefusedError](err)
	if !ok || refused.Reason != "Unauthorized" || !strings.Contains(refused.Cause, "CreateFleet") {
		t.Errorf("Launch = %v, want Unauthorized", err)
	}
}

func TestThrottlingThatLasts(t *testing.T) {
	a := openAccount(t)
	a.server.Market().SetRate("CreateFleet", market.Rate{})
	_, err := a.provider.Launch(t.Context(), a.request(t, "t1", cluster.OnDemand, "m5.large"))
	if _, ok := errors.AsType[*cloud.ThrottledError](err); !ok {
		t.Errorf("Launch = %v, want throttled", err)
	}
}

// Every type that a class can become is complete, and nearly all have prices.
func TestTheWholeRegionIsKnown(t *testing.T) {
	a := openAccount(t)
	if err := a.provider.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	kinds := len(a.kinds(t).InstanceTypes)
	if kinds < 700 {
		t.Errorf("the class can become %d kinds only", kinds)
	}
	unpriced := 0
	for _, k := range a.kinds(t).InstanceTypes {
		if len(k.Offerings) == 0 || k.Allocatable.CPU <= 0 || k.Allocatable.Memory <= 0 || k.Capacity.Pods <= 0 {
			t.Errorf("kind %s has offers %v, allocatable %s", k.Name, k.Offerings, k.Allocatable)
		}
		for _, o := range k.Offerings {
			if !o.Priced {
				unpriced++
			}
		}
	}
	if unpriced > kinds/50 {
		t.Errorf("%d offers of %d kinds have no price", unpriced, kinds)
	}
}

// What EC2 reports a type's enclaves is the label nitro-sandbox, and a class whose instances run instances of their
// own gets the types that can.
func TestInstanceTypesReportEnclavesAndNesting(t *testing.T) {
	a := openAccount(t)
	enclaves := map[string]string{}
	for _, k := range a.kinds(t).InstanceTypes {
		enclaves[k.Name], _ = k.Labels.Get(nodeclass.LabelNitroSandbox)
	}
	if enclaves["m5.large"] != "false" || enclaves["m5.xlarge"] != "true" || enclaves["c6g.large"] != "true" {
		t.Errorf("nitro-sandbox is %q, %q and %q on m5.large, m5.xlarge and c6g.large, want false, true and true",
			enclaves["m5.large"], enclaves["m5.xlarge"], enclaves["c6g.large"])
	}
	a.class.Spec.NestedVirtual = "enabled"
	families := map[string]bool{}
	for _, k := range a.kinds(t).InstanceTypes {
		family, _ := k.Labels.Get(nodeclass.LabelFamily)
		families[family] = true
	}
	if got := slices.Sorted(maps.Keys(families)); !slices.Equal(got, []string{"c8i", "m8i", "r8i"}) {
		t.Errorf("machines in machines run on %v, want those of c8i, m8i and r8i", got)
	}
}

// On-demand prices come from the price list, all of its pages, not only from
// the table that stands in for it. A start that could not read it is known of.
func TestOnDemandPricesComeFromThePriceList(t *testing.T) {
	a := openAccount(t)
	a.server.Deny("GetProducts")
	if err := a.provider.RefreshOnDemand(t.Context()); err == nil || a.provider.HasOnDemand() {
		t.Errorf("RefreshOnDemand = %v without the right to read the price list; prices count as read: %v", err, a.provider.HasOnDemand())
	}
	a.server.Allow("GetProducts")
	if err := a.provider.RefreshOnDemand(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !a.provider.HasOnDemand() {
		t.Error("prices that were read do not count as such")
	}
	if n := a.server.Calls()["GetProducts"]; n < 8 {
		t.Errorf("the price list was asked %d times; hundreds of types are more than that many pages", n)
	}
}

// What it costs to work out all instance types for one class.
func BenchmarkKindsOfTheWholeRegion(b *testing.B) {
	a := openAccount(b)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	for b.Loop() {
		a.provider.mu.Lock()
		clear(a.provider.classes)
		a.provider.mu.Unlock()
		a.kinds(b)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1024, "KiB-held")
	b.ReportMetric(float64(len(a.kinds(b).InstanceTypes)), "kinds")
}

// What it costs to learn the whole region over the wire, as every start does.
func BenchmarkRefresh(b *testing.B) {
	a := openAccount(b)
	for b.Loop() {
		if err := a.provider.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
		a.Advance(time.Minute) // so that the account does not throttle
	}
}
