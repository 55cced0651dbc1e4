package main

import (
	"slices"
	"strings"
	"testing"
)

func TestLeadingFolder(t *testing.T) {
	t.Setenv("LAB_DIR", "")
	tests := map[string]struct {
		args   []string
		folder string
		rest   []string
		fails  bool
	}{
		"a separator is left out":              {[]string{"--dir", "/d", "--", "get"}, "/d", []string{"get"}, false},
		"no folder is the usual one":           {[]string{"get", "pods"}, ".lab", []string{"get", "pods"}, false},
		"a folder in two words":                {[]string{"--dir", "/d", "get", "pods"}, "/d", []string{"get", "pods"}, false},
		"a folder in one word":                 {[]string{"--dir=/d", "get"}, "/d", []string{"get"}, false},
		"a later --dir is kubectl's affair":    {[]string{"get", "--dir", "/d"}, ".lab", []string{"get", "--dir", "/d"}, false},
		"a folder that is not named fails":     {[]string{"--dir"}, "", nil, true},
		"nothing at all is kubectl's own help": {nil, ".lab", nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			folder, rest, err := leadingFolder(tt.args)
			if folder != tt.folder || !slices.Equal(rest, tt.rest) || (err != nil) != tt.fails {
				t.Errorf("leadingFolder(%q) = %q, %q, %v; want %q, %q, fails %v", tt.args, folder, rest, err, tt.folder, tt.rest, tt.fails)
			}
		})
	}
}

// With lab.env in the environment its lab is meant, unless another is named.
func TestTheEnvironmentNamesTheLab(t *testing.T) {
	t.Setenv("LAB_DIR", "/labs/one")
	if folder, rest, err := leadingFolder([]string{"get", "pods"}); folder != "/labs/one" || !slices.Equal(rest, []string{"get", "pods"}) || err != nil {
		t.Errorf("without --dir it is %q, %q, %v; want /labs/one", folder, rest, err)
	}
	if folder, _, err := leadingFolder([]string{"--dir", "/labs/two", "get"}); folder != "/labs/two" || err != nil {
		t.Errorf("with --dir /labs/two it is %q, %v", folder, err)
	}
}

func TestHelpOfKubectlNeedsNoLab(t *testing.T) {
	tests := map[string]struct {
		args []string
		want bool
	}{
		"the flag":                     {[]string{"--help"}, true},
		"the flag of a verb":           {[]string{"get", "-h"}, true},
		"the verb":                     {[]string{"help", "get"}, true},
		"a question to the cluster":    {[]string{"get", "pods"}, false},
		"the help of a command inside": {[]string{"exec", "web", "--", "ls", "--help"}, false},
		"nothing at all":               {nil, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := asksForHelp(tt.args); got != tt.want {
				t.Errorf("asksForHelp(%q) = %v, want %v", tt.args, got, tt.want)
			}
		})
	}
}

func TestUsageNamesTheVerbOfTheMainCommand(t *testing.T) {
	root := rootCommand()
	var out strings.Builder
	root.SetOut(&out)
	root.SetArgs([]string{"up", "--help"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "Global Flags") {
		t.Errorf("the usage of up has flags of libraries:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "daemok lab up") || strings.Contains(out.String(), "daemok-lab up") {
		t.Errorf("the usage of up says\n%s", out.String())
	}
}
