package tidy

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/fstest"
)

// ofYouth are the words of this project's youth, and how many identifiers still have them.
var ofYouth = []Refused{
	{Forms: []string{"guard", "guards", "guarded"}, Say: "pdb, PodDisruptionBudget"},
	{Forms: []string{"dear", "dearer", "dearest"}, Say: "expensive, cost"},
	{Forms: []string{"retire", "retires", "retired", "retiring"}, Say: "disrupt, terminate"},
	{Forms: []string{"buy", "buys", "buying", "bought", "buyer", "buyers", "purchase", "purchases"}, Say: "launch, candidate pool", Most: 2},
	{Forms: []string{"sell", "sells", "seller", "sellers", "sold"}, Say: "offer, insufficient capacity"},
	{Forms: []string{"wish", "wishes", "wished", "leaning", "leanings"}, Say: "preference"},
	{Forms: []string{"stock", "stocks"}, Say: "capacity reservation"},
	{Forms: []string{"desk", "seat", "seats", "plot", "plots", "stall", "shelf"}, Say: "candidate, target node", Most: 3},
	{Forms: []string{"crew", "crews", "clan", "clans", "kin"}, Say: "co-located pods, mutually exclusive pods, pod group"},
	{Forms: []string{"hurdle", "hurdles"}, Say: "constraint, reason"},
	{Forms: []string{"settle", "settled", "settles", "foretell"}, Say: "forecast, simulate", Most: 1},
	{Forms: []string{"sturdy", "tight"}, Say: "robust plan, relaxed plan"},
	{Forms: []string{"keeper", "teller", "remark", "remarks"}, Say: "cluster state, event recorder, status writer"},
	{Forms: []string{"heir", "heirs"}, Say: "replacement"},
	{Forms: []string{"nobody", "somebody", "whoever"}, Say: "none, any, the caller", Most: 1},
	{Forms: []string{"tell", "tells", "told"}, Say: "report, record, say", Most: 1},
	{Forms: []string{"anew", "heed", "pretend", "patience", "lineage", "thrift", "goods"}, Say: "again, follow, emulated, timeout, index, cost, offerings", Most: 2},
	{Forms: []string{"machine", "machines"}, Say: "instance; the lab alone has machines", Most: 47},
}

func TestIdentifiersComeToSpeakTheWordsOfTheField(t *testing.T) {
	found, err := CheckIdentifiers(os.DirFS(root), ofYouth)
	none(t, found, err)
}

func TestCheckIdentifiersCountsNamesOnce(t *testing.T) {
	const code = "package guard\n// guards lists\nfunc newGuardOf(safeguarding int) { guards := []string{\"guard\"}; _ = guards; _ = guards }\n"
	for name, tt := range map[string]struct {
		most int
		want string
	}{
		"as many as may be":  {3, "[]"},
		"one more":           {2, `[Go files have 3 identifiers with "guard", and may have 2; among them newGuardOf]`},
		"fewer than allowed": {4, `[internal/tidy allows 4 identifiers with "guard"]`},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := CheckIdentifiers(fstest.MapFS{"a.go": {Data: []byte(code)}, "a.md": {Data: []byte("guardOfAll")}}, []Refused{{Forms: []string{"guard", "guards"}, Most: tt.most}})
			var got []string
			for _, v := range found {
				got = append(got, fmt.Sprint(v.Where, " ", v.What))
			}
			if err != nil || fmt.Sprint(got) != tt.want {
				t.Errorf("found %v, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestSegmentsOfNames(t *testing.T) {
	for name, want := range map[string][]string{
		"newPDBOf": {"new", "pdb", "of"}, "guard": {"guard"}, "EC2NodeClass": {"ec2", "node", "class"}, "a_b": {"a", "b"}, "_": {""}, "toPDB": {"to", "pdb"},
	} {
		if got := segments(name); !slices.Equal(got, want) {
			t.Errorf("segments of %s are %q, want %q", name, got, want)
		}
	}
}
