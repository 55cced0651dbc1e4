package tidy

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

var quotedName = regexp.MustCompile("`([^`]+)`")

// CheckDependencies reports modules that the packages of the main module
// import directly, tests included, and that have no line in the table of the
// record: its first column names module paths.
func CheckDependencies(packages []Package, root fs.FS, record string) ([]Violation, error) {
	content, err := fs.ReadFile(root, record)
	if err != nil {
		return nil, fmt.Errorf("read the record of dependencies: %w", err)
	}
	var listed []string
	for line := range strings.Lines(string(content)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range quotedName.FindAllStringSubmatch(cells[1], -1) {
				listed = append(listed, m[1])
			}
		}
	}
	var found []Violation
	reported := map[string]bool{}
	for _, p := range packages {
		if folderOf(p.ImportPath) == "" {
			continue
		}
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			first, _, _ := strings.Cut(path, "/")
			covered := slices.ContainsFunc(listed, func(module string) bool { return within(path, module) })
			if !strings.Contains(first, ".") || within(path, Module) || covered || reported[path] {
				continue
			}
			reported[path] = true
			found = append(found, Violation{folderOf(p.ImportPath), "imports " + path,
				"a dependency needs a line in " + record + ": what it saves, who maintains it, what it drags in"})
		}
	}
	return found, nil
}
