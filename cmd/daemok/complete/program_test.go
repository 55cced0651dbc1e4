package complete

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

func TestTheAnswerOfAnotherProgramIsPassedOn(t *testing.T) {
	tests := map[string]struct {
		answer    string
		words     []string
		directive cobra.ShellCompDirective
	}{
		"words, and no files":       {"up\tStart a lab\ndown\n:4\n", []string{"up\tStart a lab", "down"}, cobra.ShellCompDirectiveNoFileComp},
		"no word, but files":        {":0\n", []string{}, cobra.ShellCompDirectiveDefault},
		"a program that is no such": {"usage: lab\n", nil, cobra.ShellCompDirectiveNoFileComp},
		"nothing":                   {"", nil, cobra.ShellCompDirectiveNoFileComp},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			words, directive := read(tt.answer)
			if !slices.Equal(words, tt.words) || directive != tt.directive {
				t.Errorf("read(%q) = %q, %d; want %q, %d", tt.answer, words, directive, tt.words, tt.directive)
			}
		})
	}
}

func TestKubectlAsksByAnotherName(t *testing.T) {
	for called, want := range map[string][]string{
		"/usr/bin/daemok":                  {"explain", "no"},
		"/usr/bin/kubectl_complete-daemok": {cobra.ShellCompRequestCmd, "explain", "no"},
		"/opt/krew/bin/kubectl-daemok":     {"explain", "no"},
	} {
		if got := Args([]string{called, "explain", "no"}); !slices.Equal(got, want) {
			t.Errorf("Args of %s = %q; want %q", called, got, want)
		}
	}
}
