package tidy

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

var (
	compiledFunction = regexp.MustCompile(`^(\S+) STEXT`)
	fusedInstruction = regexp.MustCompile(`\((\S+:\d+)\)\s+(FN?M(?:ADD|SUB)[SD])\b`)
)

// CheckFused compiles the packages that match pattern for arm64 and reports
// fused multiply-and-add instructions: they round once where amd64 rounds
// twice, so two hosts would make different plans.
func CheckFused(ctx context.Context, dir, pattern string) ([]Violation, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-gcflags=-S", pattern)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("compile %s for arm64: %w: %s", pattern, err, lastLine(out))
	}
	return fusedIn(string(out)), nil
}

// fusedIn reads the compiler's assembly listing.
func fusedIn(listing string) []Violation {
	var found []Violation
	function := "?"
	for line := range strings.Lines(listing) {
		if m := compiledFunction.FindStringSubmatch(line); m != nil {
			function = m[1]
		}
		if m := fusedInstruction.FindStringSubmatch(line); m != nil {
			found = append(found, Violation{function, "compiles to " + m[2] + " on arm64",
				"write float64(x*y)+z, so that every processor computes the same bytes"})
		}
	}
	return found
}

func lastLine(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return string(lines[len(lines)-1])
}
