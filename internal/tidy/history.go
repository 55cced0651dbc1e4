package tidy

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"unicode/utf8"
)

// CheckSubjects reports commits of the checkout in dir, made after a moment that git understands, whose subject has more
// than columns. It looks at those that the checkout has: a shallow one has few.
func CheckSubjects(ctx context.Context, dir, after string, columns int) (found []Violation, err error) {
	cmd := exec.CommandContext(ctx, "git", "log", "--no-merges", "--since="+after, "--format=%h %s")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the commits of %s: %w", dir, err)
	}
	for line := range strings.Lines(string(out)) {
		commit, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n := utf8.RuneCountInString(subject); n > columns {
			found = append(found, Violation{"commit " + commit, fmt.Sprintf("has a subject of %d columns: %q", n, subject),
				fmt.Sprintf("say it in %d, and the rest in the body", columns)})
		}
	}
	return found, nil
}
