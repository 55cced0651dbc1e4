package monitoring

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runbookFolder is where the pages of alerts are.
const runbookFolder = "../../docs/runbooks"

// The files in the repository are what `make generate` writes.
func TestFilesAreWhatIsGenerated(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Clean(name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what is generated (%v): run make generate and commit the result", name, err)
		}
	}
	there, err := filepath.Glob("dashboards/*.json")
	if err != nil || len(there) != len(Boards()) {
		t.Errorf("%d dashboards in the folder, want %d: %v", len(there), len(Boards()), err)
	}
}

// Dashboards that are there no more are removed.
func TestOldDashboardsAreRemoved(t *testing.T) {
	folder := t.TempDir()
	old := filepath.Join(folder, "dashboards", "old.json")
	if err := os.MkdirAll(filepath.Dir(old), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the old dashboard is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "alerts.yaml")); err != nil {
		t.Error(err)
	}
}

// The document names every dashboard and every alert.
func TestTheDocumentNamesAll(t *testing.T) {
	text, err := os.ReadFile("../../docs/tasks/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range Boards() {
		if !strings.Contains(string(text), "\n| "+b.Title+" |") {
			t.Errorf("docs/tasks/monitoring.md does not name the dashboard %s", b.Title)
		}
	}
	for _, g := range Groups() {
		for _, r := range g.Rules {
			if row := "\n| [" + r.Alert + "](../runbooks/" + r.Alert + ".md) | " + r.Labels["severity"] + " |"; !strings.Contains(string(text), row) {
				t.Errorf("docs/tasks/monitoring.md does not name the alert %s with its severity", r.Alert)
			}
		}
	}
}

// Each alert has a page that says what to do, and no page is left of one that is gone.
func TestEveryAlertHasItsRunbook(t *testing.T) {
	var pages []string
	for _, g := range Groups() {
		for _, r := range g.Rules {
			pages = append(pages, r.Alert+".md")
			if r.Annotations["runbook_url"] != runbooks+r.Alert+".md" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s lacks its page, severity or words: %+v", r.Alert, r)
			}
			text, err := os.ReadFile(filepath.Join(runbookFolder, r.Alert+".md"))
			for _, part := range []string{"# " + r.Alert + "\n", "**Check", "**Fix"} {
				if err == nil && !strings.Contains(string(text), part) && !strings.Contains(string(text), "| Fix |") {
					t.Errorf("the page of %s has no %q", r.Alert, part)
				}
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	entries, err := os.ReadDir(runbookFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(pages, e.Name()) {
			t.Errorf("%s is the page of no alert", e.Name())
		}
	}
}
