package tidy

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// oldWords are documents that are still to be reworded.
var oldWords = []string{
	"CONTRIBUTING.md",
	"SECURITY.md",
	"STYLE.md",
	"charts/daemok/README.md",
	"docs/README.md",
	"docs/architecture.md",
	"docs/concepts/README.md",
	"docs/concepts/aws.md",
	"docs/concepts/class.md",
	"docs/concepts/cost.md",
	"docs/concepts/disruption.md",
	"docs/concepts/drift.md",
	"docs/concepts/ledger.md",
	"docs/concepts/machine-node-claim.md",
	"docs/concepts/market.md",
	"docs/concepts/offering.md",
	"docs/concepts/pack.md",
	"docs/concepts/place.md",
	"docs/concepts/plan.md",
	"docs/concepts/pool.md",
	"docs/concepts/reason.md",
	"docs/concepts/scheduling.md",
	"docs/concepts/simulation.md",
	"docs/concepts/snapshot.md",
	"docs/development/aws-emulator.md",
	"docs/development/release.md",
	"docs/development/scenarios.md",
	"docs/get-started/try.md",
	"docs/reference/benchmarks.md",
	"docs/reference/compatibility.md",
	"docs/reference/fields/awsnodetemplate.md",
	"docs/reference/fields/disruptionpolicy.md",
	"docs/reference/fields/ec2nodeclass.md",
	"docs/reference/fields/nodeclaim.md",
	"docs/reference/fields/nodepool.md",
	"docs/reference/fields/provisioner.md",
	"docs/reference/iam.md",
	"docs/reference/metrics.md",
	"docs/reference/names.md",
	"docs/reference/output.md",
	"docs/reference/settings.md",
	"docs/security.md",
	"docs/status.md",
	"docs/tasks/adopt.md",
	"docs/tasks/explain.md",
	"docs/tasks/install.md",
	"docs/tasks/interruption.md",
	"docs/tasks/keep-nodes.md",
	"docs/tasks/lab.md",
	"docs/tasks/migrate.md",
	"docs/tasks/node-classes.md",
	"docs/tasks/node-repair.md",
	"docs/tasks/placement-groups.md",
	"docs/tasks/reservations.md",
	"docs/tasks/roll.md",
	"docs/tasks/tenancy.md",
	"docs/tasks/zonal-shift.md",
	"docs/troubleshooting.md",
	"docs/upgrade.md",
}

func TestDocumentsSpeakTheWordsOfTheField(t *testing.T) {
	found, err := CheckWords(os.DirFS(root), oldWords...)
	none(t, found, err)
}

func TestReadmeIsShort(t *testing.T) {
	found, err := CheckLength(os.DirFS(root), "README.md", 120)
	none(t, found, err)
}

func TestCheckWordsFindsPlantedMistakes(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string // line and word
	}{
		"a refused word":              {"Nodes are fine.\nA node is Retired.", []string{`a.md:2 says "retired"`}},
		"two words over two kinds":    {"It buys a machine.", []string{`a.md:1 says "buys"`, `a.md:1 says "machine"`}},
		"a word in a heading":         {"# What nobody needs", []string{`a.md:1 says "nobody"`}},
		"the text of a link":          {"[Machines](instances.md)", []string{`a.md:1 says "machines"`}},
		"a longer word has no other":  {"A machinery of kindness, guarded at restart.", nil},
		"the target of a link":        {"[Instances](machine.md)", nil},
		"code cites":                  {"`daemok.sh/machine-cost` and ``a ` machine``", nil},
		"a fence cites":               {"```\na machine\n```\nAn instance.", nil},
		"after a fence prose goes on": {"```\nx\n```\nA machine.", []string{`a.md:4 says "machine"`}},
		"a quotation cites":           {`It says "machine".`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := CheckWords(fstest.MapFS{"a.md": {Data: []byte(tt.text)}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range found {
				got = append(got, fmt.Sprint(v.Where, " ", v.What))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAnExceptionThatIsNoneIsReported(t *testing.T) {
	found, err := CheckWords(fstest.MapFS{"a.md": {Data: []byte("An instance.")}, "b.md": {Data: []byte("A machine.")}}, "a.md", "b.md")
	if err != nil || len(found) != 1 || !strings.Contains(found[0].What, "no refused word") {
		t.Errorf("found %v, %v; want that a.md is no exception any more", found, err)
	}
}

func TestALongDocumentIsReported(t *testing.T) {
	found, err := CheckLength(fstest.MapFS{"a.md": {Data: []byte("1\n2\n3\n")}}, "a.md", 2)
	if err != nil || len(found) != 1 {
		t.Errorf("found %v, %v; want one", found, err)
	}
}
