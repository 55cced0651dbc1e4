package plancmd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// code is the exit code that an error asks for; 0 without one.
func code(err error) int {
	if exit, is := errors.AsType[*ExitError](err); is {
		return exit.Code
	}
	if err != nil {
		return 1
	}
	return 0
}

// A step of CI fails on what it says, and on nothing else. The plan launches one instance for $0.096 an hour.
func TestAPlanFailsOnWhatItIsAskedTo(t *testing.T) {
	for words, want := range map[string]struct {
		code int
		says string
	}{
		"":                                            {0, ""},
		"--detailed-exitcode":                         {WouldChange, "the plan changes the cluster: 1 instance launched"},
		"--fail-on unplaced":                          {0, ""},
		"--fail-on launched":                          {FailedOn, "--fail-on: launched: 1"},
		"--fail-on launched>1":                        {0, ""},
		"--fail-on unplaced,launched":                 {FailedOn, "launched: 1"},
		"--fail-on cost>+$0.05/h":                     {FailedOn, "$0.096"},
		"--fail-on cost>+$1/h":                        {0, ""},
		"--fail-on cost>$50/month":                    {FailedOn, "cost"},
		"--fail-on cost>$100/month":                   {0, ""},
		"--fail-on cost>$1/h":                         {0, ""},
		"--fail-on removed,cost>+$0.01/h":             {FailedOn, "cost"},
		"--fail-on launched --detailed-exitcode":      {FailedOn, "launched"},
		"--fail-on unplaced --detailed-exitcode":      {WouldChange, "the plan changes the cluster"},
		"--fail-on unplased":                          {1, "did you mean unplaced?"},
		"--fail-on cost":                              {1, "say above which cost"},
		"--fail-on removed<5":                         {1, "conditions compare by > alone"},
		"--fail-on removed>many":                      {1, `limit "many" is no whole number`},
		"--fail-on cost>ten":                          {1, "cost"},
		"--delete":                                    {1, "--delete needs -f"},
		"--watch --detailed-exitcode":                 {1, "watch"},
		"--watch --watch-interval 1ms":                {1, "want 1s or more"},
		"--watch -o html":                             {1, "--watch has no -o html"},
		"--watch --snapshot - --watch-interval 1m0s ": {1, "standard input can be read once"},
	} {
		_, err := run(t, append([]string{"plan", "--snapshot", situationFile}, strings.Fields(words)...)...)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if code(err) != want.code || !strings.Contains(text, want.says) {
			t.Errorf("daemok plan %s ends with %d: %s; want %d: %s", words, code(err), text, want.code, want.says)
		}
	}
}

// The file to share holds the plan, and nothing of a cluster as markup.
func TestAPlanIsAFileToShare(t *testing.T) {
	out, err := run(t, "plan", "--snapshot", situationFile, "-o", "html")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<!doctype html>", "m5.large", "color-scheme", "</html>"} {
		if !strings.Contains(strings.ToLower(out), want) {
			t.Errorf("the page has no %s:\n%s", want, out)
		}
	}
	if strings.Contains(out, "<script") {
		t.Error("the page has a script")
	}
	text, err := os.ReadFile(situationFile)
	if err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "odd.txt")
	if err := os.WriteFile(odd, []byte(strings.ReplaceAll(string(text), "web-1", "web<b>1")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err = run(t, "plan", "--snapshot", odd, "-o", "html"); err != nil || strings.Contains(out, "<b>1") {
		t.Errorf("a name of the cluster is markup: %v\n%s", err, out)
	}
}

// What is deleted is planned for as gone.
func TestAPlanForWhatIsDeleted(t *testing.T) {
	folder := t.TempDir()
	gone := filepath.Join(folder, "gone.yaml")
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: default}\nspec: {containers: [{name: c, image: web}]}\n"
	if err := os.WriteFile(gone, []byte(pod), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, "plan", "--snapshot", situationFile, "-f", gone, "--delete")
	if err != nil || !strings.Contains(out, "Pod default/web-1: deleted with its pods: 1") {
		t.Errorf("%v\n%s", err, out)
	}
}

// With manifests, conditions are about what these change: what happens without them fails no change. Without any change
// one pod has no place, two instances are launched, and an empty node goes.
func TestAPlanFailsOnWhatManifestsCause(t *testing.T) {
	const more, web, pool = "-f testdata/change/more.yaml ", "-f testdata/change/web.yaml --delete ", "-f testdata/change/pool.yaml --delete "
	for words, want := range map[string]string{
		"--fail-on unplaced,removed":         "--fail-on: unplaced: 1 pod; removed: 1 node",
		"--fail-on launched>1":               "launched>1: 2 instances",
		more + "--fail-on removed,launched":  "",
		more + "--fail-on unplaced":          "--fail-on: unplaced: 1 pod because of the manifests",
		more + "--fail-on unplaced>1":        "",
		more + "--fail-on cost>+$0.001/h":    "",
		more + "--fail-on cost>$0.1/h":       "cost>$0.1/h: $0.288/h -> $0.288/h",
		web + "--fail-on unplaced,launched":  "",
		web + "--fail-on removed>1,moved":    "",
		pool + "--fail-on unplaced,drifted":  "unplaced: 2 pods because of the manifests; drifted: 2 nodes because of the manifests",
		pool + "--fail-on removed,launched":  "",
		pool + "--fail-on cost>+0%,failing":  "",
		pool + "--fail-on replaced,unplaced": "unplaced: 2 pods",
	} {
		_, err := run(t, append([]string{"plan", "--snapshot", "testdata/change/situation.txt"}, strings.Fields(words)...)...)
		switch {
		case want == "" && err != nil, want != "" && (code(err) != FailedOn || !strings.Contains(err.Error(), want)):
			t.Errorf("daemok plan %s ends with %v; want %q", words, err, want)
		}
	}
}

// No condition about cost is known not to hold where an instance is launched whose price is not known; an increase is
// not because of manifests where the same is launched without them.
func TestUnknownPricesFailConditionsAboutCost(t *testing.T) {
	text, err := os.ReadFile("testdata/change/situation.txt")
	if err != nil {
		t.Fatal(err)
	}
	unpriced := filepath.Join(t.TempDir(), "unpriced.txt")
	text = bytes.ReplaceAll(text, []byte("on-demand 0.096"), []byte("on-demand unpriced"))
	if err := os.WriteFile(unpriced, text, 0o600); err != nil {
		t.Fatal(err)
	}
	const more, web = "-f testdata/change/two.yaml ", "-f testdata/change/web.yaml --delete "
	for words, want := range map[string]string{
		"--fail-on cost>+$9/h":             ", and the price of 2 new instances is not known",
		"--fail-on cost>+10%":              ", and the price of 2 new instances is not known",
		"--fail-on cost>$900/month":        ", and the price of 2 new instances is not known",
		"--fail-on launched>2":             "",
		more + "--fail-on cost>+10%":       ", and the price of 1 new instance is not known",
		more + "--fail-on cost>$900/month": ", and the price of 3 new instances is not known",
		web + "--fail-on cost>+10%":        "",
	} {
		out, err := run(t, append([]string{"plan", "--snapshot", unpriced}, strings.Fields(words)...)...)
		switch {
		case want == "" && err != nil, want != "" && (code(err) != FailedOn || !strings.Contains(err.Error(), want)):
			t.Errorf("daemok plan %s ends with %v; want %q", words, err, want)
		case !strings.Contains(out, " of unknown"),
			strings.Contains(words, web) && !strings.Contains(out, "without 1 new instance of unknown"),
			strings.Contains(words, more) && !strings.Contains(out, "by $0.000/h, and by 1 new instance"):
			t.Errorf("the plan does not say that its cost is without an instance:\n%s", out)
		}
	}
}
