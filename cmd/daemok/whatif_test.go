package main

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
	_, table, found := strings.Cut(out, "\n\n")
	want := `what if                      new instances  cost         cluster after  difference              unplaced pods  gap     launches
as it is                     3              $0.576000/h  $0.576000/h    -                       0              0.0 %   3 on-demand m5.xlarge
pool=default,add-family=m8g  5              $0.551200/h  $0.551200/h    -$0.024800/h (-4.3 %)   0              2.3 %   4 on-demand m8g.large, 1 on-demand m5.xlarge
capacity=any                 5              $0.340000/h  $0.340000/h    -$0.236000/h (-41.0 %)  0              53.2 %  4 spot m5.large, 1 on-demand m5.xlarge
drop-type=m5.xlarge          4              $0.388000/h  $0.388000/h    -$0.188000/h (-32.6 %)  1              0.0 %   4 on-demand m5.large
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
	var got planJSON
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
