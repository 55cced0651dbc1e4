package overlay_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/quantity"
)

func labels(pairs ...string) constraint.Labels {
	m := map[string]string{}
	for _, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		m[key] = value
	}
	return constraint.NewLabels(m)
}

// catalogue has m5.large and c5.large, each on demand for 0.10 and as spot for 0.04 in zones a and b, and
// p9.large without a price.
func catalogue() *cluster.Catalogue {
	c := &cluster.Catalogue{Revision: 1}
	for _, name := range []string{"c5.large", "m5.large", "p9.large"} {
		family, _, _ := strings.Cut(name, ".")
		of := labels("node.kubernetes.io/instance-type="+name, "family="+family)
		k := cluster.InstanceType{Name: name, Labels: of}
		k.Capacity = quantity.Resources{CPU: 2000, Memory: 8 * quantity.GiB}.With("example.com/gpu", 1)
		k.Allocatable = k.Capacity
		for _, zone := range []string{"a", "b"} {
			for _, option := range []cluster.Option{cluster.OnDemand, cluster.Spot} {
				price := quantity.MicroUSDPerHour(100_000)
				if option == cluster.Spot {
					price = 40_000
				}
				k.Offerings = append(k.Offerings, cluster.Offering{
					Zone: zone, Option: option, Price: price, Priced: name != "p9.large", Available: true,
					Labels: labels(cluster.LabelZone+"="+zone, cluster.LabelCapacityType+"="+string(option))})
			}
		}
		c.InstanceTypes = append(c.InstanceTypes, k)
	}
	return c
}

// made reads overlays of lines such as "name weight=3 family=m5 price=0.01 example.com/gpu=4".
func made(t *testing.T, text string) (out []cluster.Overlay) {
	t.Helper()
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		o := cluster.Overlay{Name: words[0]}
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			switch {
			case key == "weight":
				fmt.Sscan(value, &o.Weight)
			case key == "price":
				var err error
				if o.Price, err = cluster.ParsePriceChange(value); err != nil {
					t.Fatal(err)
				}
			case strings.HasPrefix(key, "example.com/"), strings.HasPrefix(key, "hugepages"):
				var n int64
				fmt.Sscan(value, &n)
				o.Capacity = append(o.Capacity, quantity.Extended{Name: key, Amount: n})
			default:
				key = cmp.Or(map[string]string{"zone": cluster.LabelZone, "by": cluster.LabelCapacityType}[key], key)
				set := constraint.Values(strings.Split(value, ",")...)
				o.Requirements = o.Requirements.And(constraint.Requirement{Key: key, Set: set})
			}
		}
		out = append(out, o)
	}
	return out
}

func extended(r quantity.Resources) (out string) {
	for _, e := range r.Extended {
		out += fmt.Sprintf(" %s=%s", strings.TrimPrefix(e.Name, "example.com/"), quantity.FormatAmount(e.Name, e.Amount))
	}
	return out
}

// differences prints what a catalogue says otherwise than the one below it: a type's resources, and its prices.
func differences(c *cluster.Catalogue) string {
	var out strings.Builder
	for k := range c.InstanceTypes {
		was, is := &c.Listed().InstanceTypes[k], &c.InstanceTypes[k]
		if !was.Capacity.Equal(is.Capacity) {
			fmt.Fprintf(&out, "%s has%s\n", is.Name, extended(is.Allocatable))
		}
		for i := range is.Offerings {
			if a, b := was.Offerings[i], is.Offerings[i]; a.Price != b.Price || a.Priced != b.Priced {
				fmt.Fprintf(&out, "%s %s %s %d\n", is.Name, b.Zone, b.Option, b.Price)
			}
		}
	}
	return out.String()
}

func conflict(later, with string, weight int, what string) string {
	return fmt.Sprintf("%s: conflict with NodeOverlay %s: both have weight %d and set %s; give them different weights\n",
		later, with, weight, what)
}

func TestOverlay(t *testing.T) {
	tests := map[string]struct{ overlays, want, notApplied string }{
		"nothing": {overlays: "", want: ""},
		"a price of one offering": {overlays: "x family=m5 zone=a by=spot price=0.01",
			want: "m5.large a spot 10000\n"},
		"an amount less, never below 0": {overlays: "x family=m5 zone=a price=-0.05",
			want: "m5.large a on-demand 50000\nm5.large a spot 1\n"},
		"a percentage more": {overlays: "x family=m5 zone=a price=+12.5%",
			want: "m5.large a on-demand 112500\nm5.large a spot 45000\n"},
		"a price of zero is known": {overlays: "x family=m5 zone=a by=spot price=0",
			want: "m5.large a spot 1\n"},
		"a hundred per cent less": {overlays: "x family=m5 zone=a by=spot price=-100%",
			want: "m5.large a spot 1\n"},
		"an unknown price grows to none": {overlays: "x family=p9 price=+10%"},
		"an unknown price is given": {overlays: "x family=p9 zone=a by=spot price=0.3",
			want: "p9.large a spot 300000\n"},
		"the greater weight counts": {overlays: `
			light weight=1 family=m5 zone=a by=spot price=0.01
			heavy weight=2 family=m5 zone=a by=spot,reserved price=0.02`, want: "m5.large a spot 20000\n"},
		"of one weight the later name counts": {overlays: `
			a family=m5 zone=a by=spot price=0.01
			b family=m5 zone=a by=spot price=0.02`, want: "m5.large a spot 20000\n",
			notApplied: conflict("a", "b", 0, "the price of an offering")},
		"one in conflict changes nothing anywhere": {overlays: `
			a zone=a example.com/nic=3 price=0.01
			b family=m5 zone=a by=spot price=0.02`, want: "m5.large a spot 20000\n",
			notApplied: conflict("a", "b", 0, "the price of an offering")},
		"one in conflict is in nobody's way": {overlays: `
			a family=c5 zone=a by=spot price=0.01
			b family=c5,m5 zone=a by=spot price=0.02
			c family=m5 zone=a by=spot price=0.03`, want: "c5.large a spot 10000\nm5.large a spot 30000\n",
			notApplied: conflict("b", "c", 0, "the price of an offering")},
		"a conflict under a greater weight is one": {overlays: `
			a weight=1 family=m5 price=0.01
			b weight=1 family=m5 price=0.02
			c weight=2 family=m5 zone=a,b price=0.04`, want: "m5.large a on-demand 40000\nm5.large b on-demand 40000\n",
			notApplied: conflict("a", "b", 1, "the price of an offering")},
		"price and capacity are no conflict": {overlays: `
			a family=m5 example.com/nic=2
			b family=m5 zone=a by=spot price=0.02`, want: "m5.large has gpu=1 nic=2\nm5.large a spot 20000\n"},
		"a resource is replaced, and others merge": {overlays: `
			a weight=1 family=m5 example.com/gpu=2 example.com/nic=2
			b weight=2 family=m5 example.com/gpu=4 hugepages-2Mi=2097152`,
			want: "m5.large has gpu=4 nic=2 hugepages-2Mi=2Mi\n"},
		"a resource may be none": {overlays: "a family=m5 example.com/gpu=0",
			want: "m5.large has\n"},
		"a resource of some offerings is the type's": {overlays: "a family=m5 zone=b example.com/nic=2",
			want: "m5.large has gpu=1 nic=2\n"},
		"the same resource of one weight": {overlays: `
			a family=m5 zone=a example.com/nic=2
			b family=m5 zone=b example.com/nic=3`, want: "m5.large has gpu=1 nic=3\n",
			notApplied: conflict("a", "b", 0, "example.com/nic of an instance type")},
		"the name of the pool": {overlays: "a pool=web family=m5 example.com/nic=2",
			want: "m5.large has gpu=1 nic=2\n"},
		"the name of another pool":  {overlays: "a pool=db family=m5 example.com/nic=2"},
		"a label that is not there": {overlays: "a tier=gold family=m5 example.com/nic=2"},
		"nothing that is offered":   {overlays: "a family=x1 example.com/nic=2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := overlay.Pool{Labels: labels("pool=web"), Listed: catalogue()}
			set := overlay.New(made(t, tt.overlays), []overlay.Pool{p}, nil)
			if got := differences(set.Of(p)); got != tt.want {
				t.Errorf("overlays\n%s\nmake\n%s\nwant\n%s", tt.overlays, got, tt.want)
			}
			var notApplied string
			for _, o := range set.Overlays() {
				if o.NotApplied != "" {
					notApplied += o.Name + ": " + o.NotApplied + "\n"
				}
			}
			if notApplied != tt.notApplied {
				t.Errorf("not applied are %q, want %q", notApplied, tt.notApplied)
			}
			if before := differences(p.Listed); before != "" {
				t.Errorf("the catalogue of the class was written: %s", before)
			}
		})
	}
}

// A conflict in one pool keeps an overlay from all of them.
func TestAConflictInOnePoolCountsInAll(t *testing.T) {
	listed := catalogue()
	web := overlay.Pool{Labels: labels("pool=web"), Listed: listed}
	db := overlay.Pool{Labels: labels("pool=db"), Listed: listed}
	set := overlay.New(made(t, "a family=m5 price=0.01\nb pool=db price=0.02"), []overlay.Pool{web, db}, nil)
	if got := differences(set.Of(web)); got != "" {
		t.Errorf("pool web has %s, want what its class offers: overlay a is in conflict in pool db", got)
	}
	if got := differences(set.Of(db)); !strings.Contains(got, "c5.large a spot 20000") {
		t.Errorf("pool db has %s, want the price of overlay b", got)
	}
}

// Pools keep the catalogue of their class where nothing changes it, share what is changed alike, and keep that
// while other overlays come.
func TestCataloguesAreShared(t *testing.T) {
	listed := catalogue()
	plain := overlay.Pool{Labels: labels("pool=a"), Listed: listed}
	gold := overlay.Pool{Labels: labels("pool=b", "tier=gold"), Listed: listed}
	too := overlay.Pool{Labels: labels("pool=c", "tier=gold"), Listed: listed}
	pools := []overlay.Pool{plain, gold, too}
	before := overlay.New(made(t, "x tier=gold family=m5 price=0.01"), pools, nil)
	if before.Of(plain) != listed {
		t.Error("a pool that no overlay changes has a catalogue of its own")
	}
	if before.Of(gold) == listed || before.Of(gold) != before.Of(too) {
		t.Error("two pools that are changed alike do not share a catalogue")
	}
	after := overlay.New(made(t, "x tier=gold family=m5 price=0.01\ny pool=a family=c5 price=0.02"), pools, before)
	if after.Of(gold) != before.Of(gold) {
		t.Error("a pool has another catalogue since an overlay of another pool came")
	}
	if after.Of(plain) == listed {
		t.Error("the new overlay changes nothing")
	}
	if gone := overlay.New(nil, pools, after); gone.Of(plain) != listed || gone.Of(gold) != listed {
		t.Error("without overlays pools do not have what their class offers")
	}
}

// What says which overlay set something agrees with what was set.
func TestBy(t *testing.T) {
	s := &cluster.Snapshot{Pools: []cluster.Pool{{Catalogue: catalogue()}, {ID: cluster.PoolID{Name: "not ready"}}}}
	s.Overlays = made(t, `a weight=1 family=m5 price=0.01 example.com/nic=2
		b weight=1 price=0.02
		c zone=a example.com/gpu=2 example.com/nic=5`)
	overlay.Apply(s)
	pool := &s.Pools[0]
	k := pool.Catalogue.InstanceType("m5.large")
	if got := overlay.PriceBy(s, k.Offerings[0].Labels, k.Labels, pool.Labels); got == nil || got.Name != "b" {
		t.Errorf("the price is by %v, want b: a is in conflict", got)
	}
	if got := overlay.ListPrice(s, 90_000, labels("family=x1")); got != 20_000 {
		t.Errorf("a node of the list price 0.09 costs %v, want that of overlay b", got)
	}
	if got := overlay.Concern(s, pool); len(got) != 2 || got[0].Name != "b" || got[1].Name != "c" {
		t.Errorf("the pool is concerned by %v, want b and c", got)
	}
	if got := fmt.Sprint(overlay.CapacityBy(s, pool, k)); got != "[{{example.com/gpu 2} c} {{example.com/nic 5} c}]" {
		t.Errorf("capacity is by %s", got)
	}
	if listed := overlay.Listed(s); listed.Pools[0].Catalogue != pool.Catalogue.Base || pool.Catalogue.Base == nil {
		t.Error("Listed does not return the catalogue below, or writes its argument")
	}
}

// The cloud chooses by its own prices as long as these put offerings into the same order.
func TestReorders(t *testing.T) {
	for text, want := range map[string]bool{
		"x example.com/nic=1":                     false,
		"x price=-10%":                            false,
		"x by=spot price=-10%":                    false,
		"x by=spot price=9":                       true, // p9.large has one by it alone
		"x family=c5,m5 by=spot price=9":          false,
		"x family=m5 price=-10%":                  true, // it costs as much as c5.large otherwise
		"x family=m5 zone=a by=on-demand price=9": true,
		"x family=x1 price=9":                     false,
	} {
		p := overlay.Pool{Labels: labels("pool=web"), Listed: catalogue()}
		c := overlay.New(made(t, text), []overlay.Pool{p}, nil).Of(p)
		var named []offering.Named
		for k := range c.InstanceTypes {
			of := &c.InstanceTypes[k]
			for i := range of.Offerings {
				named = append(named, offering.Named{Type: of, Offering: &of.Offerings[i]})
			}
		}
		if got := overlay.Reorders(c, named); got != want {
			t.Errorf("%s: another order %v, want %v", text, got, want)
		}
	}
	p := overlay.Pool{Listed: catalogue()}
	p.Listed.InstanceTypes[1].Offerings[0].Price = 120_000
	for text, want := range map[string]bool{
		"x family=m5 price=-10%": false, "x family=m5 price=-20%": true, "x family=c5 by=on-demand price=+5%": false,
	} {
		c := overlay.New(made(t, text), []overlay.Pool{p}, nil).Of(p)
		named := []offering.Named{
			{Type: &c.InstanceTypes[0], Offering: &c.InstanceTypes[0].Offerings[0]},
			{Type: &c.InstanceTypes[1], Offering: &c.InstanceTypes[1].Offerings[0]},
		}
		if got := overlay.Reorders(c, named); got != want {
			t.Errorf("c5.large for 0.10 and m5.large for 0.12 with %s: another order %v, want %v", text, got, want)
		}
	}
}

func TestPriceChange(t *testing.T) {
	for text, want := range map[string]string{
		"0.05": "0.050000", "-0.5": "-0.500000", "+0.5": "+0.500000", "0": "0.000000",
		"+10%": "+10%", "-100.0%": "-100%", "-12.25%": "-12.25%",
	} {
		got, err := cluster.ParsePriceChange(text)
		again, errAgain := cluster.ParsePriceChange(got.String())
		if err != nil || errAgain != nil || got.String() != want || again != got {
			t.Errorf("%s is read as %s, and that as %s (%v, %v); want %s", text, got, again, err, errAgain, want)
		}
	}
	for _, text := range []string{"", "10%", "x", "+", "NaN", "1.2.3"} {
		if got, err := cluster.ParsePriceChange(text); err == nil {
			t.Errorf("%q is read as %v, want an error", text, got)
		}
	}
}

// What changes of the offerings of an overlaid catalogue changes of those below it, so that a snapshot that is
// written down says the same when it is read.
func TestEditsReachWhatIsBelow(t *testing.T) {
	p := overlay.Pool{Labels: labels("pool=web"), Listed: catalogue()}
	p.Listed.InstanceTypes[0].Offerings[0].Doubtful = true
	set := overlay.New(made(t, "x family=m5 price=0.01"), []overlay.Pool{p}, nil)
	s := &cluster.Snapshot{Pools: []cluster.Pool{{Labels: p.Labels, Catalogue: set.Of(p)}}}
	sure, _ := s.WithoutDoubt()
	for what, c := range map[string]*cluster.Catalogue{
		"without doubt": sure.Pools[0].Catalogue, "without a type": set.Of(p).WithoutTypes([]bool{true, false, false}),
	} {
		for _, is := range []*cluster.Catalogue{c, c.Base} {
			if is == nil || is.InstanceTypes[0].Offerings[0].Available || !is.InstanceTypes[1].Offerings[0].Available {
				t.Errorf("%s: the catalogue or the one below it did not change as it should", what)
			}
		}
	}
}
