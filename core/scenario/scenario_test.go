package scenario_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
)

// full returns a snapshot in which every field of every value is set. A field
// that is added to one of them and not filled here fails TestFullIsFull; one
// that Print or Parse forgets fails TestNothingIsLost.
func full() *cluster.Snapshot {
	at := time.Date(2026, 11, 21, 4, 0, 0, 5, time.UTC)
	amounts := func(n int64) quantity.Resources {
		return quantity.Resources{CPU: quantity.MilliCPU(100 * n), Memory: quantity.Bytes(n) * quantity.GiB, EphemeralStorage: quantity.Bytes(n),
			Pods: n, Extended: []quantity.Extended{{Name: "nvidia.com/gpu", Amount: n}}}
	}
	zones := constraint.NewRequirements(constraint.Requirement{Key: "zone", Set: constraint.Values("a", "In"), MinValues: 2})
	shape := &cluster.Shape{Namespace: "odd name", Requests: amounts(2), Priority: -7, Virtual: true,
		OnDemand: cluster.Minimum{Least: 2, Percent: true},
		Drivers:  []string{"gpu.nvidia.com"}, Unable: `says "no"`,
		Tolerations: []constraint.Toleration{{Key: "k", Value: "v", Exists: true, Effect: constraint.NoExecute}},
		NodeTerms:   []constraint.Requirements{zones}}
	fillRules(shape, zones)
	attachable := []cluster.Attachable{{Driver: "ebs.csi.aws.com", Count: 25}, {Driver: "efs csi", Count: 3}}
	pod := cluster.Pod{Namespace: "a/b", Name: "web", UID: "u", Shape: shape, Owner: "Deployment/web", CreatedAt: at, Node: "n",
		StartedAt: at, Daemon: true, Mirror: true, Ending: true, Protection: cluster.Protection{DoNotDisrupt: true, DoNotEvict: true, NotSafeToEvict: true, ProtectedUntil: at}, Returns: true, OneOff: "it has no controller", Retries: 6, Completes: true, Stays: true, Unready: true, Pending: true,
		Moved: 2, MovedAt: at, Grace: 30 * time.Second, DeletionCost: -4, PDBs: "a,b", Kept: true, Uprooted: true, LastOf: "a b", Holds: new(amounts(1))}
	pool := cluster.PoolID{Kind: "NodePool", Name: "de:fault"}
	labels := constraint.NewLabels(map[string]string{"team": "x y", "empty": ""})
	taints := []constraint.Taint{{Key: "k", Value: "v", Effect: constraint.NoSchedule}}
	nodes := int64(0)
	catalogue := &cluster.Catalogue{Revision: 9, Disk: 2201, InstanceTypes: []cluster.InstanceType{{Name: "m5", Labels: labels, Capacity: amounts(9),
		Allocatable: amounts(8), Sustained: 150, Surplus: 50001, LastResort: true, Attachable: attachable, OnRequest: []string{"example.com/odd name", "nvidia.com/gpu"}, Offerings: []cluster.Offering{{Zone: "z", Option: cluster.Spot, Price: 96001, Priced: true, Available: true, Doubtful: true, Why: "too many vCPUs", ReservedCapacities: []cluster.ReservedCapacity{{Name: "cr-1", Left: 3}, {Name: "pg-1/z", Left: 7}}, Risk: 0.02, Labels: labels, Unless: constraint.Label{Key: "shared", Value: "yes, a=b"}}}}}}
	repair := cluster.Repair{Rules: []cluster.RepairRule{{Condition: "example.com/GPU:fine", Status: "False", After: time.Minute}}, Most: 20, Percent: true}
	cost := quantity.MicroUSDPerHour(12_500_001)
	out := &cluster.Snapshot{
		Revision: 12, Now: at, Waiting: []cluster.Pod{pod}, Expected: []cluster.Pod{pod},
		Nodes: []cluster.Node{{Name: "n", Claim: "c", Pool: pool, InstanceID: "i-1", Labels: labels, Taints: taints, StartupTaints: taints,
			Allocatable: amounts(5), Capacity: amounts(6), Attachable: attachable, Price: 1, CreatedAt: at, QuietSince: at, ChangedAt: at, ExpiresAt: at, Drifted: "AMIDrift", DriftedAt: at, HasGrace: true, Ready: true, Initialized: true,
			Deleting: true, InstanceEnds: true, EndsAt: at, Ailments: []cluster.Ailment{{Condition: "Ready", Status: "Unknown", Since: at}}, DoNotDisrupt: true, DoNotConsolidate: true, InMove: cluster.InMove{Rests: "it was to go just now", Closed: true, Unneeded: true}, Controller: cluster.OneReplica, Pods: []cluster.Pod{pod}, LaunchedFor: []cluster.Pod{pod}}},
		Instances: []cluster.Instance{{Claim: "c2", Pool: pool, Labels: labels, Requirements: zones, Taints: taints, StartupTaints: taints,
			Allocatable: amounts(3), Capacity: amounts(4), Attachable: attachable, CreatedAt: at, Launched: true, Deleting: true, Planned: true, Launching: true, Replacement: true, LaunchedFor: []cluster.Pod{pod}, Pods: []cluster.Pod{pod}, PurposeUnknown: true, TypesUnknown: true}},
		Pools: []cluster.Pool{{ID: pool, Weight: 3, Labels: labels, Requirements: zones, Floor: cluster.Floor{Size: zones, Room: cluster.Room{Memory: quantity.GiB, System: 25}}, InstanceCost: 10001, Taints: taints, StartupTaints: taints,
			Limits:   cluster.Limits{Amounts: []quantity.Extended{{Name: "cpu", Amount: 0}, {Name: "memory", Amount: 7}}, Nodes: &nodes, Cost: &cost},
			Used:     cluster.Used{Capacity: amounts(1), Nodes: 2, Cost: 5, Unpriced: "n"},
			OnDemand: cluster.Minimum{Least: 30, Percent: true},
			Replicas: &nodes, Hours: cluster.Hours{Nodes: &nodes, Until: at, Unknown: true},
			Catalogue: catalogue, NotReady: "no # class", Uncommitted: true,
			Boot: time.Minute, Repair: repair, Policy: cluster.Policy{Consolidate: cluster.Balanced, After: time.Minute, Lead: time.Second, Never: true, DeleteFirst: true, Renew: time.Hour, BudgetsChange: at, Payback: cluster.Payback{Off: true, PodDollars: 0.01, LeastShare: 0.05},
				Empty: cluster.Allowance{Most: 4, Note: "10%", Closed: "e"}, Drifted: cluster.Allowance{Most: 5, Note: "5", Closed: "f"}, Underutilized: cluster.Allowance{Most: 6, Note: "a b", Closed: "c d"}}}},
		Quotas: []cluster.Quota{{
			Name: "team a", Selector: zones,
			Limits: cluster.Limits{Amounts: []quantity.Extended{{Name: "cpu", Amount: 0}},
				Nodes: &nodes, Cost: &cost},
			Used: cluster.Used{Capacity: amounts(1), Nodes: 2, Cost: 5, Unpriced: "n"}, Unreadable: "its cost is # odd"}},
		Commitments: commitment.Commitments{
			Reserved: []commitment.ReservedInstances{
				{ID: "ri 1", InstanceType: "m5.large", Zone: "z", Count: 4, Elsewhere: 1},
				{ID: "ri-2", InstanceType: "m5.large", Count: 2, Elsewhere: 1, Flexible: true, Account: true}},
			Plans: []commitment.SavingsPlan{{
				ID: "sp-1", Family: "m5", Commitment: 1_200_001, Elsewhere: 1, Discount: 0.27, Account: true,
				Rates: map[string]quantity.MicroUSDPerHour{"m5.large": 60_001, "m5.xlarge": 120_000}}},
			Others: []commitment.Usage{{InstanceType: "m5.large", Zone: "z", OnDemand: 96_001, Count: 3}}},
		PDBs: []cluster.PodDisruptionBudget{{Namespace: "a/b", Name: "a", Allowed: 1, Never: true, Why: "maxUnavailable is 0; raise it", UnreadyToo: true}}, Breakers: []cluster.Breaker{{Name: "a b", Pools: []cluster.PoolID{{Kind: "NodePool", Name: "default"}}, Most: 3, Gone: 1}}, Freeze: "a change", FreezeUntil: at, FreezeAll: true, Unread: "CapacityBuffers", Repair: repair,
		Daemons: []cluster.Daemon{{Namespace: "kube-system", Name: "proxy", Shape: shape}},
		Buffers: []cluster.Buffer{{Namespace: "a/b", Name: "web", Shape: shape, Pods: 3, NotReady: "Deployment web is not there"}},
		Requested: []cluster.ProvisioningRequest{{
			Namespace: "a/b", Name: "train", CreatedAt: at, Launches: true, Provisioned: true,
			BookedUntil: at, RetryAt: at,
			NotReady: "it has failed", Consumers: []string{"a", "b c"}, Claims: []string{"c", "d"},
			Sets: []cluster.PodSet{{Shape: shape, Pods: 4, Come: 1}},
		}},
	}
	ours := constraint.NewRequirements(constraint.Requirement{Key: "team", Set: constraint.Values("x y"), MinValues: 1})
	none := []quantity.Extended{{Name: "example.com/nic", Amount: 0}, {Name: "hugepages-2Mi", Amount: 2 << 20}}
	for name, price := range map[string]string{"a b": "0.05", "c": "-0.01", "d": "+12.5%"} {
		change, _ := cluster.ParsePriceChange(price)
		out.Overlays = append(out.Overlays, cluster.Overlay{Name: name, Weight: 2, Requirements: ours, Price: change, Capacity: none})
	}
	overlay.Apply(out)
	return out
}

// fillRules sets what a shape says about nodes, pods, ports and volumes.
func fillRules(s *cluster.Shape, zones constraint.Requirements) {
	s.Labels = constraint.NewLabels(map[string]string{"app": "web", "odd key": "nothing"})
	s.VolumeTerms = []constraint.Requirements{zones, zones}
	s.Preferences = []cluster.Preference{{Weight: 10, Term: zones}, {Weight: 1, Term: zones}}
	chosen := cluster.Selector{Nothing: true, Requirements: constraint.NewRequirements(
		constraint.Requirement{Key: "nothing", Set: constraint.Anything(), MinValues: 1},
		constraint.Requirement{Key: "app", Set: constraint.Values("web", "db"), MinValues: 1})}
	s.Spread = []cluster.Spread{{Key: "zone", Selector: chosen, MaxSkew: 2, MinDomains: 3, Soft: true, IgnoreNodeTerms: true, HonourTaints: true}}
	s.Neighbours = []cluster.Neighbours{{Apart: true, Volume: true, Key: "a key", Selector: chosen, Namespaces: []string{"*", "a,b", "c"},
		AllNamespaces: true, Weight: 50}}
	s.Ports = []cluster.Port{{Protocol: "TCP", Number: 80, Address: "::1"}, {Protocol: "U D P", Number: 53, Address: "10.0.0.1"}}
	s.Volumes = []cluster.Volume{{Driver: "ebs.csi.aws.com", Claim: "default/data", Exclusive: true}}
}

// What people leave out of rules stands for what is usual.
func TestShortFormsOfRules(t *testing.T) {
	tests := map[string]struct{ short, full string }{
		"a spread allows a skew of one":       {"spread zone", "spread zone skew=1"},
		"a wish weighs one":                   {"prefer\n    require zone In a", "prefer weight=1\n    require zone In a"},
		"neighbours are in the own namespace": {"near zone namespaces=shop", "near zone"},
		"no namespace at all is written":      {"apart zone namespaces=", "apart zone namespaces="},
		"all namespaces":                      {"apart zone namespaces=*", "apart zone namespaces=*"},
		"namespaces are sorted":               {"near zone namespaces=b,a,b weight=5", "near zone namespaces=a,b weight=5"},
		"a selector that chooses none":        {"spread zone\n    select nothing", "spread zone skew=1\n    select nothing"},
		"a key with that name":                {"spread zone\n    select \"nothing\" In a", "spread zone skew=1\n    select \"nothing\" In a"},
		"lines of a selector are one":         {"near zone\n    select a NotIn y\n    select a NotIn x", "near zone\n    select a NotIn x y"},
		"volumes of one driver":               {"volume d count=2", "volume d\n  volume d"},
		"ports and volumes are sorted":        {"volume b\n  volume a\n  port UDP 1\n  port TCP 2", "port TCP 2\n  port UDP 1\n  volume a\n  volume b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Parse("shape web namespace=shop\n  " + tt.short + "\ndaemon shop/proxy shape=web")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := scenario.Print(s), "snapshot 0\nshape s0 namespace=shop\n  "+tt.full+"\ndaemon shop/proxy shape=s0\n"; got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestNothingIsLost(t *testing.T) {
	want := full()
	text := scenario.Print(want)
	got, err := scenario.Parse(text)
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, text)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Parse(Print(s)) differs from s:\n%s\nprinted again:\n%s", text, scenario.Print(got))
	}
}

// mayBeZero lists the fields that full leaves zero somewhere, and why.
var mayBeZero = map[string]string{
	"Extended.Amount": "a limit of zero is kept",
	"Catalogue.Index": "it is made anew from the rest",
	"Catalogue.Base":  "that of a class has none below it",

	"ReservedCapacity.Units": "it is of commitments, which a plan counts itself",
	"Offering.Cover":         "likewise",
	"Cover.By":               "likewise",
	"Cover.Listed":           "likewise",
	"Spread.Among":           "plans say so of pods for which they want fewer nodes",
	"ReservedInstances.Zone": "size-flexible ones have none",

	"ReservedInstances.Flexible": "zonal ones are of one size",
	"ReservedInstances.Account":  "users list one of both",
	"Usage.Name":                 "other instances are counted, and have none",

	"Overlay.NotApplied":  "one of three is applied",
	"PriceChange.Amount":  "one of them is a percentage",
	"PriceChange.Percent": "the others are not",
}

func TestFullIsFull(t *testing.T) {
	s := full()
	checkSet(t, "Snapshot", reflect.ValueOf(*s))
}

func checkSet(t *testing.T, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[constraint.Set]() {
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name := v.Type().Name() + "." + f.Name
			if v.Field(i).IsZero() && mayBeZero[name] != "" {
				continue
			}
			if v.Field(i).IsZero() {
				t.Errorf("%s.%s is not set: set it in full, and teach Print and Parse about it", path, f.Name)
			}
			checkSet(t, path+"."+f.Name, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			if v.Type().Elem() != reflect.TypeFor[constraint.Label]() {
				checkSet(t, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().Kind() == reflect.Struct {
			checkSet(t, path, v.Elem())
		}
	}
}

func TestPrintIsAFixedPoint(t *testing.T) {
	text := scenario.Print(full())
	again, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := scenario.Print(again); got != text {
		t.Errorf("printed again it differs:\n%s\nwas:\n%s", got, text)
	}
}

func TestEverySetIsWrittenAndRead(t *testing.T) {
	sets := map[string]constraint.Set{
		"nothing": {}, "anything": constraint.Anything(), "some": constraint.Values("a", ""),
	}
	for _, op := range []constraint.Operator{constraint.In, constraint.NotIn, constraint.Exists, constraint.DoesNotExist} {
		sets[string(op)], _ = constraint.NewSet(op, "x", "minvalues")
	}
	low, _ := constraint.NewSet(constraint.Gt, "4")
	high, _ := constraint.NewSet(constraint.Lt, "9")
	sets["between"] = low.Intersect(high)
	sets["between but one"] = low.Intersect(high).Intersect(sets["NotIn"])
	sets["exists but one"] = sets["Exists"].Intersect(sets["NotIn"])
	for name, set := range sets {
		t.Run(name, func(t *testing.T) {
			s := &cluster.Snapshot{Pools: []cluster.Pool{{ID: cluster.PoolID{Kind: "K", Name: "n"},
				Requirements: constraint.NewRequirements(constraint.Requirement{Key: "k", Set: set})}}}
			got, err := scenario.Parse(scenario.Print(s))
			if err != nil {
				t.Fatalf("%v\n%s", err, scenario.Print(s))
			}
			if g := got.Pools[0].Requirements.Get("k"); !g.Equal(set) {
				t.Errorf("got %s, want %s, from\n%s", g, set, scenario.Print(s))
			}
		})
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"an unknown line":           {"nodule a", `line 1: no line begins with "nodule"`},
		"a shape that is not there": {"\nwaiting a/b shape=x", `line 2: waiting: no shape "x" above`},
		"a pod without shape":       {"waiting a/b", "shape= is missing"},
		"an open quote":             {`shape "a`, "not closed"},
		"two nodes of one name":     {"node a\nnode a", "node a is there twice"},
		"labels of nothing":         {"labels a=b", "does not belong here: want it below shape or kind or offer or pool or node or machine"},
		"a flag with a value":       {"node a ready=false", "ready takes no value"},
		"a field without a value":   {"node a claim", "claim: want claim="},
		"a number that is none":     {"pool K/n weight=much", "weight much: want a whole number"},
		"an amount without unit":    {"shape a cpu=much", `parse cpu "much"`},
		"a field nobody knows":      {"node a colour=red", `no field "colour"`},
		"a bad time":                {"snapshot 1 yesterday", "want it as in"},
		"so many left of nothing":   {"catalogue c 1\nkind k cpu=1 memory=1 pods=1\n  offer a spot 1 left=2", "want it behind what so many are left of"},
		"a spread of nothing":       {"node a\nspread zone", "does not belong here: want it below shape"},
		"a selector of nothing":     {"shape a\nselect app In web", "want it below spread or near or apart"},
		"a wish after a spread":     {"shape a\nspread zone\nrequire zone In a", "does not belong here"},
		"a skew that is no number":  {"shape a\nspread zone skew=few", "skew few: want a whole number"},
		"a port without number":     {"shape a\nport TCP", "want a protocol and a number"},
		"a driver named twice":      {"node a\nattachable d=1 d=2", "driver d is there twice"},
		"too many volumes":          {"shape a\nvolume d count=99999", "want a number from 1"},
		"a machine for a stranger":  {"machine m\nfor a/b", "does not wait"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := scenario.Parse(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse(%q) = %v, want %q in it", tt.text, err, tt.want)
			}
		})
	}
}

// Snapshots that earlier releases saved have other words.
func TestWordsOfEarlierReleasesAreRead(t *testing.T) {
	s, err := scenario.Parse("shape a\nguard default/web allows=1\nnode n\n pod default/web-1 shape=a guards=web\n")
	if err != nil {
		t.Fatal(err)
	}
	const want = "snapshot 0\nshape s0\npdb default/web allows=1\nnode n\n  pod default/web-1 shape=s0 pdbs=web\n"
	if got := scenario.Print(s); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestInstanceTypesMayFollowThePool(t *testing.T) {
	s, err := scenario.Parse("catalogue c 1\npool K/n catalogue=c\nshape a\nkind m cpu=1\n offer z spot 1\nwaiting a/b shape=a\nkind n cpu=1\n last-resort\n")
	if err != nil {
		t.Fatal(err)
	}
	if types := s.Pools[0].Catalogue.InstanceTypes; len(types) != 2 || len(types[0].Offerings) != 1 || !types[1].LastResort {
		t.Errorf("got %+v", types)
	}
}

func TestNodesHaveInAllWhatTheyHaveForPodsUnlessALineSaysOtherwise(t *testing.T) {
	const text = "snapshot 0\nnode a\n  allocatable cpu=1\nnode b\n  allocatable cpu=1\n  capacity cpu=2\nnode c\n  allocatable cpu=1\n"
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if s.Nodes[0].Capacity.CPU != 1000 || s.Nodes[1].Capacity.CPU != 2000 || s.Nodes[2].Capacity.CPU != 1000 || scenario.Print(s) != text {
		t.Errorf("got:\n%s\nwant:\n%s", scenario.Print(s), text)
	}
}

func TestEveryLineAndFactIsDocumented(t *testing.T) {
	if _, err := scenario.Parse(scenario.Example); err != nil {
		t.Errorf("the example of the reference: %v", err)
	}
	for _, l := range scenario.Lines() {
		if l.Means == "" {
			t.Errorf("%s: the line does not say what it means", l.Nouns)
		}
		for _, f := range l.Facts {
			if f.Means == "" || f.Word == "" && f.Value == "" {
				t.Errorf("%s: %s%s does not say what it means", l.Nouns, f.Word, f.Value)
			}
		}
	}
}

func TestRedactHidesNamesAndKeepsAmounts(t *testing.T) {
	text := `shape s namespace=payroll cpu=500m memory=1Gi
  tolerate team=secret:NoSchedule
  term
    require team In secret
    require topology.kubernetes.io/zone In a
waiting payroll/salaries-1 shape=s owner=Deployment/salaries
catalogue c 1
kind m.small cpu=2 memory=4Gi pods=9
  offer a spot 0.01
pool NodePool/hidden catalogue=c
  labels team=secret karpenter.sh/nodepool=hidden
  taint team=secret:NoSchedule
node ip-10-1-2-3 claim=hidden-x pool=NodePool/hidden initialized
  labels kubernetes.io/hostname=ip-10-1-2-3 karpenter.sh/nodepool=hidden
`
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	redacted := scenario.Redact(s)
	got := scenario.Print(redacted)
	for _, word := range []string{"payroll", "salaries", "team", "secret", "hidden", "ip-10"} {
		if strings.Contains(got, word) {
			t.Errorf("%q is still there:\n%s", word, got)
		}
	}
	before, after := decide.Decide(s, decide.Policy{}, decide.Effort{}), decide.Decide(redacted, decide.Policy{}, decide.Effort{})
	if before.CostAfter != after.CostAfter || len(after.Launches) != 1 || after.Launches[0].Choice != before.Launches[0].Choice {
		t.Errorf("the plan changed:\n%s\nwas:\n%s", after, before)
	}
}

func TestRedactKeepsWhoChoosesWhom(t *testing.T) {
	s, err := scenario.Parse(`shape web namespace=payroll
  labels app.kubernetes.io/name=salaries tier=7
  volume-term
    require rack In secret
  prefer weight=3
    require rack In secret
  spread rack
    select app.kubernetes.io/name In salaries
  apart kubernetes.io/hostname namespaces=payroll,vault
    select tier NotIn 7
  port TCP 443 address=10.9.8.7
  volume ebs.csi.aws.com claim=payroll/ledger exclusive
shape db namespace=vault
  labels app.kubernetes.io/name=salaries
waiting vault/db shape=db
waiting payroll/web shape=web
node n
  attachable ebs.csi.aws.com=5
  labels rack=secret
`)
	if err != nil {
		t.Fatal(err)
	}
	redacted := scenario.Redact(s)
	text := scenario.Print(redacted)
	for _, word := range []string{"payroll", "salaries", "vault", "secret", "rack", "tier", "ledger", "10.9.8.7"} {
		if strings.Contains(text, word) {
			t.Errorf("%q is still there:\n%s", word, text)
		}
	}
	shapes := redacted.Shapes()
	web, db := shapes[0], shapes[1]
	spread, apart := web.Spread[0], web.Neighbours[0]
	if !spread.Selector.Matches(web.Labels) || !spread.Selector.Matches(db.Labels) || apart.Selector.Matches(web.Labels) ||
		!apart.Selector.Matches(db.Labels) {
		t.Errorf("selectors choose other pods than before:\n%s", text)
	}
	if _, ok := redacted.Nodes[0].Labels.Get(spread.Key); !ok || !reflect.DeepEqual(apart.Namespaces, []string{web.Namespace, db.Namespace}) {
		t.Errorf("the key of the spread or the namespaces are not those of nodes and pods:\n%s", text)
	}
	if _, ok := web.VolumeTerms[0].Allow(redacted.Nodes[0].Labels); !ok || web.Volumes[0].Driver != "ebs.csi.aws.com" || web.Ports[0].Number != 443 {
		t.Errorf("volumes or ports changed:\n%s", text)
	}
	if again, err := scenario.Parse(text); err != nil || !reflect.DeepEqual(again, redacted) {
		t.Errorf("read again it differs (%v):\n%s", err, scenario.Print(again))
	}
}

func FuzzPrintIsAFixedPoint(f *testing.F) {
	f.Add(scenario.Print(full()))
	f.Add("shape a\n labels b=c\n near k namespaces=*,\"\" weight=3\n  select nothing\n  select \"nothing\" Exists\n volume \"\" exclusive count=2\n port TCP 1\n")
	f.Add("shape a\n spread k soft\n  select b NotIn c Exists\n prefer\n  require z Gt 3\n volume-term\n  require z In a\nnode n\n attachable d=0\n")
	f.Add("shape web cpu=1\n  tolerate *:*\nwaiting a/b shape=web count=3\nmachine m\n  for a/b-1\n")
	f.Add("pool K/n\n require a NotIn \"In\" Exists minvalues 3\n limit cpu=0 nodes=4\n policy after=1m never\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenario.Parse(text)
		if err != nil {
			return
		}
		once := scenario.Print(s)
		again, err := scenario.Parse(once)
		if err != nil {
			t.Fatalf("Parse(Print(s)): %v\n%s", err, once)
		}
		if twice := scenario.Print(again); twice != once {
			t.Errorf("printed again it differs:\n%s\nwas:\n%s", twice, once)
		}
	})
}

// Of overlays with one weight the last name counts, so names that are hidden keep their order.
func TestRedactionKeepsTheOrderOfOverlays(t *testing.T) {
	s := &cluster.Snapshot{Pools: []cluster.Pool{{ID: cluster.PoolID{Kind: "NodePool", Name: "p"},
		Catalogue: &cluster.Catalogue{Revision: 1, InstanceTypes: []cluster.InstanceType{{Name: "m5.large",
			Offerings: []cluster.Offering{{Zone: "a", Option: cluster.OnDemand, Price: 100_000, Priced: true}}}}}}}}
	for i := range 12 {
		s.Overlays = append(s.Overlays, cluster.Overlay{Name: fmt.Sprintf("secret-%c", 'a'+i),
			Price: cluster.PriceChange{How: cluster.PriceIs, Amount: quantity.MicroUSDPerHour(1000 * (i + 1))}})
	}
	overlay.Apply(s)
	hidden := scenario.Redact(s)
	for what, of := range map[string]*cluster.Snapshot{"given": s, "redacted": hidden} {
		if got := of.Pools[0].Catalogue.InstanceTypes[0].Offerings[0].Price; got != 12_000 {
			t.Errorf("%s: the offering costs %s, want the price of the overlay with the last name", what, got)
		}
	}
	for i := range hidden.Overlays {
		o := &hidden.Overlays[i]
		if strings.Contains(o.Name+o.NotApplied, "secret") || (o.NotApplied == "") != (i == 0) {
			t.Errorf("overlay %d is %s, not applied: %q; want the first applied, and no name", i, o.Name, o.NotApplied)
		}
	}
}
