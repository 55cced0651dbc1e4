package plancmd

import (
	"encoding/json"
	"strings"
	"testing"
)

const marketFile = "testdata/market.txt"

func TestWhatIfComparesPlans(t *testing.T) {
	out, err := run(t, "plan", "--snapshot", marketFile, "--what-if", "pool=default,add-family=m8g", "--what-if", "capacity=any", "--what-if", "drop-type=m5.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(out, "What if\n")
	want := `  QUESTION             NEW  $/H AFTER             CHANGE     GAP  ALL PODS FIT
  as it is               3     $0.576                  -   0.0 %  yes
  pool=default,          5     $0.551   -$0.025 (-4.3 %)   2.3 %  yes
  add-family=m8g
  capacity=any           5     $0.340  -$0.236 (-41.0 %)  53.2 %  yes
  drop-type=m5.xlarge    4     $0.388  -$0.188 (-32.6 %)   0.0 %  no: 1 left
  change: of what the cluster costs after the plan as it is
  as it is: 3 on-demand m5.xlarge
  pool=default,add-family=m8g: 4 on-demand m8g.large, 1 on-demand m5.xlarge
  capacity=any: 4 spot m5.large, 1 on-demand m5.xlarge
  drop-type=m5.xlarge: 4 on-demand m5.large
`
	if !found || table != want {
		t.Errorf("got\n%s\nwant\n%s", table, want)
	}
}

// Replacements are new instances too, and a change is a share of what all nodes cost, not of what is launched for the
// one pod that waits.
func TestWhatIfCountsReplacements(t *testing.T) {
	out, err := run(t, "plan", "--snapshot", "testdata/drifted.txt", "--what-if", "add-family=t3")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(out, "What if\n")
	want := `  QUESTION       NEW  $/H AFTER             CHANGE     GAP  ALL PODS FIT
  as it is         3     $0.480                  -  33.3 %  yes
  add-family=t3    3     $0.362  -$0.118 (-24.6 %)  92.5 %  yes
  change: of what the cluster costs after the plan as it is
  as it is: 2 on-demand m5.xlarge, 1 on-demand m5.large
  add-family=t3: 2 on-demand t3.xlarge, 1 on-demand m5.large
`
	if !found || table != want {
		t.Errorf("got\n%s\nwant\n%s", table, want)
	}
}

func TestWhatIfAsJSON(t *testing.T) {
	out, err := run(t, "plan", "--snapshot", marketFile, "--what-if", "pool=default,add-family=m8g", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var got JSON
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.WhatIf) != 1 {
		t.Fatalf("want one answer; got %s", out)
	}
	x := got.WhatIf[0]
	if x.Question != "pool=default,add-family=m8g" || x.Instances != 5 || x.CostAfter != 0.5512 || x.Difference != -0.0248 || x.Gap == nil ||
		len(x.Launches) != 2 || x.Launches[0] != (launchedJSON{"m8g.large", "on-demand", 4}) {
		t.Errorf("got %+v", x)
	}
	if got.LaunchCost != 0.576 {
		t.Errorf("the plan itself is changed: %v", got.LaunchCost)
	}
}
