package place

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/scenario"
)

// someShop offers instances of 4, 8, 16 and 64 cores.
const someShop = `catalogue sizes 1
kind c4 cpu=4 memory=16Gi pods=40
  offer a on-demand 0.10
kind c8 cpu=8 memory=32Gi pods=80
  offer a on-demand 0.25
kind c16 cpu=16 memory=64Gi pods=160
  offer a on-demand 0.60
kind c64 cpu=64 memory=256Gi pods=400
  offer a on-demand 3.00
pool NodePool/default catalogue=sizes
`

// chain is pods of which each must be on the host of the one before it, the
// last of all first in the text, so that nothing follows from the order.
func chain(t *testing.T, pods int, each string) *cluster.Snapshot {
	t.Helper()
	var b strings.Builder
	b.WriteString(someShop)
	for i := range pods {
		fmt.Fprintf(&b, "shape s%04d namespace=d %s\n  labels app=n%d\n", pods-i, each, i)
		if i > 0 {
			fmt.Fprintf(&b, "  near kubernetes.io/hostname\n    select app In n%d\n", i-1)
		}
	}
	for i := range pods {
		fmt.Fprintf(&b, "waiting d/p%04d shape=s%04d\n", pods-i, pods-i)
	}
	s, err := scenario.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestALongChainSharesOneInstance(t *testing.T) {
	got := Place(chain(t, 300, "cpu=100m memory=64Mi"), Options{})
	if len(got.Unplaced) > 0 || len(got.Launches) != 1 || got.Launches[0].Choice.Kind != "c64" {
		t.Errorf("%d shapes are left and %d machines bought; want all 300 pods on one c64", len(got.Unplaced), len(got.Launches))
	}
}

func TestTheStepsForAChainGrowWithItsLength(t *testing.T) {
	short, long := Place(chain(t, 75, "cpu=10m memory=8Mi"), Options{}), Place(chain(t, 300, "cpu=10m memory=8Mi"), Options{})
	if len(long.Unplaced) > 0 || long.Steps > 8*short.Steps {
		t.Errorf("%d steps for 300 pods, %d for 75; want four times as many, and all placed", long.Steps, short.Steps)
	}
}

func TestManyPairsShareFewInstances(t *testing.T) {
	var b strings.Builder
	b.WriteString(someShop)
	for i := range 200 {
		fmt.Fprintf(&b, "shape a%d namespace=d cpu=100m memory=64Mi\n  labels app=a%d\n", i, i)
		fmt.Fprintf(&b, "shape b%d namespace=d cpu=100m memory=64Mi\n  labels app=b%d\n  near kubernetes.io/hostname\n    select app In a%d\n", i, i, i)
	}
	for i := range 200 {
		fmt.Fprintf(&b, "waiting d/a%d shape=a%d\nwaiting d/b%d shape=b%d\n", i, i, i, i)
	}
	s, err := scenario.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	got := Place(s, Options{})
	sum := 0.0
	for i := range got.Launches {
		sum += float64(got.Launches[i].Choice.Price) / 1e6
	}
	if len(got.Unplaced) > 0 || sum > 1.1 {
		t.Errorf("%d shapes are left, %.2f dollars an hour are spent on %d machines; want 40 cores at a fortieth of a dollar", len(got.Unplaced), sum, len(got.Launches))
	}
}

// TestWhatFitsOneInstanceIsPlaced makes trees of pods by chance, each pod
// on the host of another of its tree and some sorts of them several times. Each
// tree has room on the largest instance, so none of its pods may be left.
func TestWhatFitsOneInstanceIsPlaced(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 9))
		var b, pods strings.Builder
		b.WriteString(someShop)
		for tree := range 1 + random.IntN(6) {
			room := 60000
			for i := 0; room > 0 && i < 30; i++ {
				cpu, count := 100+random.IntN(room/2+100), 1
				if i > 0 {
					count += random.IntN(3)
				}
				if room -= cpu * count; room < 0 {
					break
				}
				fmt.Fprintf(&b, "shape t%dn%d namespace=d cpu=%dm memory=64Mi\n  labels app=t%dn%d tree=t%d\n", tree, i, cpu, tree, i, tree)
				if i > 0 {
					fmt.Fprintf(&b, "  near kubernetes.io/hostname\n    select app In t%dn%d\n", tree, random.IntN(i))
				}
				fmt.Fprintf(&pods, "waiting d/t%dn%d shape=t%dn%d count=%d\n", tree, i, tree, i, count)
			}
		}
		s, err := scenario.Parse(b.String() + pods.String())
		if err != nil {
			t.Fatal(err)
		}
		if got := Place(s, Options{}); len(got.Unplaced) > 0 {
			t.Fatalf("seed %d: %d shapes are left: %v\n%s", seed, len(got.Unplaced), got.Unplaced[0].Reasons, b.String()+pods.String())
		}
	}
}

// TestFollowersFindRoomBesideTheirLeaders makes leaders that are apart, and
// followers of a few sorts that fill about four fifths of what the largest instances
// have beside one leader each.
func TestFollowersFindRoomBesideTheirLeaders(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 10))
		leaders := 1 + random.IntN(8)
		var b, pods strings.Builder
		b.WriteString(someShop)
		b.WriteString("shape leader namespace=d cpu=1 memory=64Mi\n  labels app=leader\n  apart kubernetes.io/hostname\n    select app In leader\n")
		fmt.Fprintf(&pods, "waiting d/leader shape=leader count=%d\n", leaders)
		for sort, room := 0, leaders*50; sort < 5 && room > 0; sort++ {
			cpu := 1 + random.IntN(10)
			count := min(1+random.IntN(4*leaders), room/cpu)
			room -= count * cpu
			if count == 0 {
				break
			}
			fmt.Fprintf(&b, "shape s%d namespace=d cpu=%d memory=64Mi\n  labels app=s%d\n  near kubernetes.io/hostname\n    select app In leader\n", sort, cpu, sort)
			fmt.Fprintf(&pods, "waiting d/s%d shape=s%d count=%d\n", sort, sort, count)
		}
		s, err := scenario.Parse(b.String() + pods.String())
		if err != nil {
			t.Fatal(err)
		}
		if got := Place(s, Options{}); len(got.Unplaced) > 0 {
			t.Fatalf("seed %d: %d shapes are left: %v\n%s", seed, len(got.Unplaced), got.Unplaced[0].Reasons, b.String()+pods.String())
		}
	}
}
