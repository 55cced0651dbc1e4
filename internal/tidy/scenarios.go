package tidy

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var scenarioNumber = regexp.MustCompile(`\bSC-\d+\b`)

// CheckScenarios reports rows of the page's table that no test shows and that
// give no reason, and rows that give one though a test shows them. A row is
// | number | what happens | why no test shows it |. A story shows a number
// that its first line names, a test one that its file names; the tests of
// this package show none.
func CheckScenarios(root fs.FS, page string) ([]Violation, error) {
	content, err := fs.ReadFile(root, page)
	if err != nil {
		return nil, fmt.Errorf("read the list of scenarios: %w", err)
	}
	shown, err := shownScenarios(root)
	if err != nil {
		return nil, err
	}
	var found []Violation
	seen := map[string]bool{}
	for i, line := range strings.Split(string(content), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !scenarioNumber.MatchString(cells[1]) {
			continue
		}
		number, reason := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[3])
		report := func(what, why string) {
			found = append(found, Violation{fmt.Sprintf("%s:%d", page, i+1), number + " " + what, why})
		}
		where := shown[number]
		switch {
		case seen[number]:
			report("is there twice", "a number has one row")
		case where == "" && reason == "":
			report("is shown by no test and gives no reason", "name it in the first line of a story or in a test, or say why not")
		case where != "" && reason != "":
			report("gives a reason though "+where+" shows it", "leave the reason out")
		}
		seen[number] = true
	}
	if len(seen) == 0 {
		found = append(found, Violation{page, "lists no scenario", "it says which behaviour is shown by a test"})
	}
	return found, nil
}

// shownScenarios maps a number to the first file that shows it.
func shownScenarios(root fs.FS) (map[string]string, error) {
	shown := map[string]string{}
	err := walk(root, func(name string, content []byte) error {
		switch {
		case path.Ext(name) == ".txtar":
			content, _, _ = bytes.Cut(content, []byte("\n"))
		case !strings.HasSuffix(name, "_test.go") || within(name, "internal/tidy"):
			return nil
		}
		for _, m := range scenarioNumber.FindAll(content, -1) {
			if shown[string(m)] == "" {
				shown[string(m)] = name
			}
		}
		return nil
	})
	return shown, err
}

// CheckScenarioNumbers reports stories in folder that name a number which the
// page does not list though it lists higher ones.
func CheckScenarioNumbers(root fs.FS, page, folder string) ([]Violation, error) {
	content, err := fs.ReadFile(root, page)
	if err != nil {
		return nil, fmt.Errorf("read the list of scenarios: %w", err)
	}
	listed, last := map[string]bool{}, 0
	for _, number := range scenarioNumber.FindAllString(string(content), -1) {
		listed[number], last = true, max(last, valueOf(number))
	}
	shown, err := shownScenarios(root)
	if err != nil {
		return nil, err
	}
	var found []Violation
	for _, number := range slices.Sorted(maps.Keys(shown)) {
		if within(shown[number], folder) && !listed[number] && valueOf(number) < last {
			found = append(found, Violation{shown[number], "names " + number, page + " does not list it"})
		}
	}
	return found, nil
}

func valueOf(number string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(number, "SC-")) //nolint:errcheck // the expression finds digits alone
	return n
}
