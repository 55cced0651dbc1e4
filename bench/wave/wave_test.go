package wave

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/bench/measured"
)

const log = `{"level":"INFO","message":"made a plan","waiting":4,"launches":0}
I1128 a line of a library
{"level":"INFO","message":"made a plan","waiting":4,"launches":2,"launchCostUSDPerHour":0.9,"likelyCostUSDPerHour":1,"boundUSDPerHour":0.8}
{"level":"INFO","message":"created nodeclaim","claim":"a","pods":2}
{"level":"INFO","message":"created nodeclaim","claim":"b","pods":2}
{"level":"INFO","message":"made a plan","waiting":1,"launches":1,"launchCostUSDPerHour":0.3,"likelyCostUSDPerHour":0.3}
{"level":"INFO","message":"created nodeclaim","claim":"c","pods":1}
`

func TestWhatBecameOfThePlan(t *testing.T) {
	r := Result{DollarsPerH: 1.25}
	err := r.compare([]byte(log), []measured.Landing{
		{On: "a", Meant: []string{"a"}}, {On: "a", Meant: []string{"b"}}, {On: "c", Meant: []string{"a", "c"}}, {On: "b", Meant: []string{"b"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := Result{NodesPlanned: 2, BoundPerHour: 0.8, PlannedDollarsPerH: 0.9, SaidDollarsPerH: 1, DollarsPerH: 1.25, OverSaid: 0.25,
		LandedAsPlanned: 0.5, LeftAfterFirstWave: 1, Waves: 2, DisplacedMost: 1}
	if r != want {
		t.Errorf("got %+v, want %+v", r, want)
	}
}

func TestALogWithoutAPlan(t *testing.T) {
	for name, text := range map[string]string{"no plan": "", "fewer NodeClaims than planned": log[:strings.Index(log, "{\"level\":\"INFO\",\"message\":\"created nodeclaim\",\"claim\":\"b\"")]} {
		if got, err := plansOf([]byte(text)); err == nil {
			t.Errorf("%s: plans are %+v and no error", name, got)
		}
	}
}

func TestMomentsOfShares(t *testing.T) {
	var ran []time.Duration
	for i := range 20 {
		ran = append(ran, time.Duration(i+1)*time.Second)
	}
	for share, want := range map[float64]float64{0.5: 10, 0.95: 19, 1: 20} {
		if got := at(ran, share); math.Abs(got-want) > 1e-9 {
			t.Errorf("%.0f %% run after %v s, want %v", 100*share, got, want)
		}
	}
}
