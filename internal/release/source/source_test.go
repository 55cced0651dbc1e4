package source

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/semver"
)

func TestVersionsAreNamedAfterTags(t *testing.T) {
	tests := map[string]struct {
		described, changes string
		want               string // "" when it is an error
	}{
		"a tag is the version":                  {"v0.1.0-0-gac35e98798aa", "", "v0.1.0"},
		"a tag before a release is one too":     {"v0.1.0-alpha.1-0-gac35e98798aa", "", "v0.1.0-alpha.1"},
		"commits after a release":               {"v0.1.0-14-gac35e98798aa", "", "v0.1.1-dev.14.gac35e98798aa"},
		"commits after a tag before a release":  {"v0.1.0-alpha.1-3-gac35e98798aa", "", "v0.1.0-alpha.1.dev.3.gac35e98798aa"},
		"no tag yet":                            {"ac35e98798aa", "", "v0.0.0-dev.1500.gac35e98798aa"},
		"a checkout that was changed at a tag":  {"v0.1.0-0-gac35e98798aa", " M go.mod", "v0.1.1-dirty"},
		"a checkout that was changed later":     {"v0.1.0-2-gac35e98798aa", "?? x.go", "v0.1.1-dev.2.gac35e98798aa.dirty"},
		"a tag that Helm would refuse":          {"v0.1-0-gac35e98798aa", "", ""},
		"a tag that registries would refuse":    {"v0.1.0+build-0-gac35e98798aa", "", ""},
		"a tag with a zero where none may be":   {"v0.01.0-0-gac35e98798aa", "", ""},
		"a tag that is a date is refused, told": {"v20261127-0-gac35e98798aa", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse(tt.described, "1500", "ac35e98798aa5b088647464e54d44ac38c99c000 1795761703", tt.changes)
			if got.Version != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("version of %q = %q, %v; want %q", tt.described, got.Version, err, tt.want)
			}
			if err != nil && !strings.Contains(err.Error(), "v0.1.0") {
				t.Errorf("error %q does not say how tags are named", err)
			}
		})
	}
}

// Whoever asks for the newest version must not get an older one.
func TestVersionsSortAsTheyWereMade(t *testing.T) {
	made := []string{
		"8e0000000000", "v0.1.0-alpha.1-0-g1", "v0.1.0-alpha.1-3-g2", "v0.1.0-alpha.1-12-g3", "v0.1.0-alpha.2-0-g4", "v0.1.0-0-g5", "v0.1.0-1-g6", "v0.1.1-0-g7",
	}
	var last string
	for _, described := range made {
		v, err := version(described, "7")
		if err != nil {
			t.Fatal(err)
		}
		if last != "" && semver.Compare(last, v) >= 0 {
			t.Errorf("%s is not newer than %s", v, last)
		}
		last = v
	}
}

func TestReadAsksGit(t *testing.T) {
	folder := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-11-27T06:41:43+02:00")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	git("tag", "v0.2.0")
	git("commit", "-q", "--allow-empty", "-m", "two")
	got, err := Read(context.Background(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if want := "v0.2.1-dev.1.g" + got.Commit[:12]; got.Version != want || got.Changed {
		t.Errorf("Read = %+v; want version %s, unchanged", got, want)
	}
	if want := time.Date(2026, 11, 27, 4, 41, 43, 0, time.UTC); !got.CommittedAt.Equal(want) || got.CommittedAt.Location() != time.UTC {
		t.Errorf("committed at %v; want %v", got.CommittedAt, want)
	}
	if err := os.WriteFile(filepath.Join(folder, "new.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err = Read(context.Background(), folder); err != nil || !got.Changed {
		t.Errorf("Read with a new file = %+v, %v; want a changed checkout", got, err)
	}
}

func TestReadSaysWhatGitSaid(t *testing.T) {
	_, err := Read(context.Background(), filepath.Join(t.TempDir(), "none"))
	if err == nil || !strings.Contains(err.Error(), "git describe") || !strings.Contains(err.Error(), "none") {
		t.Errorf("error %v does not name the command and the folder", err)
	}
}
