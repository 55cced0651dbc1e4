package removal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/chance"
)

// TestAskAnswersAsPlaceDoes compares, on small worlds made by chance, with what
// place.Place says of the snapshot in which the nodes of the question are going away.
func TestAskAnswersAsPlaceDoes(t *testing.T) {
	same, asked, placed, launched, kept := 0, 0, 0, 0, 0
	for seed := range uint64(3000) {
		r, preferences := rand.New(rand.NewPCG(seed, 31)), rand.New(rand.NewPCG(seed, 37))
		s := chance.Inhabited(r)
		var taken Taken
		if r.IntN(3) == 0 {
			p := place.Place(s, place.Options{})
			// place.Place cannot be given pods that are expected on instances.
			taken = Taken{p.Launches, slices.DeleteFunc(p.Placements, func(x plan.Placement) bool { return x.On != plan.OnNode })}
		}
		g := New(s, taken, place.Options{})
		for range 4 {
			q := anyQuestion(r, len(s.Nodes))
			if which := demand.Preferences(preferences.IntN(6)); which <= demand.NoPreferences {
				q.Preferences = demand.Counting{Usual: which}
			}
			want := place.Place(equivalent(g, q), place.Options{Preferences: q.Preferences})
			got := g.Ask(q)
			asked++
			placed += len(want.Placements)
			launched += len(want.Launches)
			if q.Below == 0 {
				wary := unlike(t, seed, g, q, &want, &got)
				kept, same = kept+wary, same+1-wary
				continue
			}
			expensive := q.Below >= 0 && (want.Cost > float64(q.Below) || want.Unpriced > 0)
			switch {
			case no(&want) != no(&got) && !(expensive && got.Expensive):
				t.Errorf("seed %d: leave %v below %v: %v want %v\n%s", seed, q.Leave, q.Below, describe(&got), describe(&want), scenario.Print(equivalent(g, q)))
			case expensive != got.Expensive && no(&want) == "" && no(&got) == "":
				t.Errorf("seed %d: leave %v below %v: expensive %v, cost %v; want %v, cost %v", seed, q.Leave, q.Below, got.Expensive, got.Cost, expensive, want.Cost)
			case !got.Expensive && (no(&want) == "" && describe(&want) != describe(&got) || q.Why && len(want.Unplaced) != len(got.Unplaced)):
				t.Errorf("seed %d: leave %v below %v: %v\n want %v", seed, q.Leave, q.Below, describe(&got), describe(&want))
			default:
				same++
			}
		}
		if t.Failed() && seed > 400 {
			break
		}
	}
	t.Logf("%d of %d answers are the same; %d placements, %d launches", same, asked, placed, launched)
	if kept > asked/500 {
		t.Errorf("%d of %d answers are no for fear of launches that place.Place does without", kept, asked)
	}
}

// unlike compares answers where nothing may be launched: yes means that place.Place launches
// nothing though it may. Elsewhere pods would be launched for as soon as they have
// left. It returns 1 for a no that is not needed.
func unlike(t *testing.T, seed uint64, g *Simulator, q Question, want, got *place.Result) int {
	stays := no(want) != "" || len(want.Launches) > 0
	switch {
	case (got.Expensive || no(got) != "") && !stays:
		return 1
	case !got.Expensive && no(got) == "" && (stays || describe(want) != describe(got)):
		t.Errorf("seed %d: leave %v, nothing to be bought: %v want %v\n%s", seed, q.Leave, describe(got), describe(want), scenario.Print(equivalent(g, q)))
	}
	return 0
}

func no(r *place.Result) string {
	if len(r.Unplaced) > 0 {
		return "no"
	}
	return ""
}

func describe(r *place.Result) string {
	text := fmt.Sprintf("cost %.0f expensive %v:", r.Cost, r.Expensive)
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
func equivalent(g *Simulator, q Question) *cluster.Snapshot {
	s := *g.snapshot
	s.Nodes, s.Instances = slices.Clone(s.Nodes), slices.Clone(s.Instances)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch {
		case slices.Contains(q.Leave, i):
			n.Deleting = true
		case !n.Initialized || !n.Ready || q.Open != nil && !q.Open.Has(i):
			n.Allocatable.Pods = 0
		}
	}
	for i := range s.Instances {
		s.Instances[i].Allocatable.Pods = 0
	}
	return &s
}

// anyQuestion is a question about some of so many nodes.
func anyQuestion(r *rand.Rand, nodes int) Question {
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

// TestAnswersDependOnTheQuestionAlone asks in another order and several at a
// time: whatever was asked before, answers are the same to the byte.
func TestAnswersDependOnTheQuestionAlone(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 32))
		s := chance.Inhabited(r)
		questions := make([]Question, 24)
		for i := range questions {
			questions[i] = anyQuestion(r, len(s.Nodes))
		}
		alone := make([]string, len(questions))
		for i, q := range questions {
			alone[i] = full(New(s, Taken{}, place.Options{}).Ask(q))
		}
		g := New(s, Taken{}, place.Options{})
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

func full(r place.Result) string {
	p := plan.Plan{Launches: r.Launches, Placements: r.Placements, Unplaced: r.Unplaced}
	return fmt.Sprintf("%v %v %v %v\n%s", r.Cost, r.Unpriced, r.Expensive, r.SpotMore, p.String())
}

// TestHopelessIsNeverWrong compares with answers.
func TestHopelessIsNeverWrong(t *testing.T) {
	hopeless, free := 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 33))
		s := chance.Inhabited(r)
		g := New(s, Taken{}, place.Options{})
		for i := range s.Nodes {
			below := quantity.MicroUSDPerHour(10_000 * r.IntN(20))
			a := g.Ask(Question{Leave: []int{i}, Below: below})
			goes := len(a.Unplaced) == 0 && !a.Expensive && a.Cost < float64(max(1, below))
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

// TestWhatThePlanTakesIsTaken: one of two pods is expected on an instance
// of the plan in zone b, so that the other goes to zone c, and none goes to the
// instance itself. Its instances count for limits and capacity reservations.
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
		"nothing is taken":          {Taken{}, "cost 0 expensive false: old->nb"},
		"a machine in b has a pod":  {taken, "cost 0 expensive false: old->nc"},
		"a machine in b has no pod": {Taken{Launches: taken.Launches}, "cost 0 expensive false: old->nb"},
	} {
		a := New(s, tt.taken, place.Options{}).Ask(Question{Leave: []int{0}})
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
		s.Pools[0].Used.Nodes, s.Pools[0].Limits.Nodes = 3, &tt.limit
		a := New(s, Taken{Launches: tt.launches}, place.Options{}).Ask(Question{Leave: []int{0}, Below: Any, Open: bitset.New(1)})
		var got []string
		for _, l := range a.Launches {
			got = append(got, l.Choice.Kind)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: bought is %v, want %v", name, got, tt.want)
		}
	}
}

// TestTakenAnswersAreTrue takes answers, and asks on as of a new simulator of what is
// so then.
func TestTakenAnswersAreTrue(t *testing.T) {
	taken := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 34))
		s := chance.Inhabited(r)
		g := New(s, Taken{}, place.Options{})
		var plan Taken
		for range 8 {
			q := anyQuestion(r, len(s.Nodes))
			a := New(s, plan, place.Options{}).Ask(q)
			if got := g.Ask(q); full(got) != strings.ReplaceAll(full(a), " of the plan", "") {
				t.Fatalf("seed %d: after %d answers, %v leave:\n%s\nwant\n%s\n%s", seed, len(g.moves), q.Leave, full(got), full(a), scenario.Print(s))
			}
			if no(&a) != "" || a.Expensive || r.IntN(3) == 0 {
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
func made(s *cluster.Snapshot, taken Taken, n int, leave []int, a place.Result) (*cluster.Snapshot, Taken) {
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
