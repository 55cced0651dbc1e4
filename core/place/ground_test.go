package place

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
)

// TestAskAnswersAsPlaceDoes compares, on small worlds made by chance, with what
// Place says of the snapshot in which the nodes of the question are going away.
func TestAskAnswersAsPlaceDoes(t *testing.T) {
	same, asked, placed, bought, kept := 0, 0, 0, 0, 0
	for seed := range uint64(3000) {
		r, wishes := rand.New(rand.NewPCG(seed, 31)), rand.New(rand.NewPCG(seed, 37))
		s := inhabited(r)
		var taken Taken
		if r.IntN(3) == 0 {
			p := Place(s, Options{})
			// Place cannot be told of pods that are expected on machines.
			taken = Taken{p.Launches, slices.DeleteFunc(p.Placements, func(x plan.Placement) bool { return x.On != plan.OnNode })}
		}
		g := Survey(s, taken, Options{})
		for range 4 {
			q := chance(r, len(s.Nodes))
			if which := Wishes(wishes.IntN(6)); which <= NoWishes {
				q.Wishes = func(*cluster.Shape) Wishes { return which }
			}
			want := Place(equivalent(g, q), Options{Wishes: q.Wishes})
			got := g.Ask(q)
			asked++
			placed += len(want.Placements)
			bought += len(want.Launches)
			if q.Below == 0 {
				wary := unlike(t, seed, g, q, &want, &got)
				kept, same = kept+wary, same+1-wary
				continue
			}
			dear := q.Below >= 0 && (want.Cost > float64(q.Below) || want.Unpriced > 0)
			switch {
			case no(&want) != no(&got) && !(dear && got.Dear):
				t.Errorf("seed %d: leave %v below %v: %v want %v\n%s", seed, q.Leave, q.Below, describe(&got), describe(&want), scenario.Print(equivalent(g, q)))
			case dear != got.Dear && no(&want) == "" && no(&got) == "":
				t.Errorf("seed %d: leave %v below %v: dear %v, cost %v; want %v, cost %v", seed, q.Leave, q.Below, got.Dear, got.Cost, dear, want.Cost)
			case !got.Dear && (no(&want) == "" && describe(&want) != describe(&got) || q.Why && len(want.Unplaced) != len(got.Unplaced)):
				t.Errorf("seed %d: leave %v below %v: %v\n want %v", seed, q.Leave, q.Below, describe(&got), describe(&want))
			default:
				same++
			}
		}
		if t.Failed() && seed > 400 {
			break
		}
	}
	t.Logf("%d of %d answers are the same; %d placements, %d launches", same, asked, placed, bought)
	if kept > asked/500 {
		t.Errorf("%d of %d answers are no for fear of launches that Place does without", kept, asked)
	}
}

// unlike compares answers where nothing may be bought: yes means that Place buys
// nothing though it may. Elsewhere pods would be bought for as soon as they have
// left. It returns 1 for a no that is not needed.
func unlike(t *testing.T, seed uint64, g *Ground, q Question, want, got *Result) int {
	stays := no(want) != "" || len(want.Launches) > 0
	switch {
	case (got.Dear || no(got) != "") && !stays:
		return 1
	case !got.Dear && no(got) == "" && (stays || describe(want) != describe(got)):
		t.Errorf("seed %d: leave %v, nothing to be bought: %v want %v\n%s", seed, q.Leave, describe(got), describe(want), scenario.Print(equivalent(g, q)))
	}
	return 0
}

func no(r *Result) string {
	if len(r.Unplaced) > 0 {
		return "no"
	}
	return ""
}

func describe(r *Result) string {
	text := fmt.Sprintf("cost %.0f dear %v:", r.Cost, r.Dear)
	var homes []string
	for _, p := range r.Placements {
		homes = append(homes, " "+p.Pod.Name+"->"+p.Target)
	}
	slices.Sort(homes)
	text += strings.Join(homes, "")
	for _, l := range r.Launches {
		text += fmt.Sprintf(" [%s %s %s %s %d pods]", l.Pool.Name, l.Choice.Kind, l.Choice.Zone, l.Choice.Option, len(l.Pods))
	}
	for _, u := range r.Unplaced {
		for i := range u.Pods {
			text += " -" + u.Pods[i].Name
		}
	}
	return text
}

// equivalent is the snapshot that a question is about, for Place.
func equivalent(g *Ground, q Question) *cluster.Snapshot {
	s := *g.snapshot
	s.Nodes, s.Machines = slices.Clone(s.Nodes), slices.Clone(s.Machines)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch {
		case slices.Contains(q.Leave, i):
			n.Deleting = true
		case !n.Initialized || !n.Ready || q.Open != nil && !q.Open.Has(i):
			n.Allocatable.Pods = 0
		}
	}
	for i := range s.Machines {
		s.Machines[i].Allocatable.Pods = 0
	}
	return &s
}

// chance is a question about some of so many nodes.
func chance(r *rand.Rand, nodes int) Question {
	q := Question{Below: Any}
	for i := range nodes {
		if r.IntN(nodes) == 0 || len(q.Leave) == 0 && i == nodes-1 {
			q.Leave = append(q.Leave, i)
		}
	}
	switch r.IntN(3) {
	case 0:
		q.Below = 0
	case 1:
		q.Below = quantity.MicroUSDPerHour(10_000 * r.IntN(40))
	}
	q.Why = r.IntN(3) == 0
	if r.IntN(4) == 0 {
		shut := r.IntN(nodes)
		q.Open = bitset.Full(nodes)
		q.Open.Remove(shut)
	}
	return q
}

// inhabited is a small world with pods on its nodes.
func inhabited(r *rand.Rand) *cluster.Snapshot {
	at := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	s := &cluster.Snapshot{Revision: 1, Now: at}
	zones := []string{"a", "b", "c"}
	c := chanceCatalogue(r, zones)
	for i := range 1 + r.IntN(12) {
		s.Shapes = append(s.Shapes, chanceShape(r, i, zones))
	}
	for i := range r.IntN(10) {
		s.Waiting = append(s.Waiting, cluster.Pod{Namespace: "d", Name: fmt.Sprintf("p%03d", i), Shape: s.Shapes[r.IntN(len(s.Shapes))], Returns: true})
	}
	for i := range 1 + r.IntN(3) {
		s.Pools = append(s.Pools, chancePool(r, i, c))
	}
	if r.IntN(2) == 0 {
		daemon := &cluster.Shape{ID: len(s.Shapes), Namespace: "d", Labels: constraint.NewLabels(map[string]string{"app": "3"}), Requests: quantity.Resources{CPU: 100, Pods: 1}}
		s.Shapes = append(s.Shapes, daemon)
		s.Daemons = append(s.Daemons, cluster.Daemon{Namespace: "d", Name: "proxy", Shape: daemon})
	}
	for i := range 2 + r.IntN(7) {
		s.Nodes = append(s.Nodes, chanceNode(r, i, s, at, zones))
	}
	for i := range r.IntN(2) {
		s.Machines = append(s.Machines, cluster.Machine{Claim: fmt.Sprintf("m%d", i), Pool: s.Pools[0].ID, CreatedAt: at, Allocatable: quantity.Resources{CPU: 4000, Memory: 16 * quantity.GiB, Pods: 30}})
	}
	s.Sort()
	return s
}

func chanceCatalogue(r *rand.Rand, zones []string) *cluster.Catalogue {
	c := &cluster.Catalogue{Revision: 1}
	for i := range 1 + r.IntN(15) {
		cores := 1 << r.IntN(5)
		k := cluster.Kind{Name: fmt.Sprintf("t%02d", i), Labels: constraint.NewLabels(map[string]string{
			cluster.LabelInstanceType: fmt.Sprintf("t%02d", i), cluster.LabelArch: []string{"amd64", "arm64"}[r.IntN(2)]})}
		k.Capacity = quantity.Resources{CPU: quantity.MilliCPU(1000 * cores), Memory: quantity.Bytes(cores*(1+r.IntN(8))) * quantity.GiB, Pods: int64(4 + r.IntN(30))}
		k.Allocatable = k.Capacity.Sub(quantity.Resources{CPU: 80, Memory: 100 * quantity.MiB})
		for _, zone := range zones {
			for _, option := range []cluster.Option{cluster.OnDemand, cluster.Spot} {
				k.Offers = append(k.Offers, cluster.Offer{Zone: zone, Option: option, Priced: r.IntN(20) > 0, Available: r.IntN(6) > 0,
					Price: quantity.MicroUSDPerHour(10000 * cores * (1 + r.IntN(5))), Labels: constraint.NewLabels(map[string]string{
						cluster.LabelZone: zone, cluster.LabelCapacityType: string(option)})})
			}
		}
		c.Kinds = append(c.Kinds, k)
	}
	return c
}

func chanceShape(r *rand.Rand, i int, zones []string) *cluster.Shape {
	s := &cluster.Shape{ID: i, Namespace: "d", Priority: int32(r.IntN(2) * 100), Requests: quantity.Resources{
		CPU: quantity.MilliCPU(50 * r.IntN(30)), Memory: quantity.Bytes(r.IntN(4000)) * quantity.MiB, Pods: 1}}
	if r.IntN(3) == 0 {
		s.Tolerations = []constraint.Toleration{{Key: "dedicated", Exists: true}}
	}
	for range r.IntN(3) {
		var term constraint.Requirements
		if r.IntN(2) == 0 {
			term = term.And(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values(zones[r.IntN(3)], zones[r.IntN(3)])})
		}
		if r.IntN(4) == 0 {
			not, _ := constraint.NewSet(constraint.NotIn, fmt.Sprint(r.IntN(3)))
			term = term.And(constraint.Requirement{Key: "team", Set: not})
		}
		s.NodeTerms = append(s.NodeTerms, term)
	}
	chanceRules(r, s)
	return s
}

// chanceRules makes some shapes look at other pods, at ports and at volumes.
func chanceRules(r *rand.Rand, s *cluster.Shape) {
	s.Labels = constraint.NewLabels(map[string]string{"app": fmt.Sprint(r.IntN(4))})
	choosing := func() cluster.Selector {
		return cluster.Selector{Requirements: constraint.NewRequirements(constraint.Requirement{Key: "app", Set: constraint.Values(fmt.Sprint(r.IntN(4)))})}
	}
	key := func() string {
		return []string{cluster.LabelZone, cluster.LabelHostname, cluster.LabelCapacityType}[r.IntN(3)]
	}
	if r.IntN(4) == 0 {
		s.Spread = append(s.Spread, cluster.Spread{Key: key(), MaxSkew: 1 + r.Int32N(3), Selector: choosing(), Soft: r.IntN(3) == 0, MinDomains: r.Int32N(3)})
	}
	if r.IntN(4) == 0 {
		s.Neighbours = append(s.Neighbours, cluster.Neighbours{Apart: r.IntN(2) == 0, Key: key(), Selector: choosing(), Namespaces: []string{"d"}, Weight: 50 * r.Int32N(2)})
	}
	if r.IntN(6) == 0 {
		s.Preferences = []cluster.Preference{{Weight: 10, Term: constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values("b")})}}
	}
	if r.IntN(8) == 0 {
		s.Ports = []cluster.Port{{Protocol: "TCP", Number: 8000 + r.Int32N(2)}}
	}
	switch r.IntN(12) {
	case 0:
		s.Volumes = []cluster.Volume{{Driver: "disk"}}
		s.VolumeTerms = []constraint.Requirements{constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values("a", "c")})}
	case 1:
		s.Volumes = []cluster.Volume{{Driver: "disk", Claim: fmt.Sprintf("d/shared%d", r.IntN(2)), Exclusive: r.IntN(3) == 0}}
	}
	if r.IntN(20) == 0 {
		s.Requests = s.Requests.With("example.com/gpu", 1)
	}
}

func chancePool(r *rand.Rand, i int, c *cluster.Catalogue) cluster.Pool {
	p := cluster.Pool{ID: cluster.PoolID{Kind: "NodePool", Name: fmt.Sprintf("p%d", i)}, Weight: 10 * r.IntN(3), Catalogue: c}
	if r.IntN(3) == 0 {
		p.Taints = []constraint.Taint{{Key: "dedicated", Value: "x", Effect: constraint.NoSchedule}}
	}
	if r.IntN(3) == 0 {
		p.Requirements = p.Requirements.And(constraint.Requirement{Key: "team", Set: constraint.Values("0", "1", "2")})
	}
	if r.IntN(4) == 0 {
		any, _ := constraint.NewSet(constraint.Exists)
		p.Requirements = p.Requirements.And(constraint.Requirement{Key: cluster.LabelInstanceType, Set: any, MinValues: 1 + r.IntN(3)})
	}
	if r.IntN(3) == 0 {
		p.Limits.Amounts = []quantity.Extended{{Name: quantity.NameCPU, Amount: int64(1000 * r.IntN(60))}}
	}
	if r.IntN(5) == 0 {
		n := int64(r.IntN(4))
		p.Limits.Nodes = &n
	}
	return p
}

func chanceNode(r *rand.Rand, i int, s *cluster.Snapshot, at time.Time, zones []string) cluster.Node {
	name := fmt.Sprintf("n%d", i)
	n := cluster.Node{Name: name, Claim: fmt.Sprintf("c%d", i), Pool: s.Pools[r.IntN(len(s.Pools))].ID, Price: 100000,
		Initialized: r.IntN(8) > 0, Ready: r.IntN(12) > 0, Deleting: r.IntN(8) == 0, Allocatable: quantity.Resources{CPU: 4000, Memory: 16 * quantity.GiB, Pods: 30},
		CreatedAt: at.Add(-time.Duration(i+1) * time.Hour), Attachable: []cluster.Attachable{{Driver: "disk", Count: 2}},
		Labels: constraint.NewLabels(map[string]string{cluster.LabelZone: zones[r.IntN(3)], cluster.LabelArch: "amd64", cluster.LabelHostname: name,
			cluster.LabelCapacityType: []string{"spot", "on-demand"}[r.IntN(2)], cluster.LabelInstanceType: "t00"})}
	if r.IntN(6) == 0 {
		n.Taints = []constraint.Taint{{Key: "rather-not", Effect: constraint.PreferNoSchedule}}
	}
	if r.IntN(6) == 0 {
		n.Allocatable = n.Allocatable.With("example.com/gpu", 1)
	}
	n.Capacity = n.Allocatable
	for j := range r.IntN(6) {
		p := cluster.Pod{Namespace: "d", Name: fmt.Sprintf("on-%d-%d", i, j), Node: n.Name, Owner: fmt.Sprint("Deployment/", r.IntN(4)), Shape: s.Shapes[r.IntN(len(s.Shapes))],
			Returns: !n.Deleting && r.IntN(10) > 0, DoNotDisrupt: r.IntN(20) == 0, CreatedAt: at.Add(time.Duration(r.IntN(3)) * time.Minute)}
		p.Ending = !p.Returns && r.IntN(2) == 0
		n.Pods = append(n.Pods, p)
	}
	if len(s.Daemons) > 0 && r.IntN(3) > 0 {
		n.Pods = append(n.Pods, cluster.Pod{Namespace: "d", Name: fmt.Sprintf("proxy-%d", i), Node: n.Name, Shape: s.Daemons[0].Shape, Daemon: true})
	}
	return n
}

// TestAnswersDependOnTheQuestionAlone asks in another order and several at a
// time: whoever asked what before, answers are the same to the byte.
func TestAnswersDependOnTheQuestionAlone(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 32))
		s := inhabited(r)
		questions := make([]Question, 24)
		for i := range questions {
			questions[i] = chance(r, len(s.Nodes))
		}
		alone := make([]string, len(questions))
		for i, q := range questions {
			alone[i] = full(Survey(s, Taken{}, Options{}).Ask(q))
		}
		g := Survey(s, Taken{}, Options{})
		backwards, together := make([]string, len(questions)), make([]string, len(questions))
		for i, q := range slices.Backward(questions) {
			backwards[i] = full(g.Ask(q))
		}
		parallel.Each(len(questions), func(i int) { together[i] = full(g.Ask(questions[i])) })
		for i := range questions {
			if alone[i] != backwards[i] || alone[i] != together[i] {
				t.Fatalf("seed %d: question %d %+v:\n%s\nasked later:\n%s\nwith others:\n%s", seed, i, questions[i], alone[i], backwards[i], together[i])
			}
		}
	}
}

func full(r Result) string {
	p := plan.Plan{Launches: r.Launches, Placements: r.Placements, Unplaced: r.Unplaced}
	return fmt.Sprintf("%v %v %v %v\n%s", r.Cost, r.Unpriced, r.Dear, r.SpotMore, p.String())
}

// TestHopelessIsNeverWrong compares with answers.
func TestHopelessIsNeverWrong(t *testing.T) {
	hopeless, free := 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 33))
		s := inhabited(r)
		g := Survey(s, Taken{}, Options{})
		for i := range s.Nodes {
			below := quantity.MicroUSDPerHour(10_000 * r.IntN(20))
			a := g.Ask(Question{Leave: []int{i}, Below: below})
			goes := len(a.Unplaced) == 0 && !a.Dear && a.Cost < float64(max(1, below))
			switch h := g.Hopeless(i, below); {
			case h && goes:
				t.Fatalf("seed %d: node %d may go for less than %v: %s", seed, i, below, describe(&a))
			case h:
				hopeless++
			case !goes:
				free++
			}
		}
	}
	t.Logf("%d told quickly, %d not", hopeless, free)
	if hopeless < free/4 {
		t.Errorf("%d hopeless nodes were told quickly, %d were not", hopeless, free)
	}
}

// TestWhatThePlanTakesIsTaken: one of two pods is expected on a machine
// of the plan in zone b, so that the other goes to zone c, and nobody goes to the
// machine itself. Its machines count for limits and stocks.
func TestWhatThePlanTakesIsTaken(t *testing.T) {
	s, err := scenario.Parse(`snapshot 1 2026-11-21T04:00:00Z
shape web namespace=d cpu=1 memory=1Gi
  labels app=web
  spread topology.kubernetes.io/zone skew=1
    select app In web
waiting d/new shape=web
catalogue c1 1
kind small cpu=4 memory=16Gi pods=20
  offer b on-demand 0.1
kind rare cpu=4 memory=16Gi pods=20
  offer b reserved 0.1 stock=lot left=1
pool NodePool/p catalogue=c1
  limit nodes=4
node na claim=ca pool=NodePool/p price=0.1 created=2026-11-21T03:00:00Z ready initialized
  labels kubernetes.io/hostname=na topology.kubernetes.io/zone=a
  allocatable cpu=4 memory=16Gi pods=20
  pod d/old shape=web on=na returns
node nb claim=cb pool=NodePool/p price=0.1 created=2026-11-21T03:00:00Z ready initialized
  labels kubernetes.io/hostname=nb topology.kubernetes.io/zone=b
  allocatable cpu=4 memory=16Gi pods=20
node nc claim=cc pool=NodePool/p price=0.1 created=2026-11-21T03:00:00Z ready initialized
  labels kubernetes.io/hostname=nc topology.kubernetes.io/zone=c
  allocatable cpu=4 memory=16Gi pods=20
`)
	if err != nil {
		t.Fatal(err)
	}
	launch := plan.Launch{Name: "new-1", Pool: s.Pools[0].ID, Requirements: constraint.NewRequirements(
		constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values("b")},
		constraint.Requirement{Key: cluster.LabelInstanceType, Set: constraint.Values("small")})}
	taken := Taken{[]plan.Launch{launch}, []plan.Placement{{Pod: s.Waiting[0], On: plan.OnLaunch, Target: "new-1"}}}
	for name, tt := range map[string]struct {
		taken Taken
		want  string
	}{
		"nothing is taken":          {Taken{}, "cost 0 dear false: old->nb"},
		"a machine in b has a pod":  {taken, "cost 0 dear false: old->nc"},
		"a machine in b has no pod": {Taken{Launches: taken.Launches}, "cost 0 dear false: old->nb"},
	} {
		a := Survey(s, tt.taken, Options{}).Ask(Question{Leave: []int{0}})
		if got := describe(&a); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	rare := launch
	rare.Choice = plan.Choice{Kind: "rare", Zone: "b", Option: cluster.Reserved}
	for name, tt := range map[string]struct {
		launches []plan.Launch
		limit    int64
		want     []string
	}{
		"without the plan":           {nil, 4, []string{"rare"}},
		"with as many as there may":  {[]plan.Launch{launch}, 4, nil},
		"with a machine":             {[]plan.Launch{launch}, 5, []string{"rare"}},
		"with the last of its stock": {[]plan.Launch{rare}, 5, []string{"small"}},
	} {
		s.Pools[0].Nodes, s.Pools[0].Limits.Nodes = 3, &tt.limit
		a := Survey(s, Taken{Launches: tt.launches}, Options{}).Ask(Question{Leave: []int{0}, Below: Any, Open: bitset.New(1)})
		var got []string
		for _, l := range a.Launches {
			got = append(got, l.Choice.Kind)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: bought is %v, want %v", name, got, tt.want)
		}
	}
}

// TestTakenAnswersAreTrue takes answers, and asks on as of a new Survey of what is
// so then.
func TestTakenAnswersAreTrue(t *testing.T) {
	taken := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 34))
		s := inhabited(r)
		g := Survey(s, Taken{}, Options{})
		var plan Taken
		for range 8 {
			q := chance(r, len(s.Nodes))
			a := Survey(s, plan, Options{}).Ask(q)
			if got := g.Ask(q); full(got) != strings.ReplaceAll(full(a), " of the plan", "") {
				t.Fatalf("seed %d: after %d answers, %v leave:\n%s\nwant\n%s\n%s", seed, len(g.moves), q.Leave, full(got), full(a), scenario.Print(s))
			}
			if no(&a) != "" || a.Dear || r.IntN(3) == 0 {
				continue
			}
			taken++
			g.Take(q.Leave, a)
			s, plan = made(s, plan, len(g.moves), q.Leave, a)
		}
	}
	if taken < 500 {
		t.Errorf("only %d answers were taken", taken)
	}
}

// made is the snapshot and the plan once an answer is true.
func made(s *cluster.Snapshot, taken Taken, n int, leave []int, a Result) (*cluster.Snapshot, Taken) {
	out := *s
	out.Nodes = slices.Clone(s.Nodes)
	for _, at := range leave {
		n := &out.Nodes[at]
		if !n.Deleting {
			n.Deleting = true
			n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p cluster.Pod) bool { return p.Moves() })
		}
	}
	name := func(launch string) string { return fmt.Sprintf("%s of answer %d", launch, n) }
	launches, placements := slices.Clone(taken.Launches), slices.Clone(taken.Placements)
	for _, l := range a.Launches {
		l.Name = name(l.Name)
		launches = append(launches, l)
	}
	for _, p := range a.Placements {
		if p.On == plan.OnLaunch {
			p.Target = name(p.Target)
		}
		placements = append(placements, p)
	}
	return &out, Taken{launches, placements}
}
