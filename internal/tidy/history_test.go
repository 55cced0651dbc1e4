package tidy

import (
	"os/exec"
	"strings"
	"testing"
)

func TestCheckSubjects(t *testing.T) {
	for name, tt := range map[string]struct{ subject, at, want string }{
		"one that fits":            {strings.Repeat("é", 72), "2026-06-01T00:00:00Z", ""},
		"one that is too long":     {strings.Repeat("é", 73), "2026-06-01T00:00:00Z", "has a subject of 73 columns"},
		"one from before the rule": {strings.Repeat("é", 73), "2026-01-01T00:00:00Z", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", tt.subject}} {
				cmd := exec.CommandContext(t.Context(), "git", args...)
				cmd.Dir = dir
				cmd.Env = append(cmd.Environ(), "GIT_COMMITTER_DATE="+tt.at, "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_NOSYSTEM=1")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v: %s", cmd, err, out)
				}
			}
			found, err := CheckSubjects(t.Context(), dir, "2026-03-01T00:00:00Z", 72)
			oneWith(t, found, err, tt.want)
		})
	}
}
