package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

const settingsPage = "../../docs/reference/settings.md"

var updateSettings = flag.Bool("update-settings", false, "rewrite the tables of "+settingsPage)

// The page of settings has a row for every flag, with its variable, default and help, and
// for every one of older charts that is taken without effect.
func TestThePageOfSettingsIsWhatTheControllerTakes(t *testing.T) {
	text, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for section, rows := range map[string]string{"settings": settingRows(t), "older settings": olderRows()} {
		begin, end := "<!-- "+section+" -->\n\n", "<!-- end of "+section+" -->"
		head, rest, begins := strings.Cut(got, begin)
		_, tail, ends := strings.Cut(rest, end)
		if !begins || !ends {
			t.Fatalf("%s has no section %q", settingsPage, section)
		}
		got = head + begin + rows + "\n" + end + tail
	}
	if *updateSettings {
		if err := os.WriteFile(settingsPage, []byte(got), 0o644); err != nil { // a document
			t.Fatal(err)
		}
		return
	}
	if got != string(text) {
		t.Errorf("%s differs from the options: run go test ./cmd/daemok-controller -run PageOfSettings -update-settings and review the difference", settingsPage)
	}
}

func settingRows(t *testing.T) string {
	t.Helper()
	values := map[string]string{}
	for _, v := range ofChart(t).Variables {
		values[v.Name] = v.Value
	}
	r := newReader(func(string) string { return "" })
	r.define(new(options))
	var b strings.Builder
	b.WriteString("| Flag | Variable | Value of the chart | Default | Meaning |\n|---|---|---|---|---|\n")
	r.flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := envName(f.Name)
		fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s | %s |\n", f.Name, name, code(values[name]), code(f.DefValue), strings.ReplaceAll(f.Usage, "|", `\|`))
	})
	return b.String()
}

func olderRows() string {
	var b strings.Builder
	b.WriteString("| Variable | What to do |\n|---|---|\n")
	r := newReader(func(string) string { return "" })
	r.define(new(options))
	r.flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			fmt.Fprintf(&b, "| `%s` | %s |\n", envName(f.Name), f.Usage)
		}
	})
	return b.String()
}

// code is text as code, or nothing.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
