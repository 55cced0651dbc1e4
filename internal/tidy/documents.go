package tidy

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var recordName = regexp.MustCompile(`^(\d{4})-[a-z0-9-]+\.md$`)

// CheckRecords reports decision records in folder that its index leaves out,
// numbers given twice or skipped, and records without what each must say.
func CheckRecords(root fs.FS, folder string) ([]Violation, error) {
	entries, err := fs.ReadDir(root, folder)
	if err != nil {
		return nil, fmt.Errorf("read the records in %s: %w", folder, err)
	}
	index, err := fs.ReadFile(root, path.Join(folder, "README.md"))
	if err != nil {
		return nil, fmt.Errorf("read the index of %s: %w", folder, err)
	}
	var found []Violation
	next := 1
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		if entry.Name() == "README.md" {
			continue
		}
		m := recordName.FindStringSubmatch(entry.Name())
		if m == nil {
			found = append(found, Violation{name, "is not named like 0001-a-decision.md", "records are found by number"})
			continue
		}
		if want := fmt.Sprintf("%04d", next); m[1] != want {
			found = append(found, Violation{name, "has number " + m[1], "the next number is " + want})
		}
		next++
		if !bytes.Contains(index, []byte("("+entry.Name()+")")) {
			found = append(found, Violation{name, "is missing in " + folder + "/README.md", "the index lists every record"})
		}
		missing, err := missingParts(root, name)
		if err != nil {
			return nil, err
		}
		found = append(found, missing...)
	}
	return found, nil
}

// missingParts wants the four parts of a record.
func missingParts(root fs.FS, name string) ([]Violation, error) {
	content, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, fmt.Errorf("read record %s: %w", name, err)
	}
	var found []Violation
	for _, part := range []string{"Date: ", "## Context", "## Decision", "## Cost"} {
		if !slices.ContainsFunc(strings.Split(string(content), "\n"), func(l string) bool { return strings.HasPrefix(l, part) }) {
			found = append(found, Violation{name, "has no " + strings.TrimSpace(part), "a record says when, why, what and at what cost"})
		}
	}
	return found, nil
}

// states are what docs/status.md may say of a capability.
var states = []string{"works", "in part", "accepted, acts later", "absent"}

// CheckStatus reports rows of the tables in file that give no known state, so
// that nobody has to guess what "soon" or "mostly" means. A row is | what |
// state | notes |.
func CheckStatus(root fs.FS, file string) ([]Violation, error) {
	content, err := fs.ReadFile(root, file)
	if err != nil {
		return nil, fmt.Errorf("read the status page: %w", err)
	}
	var found []Violation
	rows := 0
	for i, line := range strings.Split(string(content), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.TrimSpace(cells[2]) == "State" || strings.HasPrefix(strings.TrimSpace(cells[1]), "--") {
			continue
		}
		rows++
		if state := strings.TrimSpace(cells[2]); !slices.Contains(states, state) {
			found = append(found, Violation{fmt.Sprintf("%s:%d", file, i+1), fmt.Sprintf("has state %q", state),
				"use one of: " + strings.Join(states, "; ")})
		}
	}
	if rows == 0 {
		found = append(found, Violation{file, "lists no capability", "users read there what works"})
	}
	return found, nil
}
