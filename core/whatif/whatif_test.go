package whatif_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/core/whatif"
)

const situation = `
catalogue c1 1
kind c8g.large cpu=2 memory=4Gi pods=29
  labels kubernetes.io/arch=arm64 karpenter.k8s.aws/instance-family=c8g karpenter.k8s.aws/instance-generation=8
  offer a on-demand 0.08
kind m5.large cpu=2 memory=8Gi pods=29
  labels kubernetes.io/arch=amd64 karpenter.k8s.aws/instance-family=m5 karpenter.k8s.aws/instance-generation=5
  offer a on-demand 0.096
  offer b spot 0.03
kind m5.xlarge cpu=4 memory=16Gi pods=58
  labels kubernetes.io/arch=amd64 karpenter.k8s.aws/instance-family=m5 karpenter.k8s.aws/instance-generation=5
  offer a on-demand 0.192
kind m8g.large cpu=2 memory=8Gi pods=29
  labels kubernetes.io/arch=arm64 karpenter.k8s.aws/instance-family=m8g karpenter.k8s.aws/instance-generation=8
  offer a on-demand 0.09
  offer b spot 0.02
kind plain.one cpu=2 memory=8Gi pods=29
  offer a on-demand 0.5
pool NodePool/default catalogue=c1
  require karpenter.k8s.aws/instance-generation Lt 8 minvalues 1
  require kubernetes.io/arch In amd64
  require karpenter.sh/capacity-type In on-demand
pool NodePool/other catalogue=c1
  require karpenter.k8s.aws/instance-family In m5
pool NodePool/spring not-ready="its class is not there"
`

func parsed(t *testing.T) *cluster.Snapshot {
	t.Helper()
	s, err := scenario.Parse(situation)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// offers lists what a pool may launch now.
func offers(p *cluster.Pool) string {
	f := feasibility.ForPool(p, nil)
	var out []string
	for i := f.Available().Next(0); i >= 0; i = f.Available().Next(i + 1) {
		o := f.Options[i]
		out = append(out, f.InstanceType(o).Name+"/"+f.Offering(o).Zone+"/"+string(f.Offering(o).Option))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestChangesOfWhatPoolsOffer(t *testing.T) {
	const m5, m5b = "m5.large/a/on-demand m5.xlarge/a/on-demand", "m5.large/a/on-demand m5.large/b/spot m5.xlarge/a/on-demand"
	tests := map[string]struct{ question, first, second string }{
		"a family that several requirements exclude":    {"pool=default,add-family=m8g", m5 + " m8g.large/a/on-demand", m5b},
		"a type beside those of another family":         {"pool=NodePool/other,add-type=c8g.large", m5, "c8g.large/a/on-demand " + m5b},
		"a kind without the labels":                     {"pool=other,add-family=plain", m5, m5b + " plain.one/a/on-demand"},
		"a family less":                                 {"pool=other,add-family=m8g,remove-family=m5", m5, "m8g.large/a/on-demand m8g.large/b/spot"},
		"a type less":                                   {"pool=default,drop-type=m5.xlarge", "m5.large/a/on-demand", m5b},
		"spot":                                          {"pool=default,capacity=spot", "m5.large/b/spot", m5b},
		"whatever is sold":                              {"pool=default,capacity=any", m5b, m5b},
		"a zone for one, a capacity type for the other": {"pool=other,zone=b,pool=default,capacity=any", m5b, "m5.large/b/spot"},
		"two zones":                                     {"pool=other,zone=b,zone=a", m5, m5b},
		"order does not matter":                         {"pool=default,add-family=m8g,capacity=spot", "m5.large/b/spot m8g.large/b/spot", m5b},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := parsed(t)
			before := scenario.Print(s)
			q, err := whatif.Parse(tt.question)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := q.Apply(s)
			if err != nil {
				t.Fatal(err)
			}
			if first, second := offers(&got.Pools[0]), offers(&got.Pools[1]); first != tt.first || second != tt.second {
				t.Errorf("%s:\ndefault sells %s, want %s\nother sells %s, want %s", tt.question, first, tt.first, second, tt.second)
			}
			if scenario.Print(s) != before {
				t.Errorf("%s changed the situation itself", tt.question)
			}
		})
	}
}

// An instance that is being launched keeps its price, and minValues what it asks for.
func TestChangesLeaveTheRest(t *testing.T) {
	s := parsed(t)
	q, err := whatif.Parse("pool=default,machine-cost=0.02,drop-type=m5.large,add-family=m8g")
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := q.Apply(s)
	if err != nil {
		t.Fatal(err)
	}
	p := &got.Pools[0]
	if price, ok := p.PriceOf(&cluster.Instance{Labels: p.Catalogue.InstanceTypes[1].Labels}); !ok || price != 30_000 {
		t.Errorf("a m5.large costs %v, %v", price, ok)
	}
	if p.InstanceCost != 20_000 || got.Pools[1].InstanceCost != 0 {
		t.Errorf("a machine costs %s, of the other pool %s", p.InstanceCost, got.Pools[1].InstanceCost)
	}
	for _, r := range p.Requirements {
		if want := strings.HasSuffix(r.Key, "generation"); (r.MinValues == 1) != want {
			t.Errorf("minValues of %s is %d", r.Key, r.MinValues)
		}
	}
}

// A question about all pools goes on past one whose class is not ready, and says so.
func TestAPoolThatCannotBeChangedStaysAsItIs(t *testing.T) {
	s := parsed(t)
	q, err := whatif.Parse("capacity=spot")
	if err != nil {
		t.Fatal(err)
	}
	got, notes, err := q.Apply(s)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"NodePool/spring: its offerings are not known: its class is not there"}; !slices.Equal(notes, want) {
		t.Errorf("it notes %q, want %q", notes, want)
	}
	if first, second := offers(&got.Pools[0]), offers(&got.Pools[1]); first != "m5.large/b/spot" || second != "m5.large/b/spot" {
		t.Errorf("default sells %s and other %s, want the spot offering of both", first, second)
	}
	only := *s
	only.Pools = s.Pools[2:]
	if _, _, err := q.Apply(&only); err == nil || !strings.Contains(err.Error(), "NodePool/spring: its offerings are not known") {
		t.Errorf("where no pool can be changed it gives %v", err)
	}
}

func TestQuestionsThatCannotBeAsked(t *testing.T) {
	tests := map[string]struct{ question, want string }{
		"no value":                 {"pool=default,add-family", `"add-family": want key=value; possible are pool=NAME`},
		"an empty word":            {"pool=default,,arch=any", `"": want key=value`},
		"an unknown change":        {"pool=default,ad-family=m8g", `"ad-family" is no change; possible are pool=NAME and after it machine-cost=`},
		"a pool alone":             {"pool=default", "nothing is changed of pool default"},
		"a pool before another":    {"pool=default,pool=other,arch=any", `nothing is changed of pool default before "pool=other"`},
		"an unknown pool":          {"pool=fast,arch=any", `there is no pool "fast"; there are: NodePool/default, NodePool/other`},
		"a pool that sells none":   {"pool=spring,arch=any", "NodePool/spring: its offerings are not known: its class is not there"},
		"an unknown family":        {"pool=default,add-family=m9", `NodePool/default: its class offers no family "m9"; there are: m5, m8g`},
		"an unknown type":          {"pool=default,drop-type=x1.large", `no type "x1.large"; there are: c8g.large, m5.large`},
		"an unknown capacity type": {"pool=default,capacity=gift", `no capacity type "gift"; there are: on-demand, spot`},
		"an unknown zone":          {"pool=default,zone=c", `no zone "c"; there are: a, b`},
		"a cost that is none":      {"pool=default,machine-cost=much", "machine-cost=much: want one number of dollars an hour"},
		"two costs":                {"machine-cost=1,machine-cost=2", "machine-cost=1 and 2: want one number"},
		"any beside a name":        {"pool=default,zone=a,zone=any", "any leaves nothing to name beside it"},
		"nothing left":             {"pool=default,drop-family=m5", "with drop-family=m5 no offering is left"},
		"nothing of the family":    {"pool=default,capacity=spot,add-family=c8g", "family c8g: its labels, zones, capacity types or minimum size leave nothing of it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q, err := whatif.Parse(tt.question)
			if err == nil {
				_, _, err = q.Apply(parsed(t))
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s gives %v, want %q", tt.question, err, tt.want)
			}
		})
	}
}
