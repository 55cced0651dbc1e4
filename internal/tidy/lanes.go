package tidy

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// CheckLanes finds what the Makefile wants to run under the race detector of packages that run there in part, and that
// matches no test in them any more. The variables are PARTLY, the packages, and RACED_STORIES, alternatives of go test's -run.
func CheckLanes(root fs.FS) (found []Violation, err error) {
	makefile, err := fs.ReadFile(root, "Makefile")
	if err != nil {
		return nil, fmt.Errorf("read what runs under the race detector: %w", err)
	}
	variable := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `\s*:=\s*(.*)$`).FindSubmatch(makefile)
		if m == nil {
			found = append(found, Violation{"Makefile", "has no " + name, "it says what runs under the race detector"})
			return ""
		}
		return string(m[1])
	}
	var tests strings.Builder
	for _, folder := range strings.Fields(variable("PARTLY")) {
		files, err := fs.Glob(root, path.Join(folder, "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := fs.ReadFile(root, file)
			if err != nil {
				return nil, err
			}
			tests.Write(text)
		}
	}
	for one := range strings.SplitSeq(strings.TrimSpace(variable("RACED_STORIES")), "|") {
		if one != "" && !strings.Contains(tests.String(), "\nfunc "+one) {
			found = append(found, Violation{"Makefile", "names " + one, "no test of these packages begins so, and nothing runs under the race detector for it"})
		}
	}
	return found, nil
}
