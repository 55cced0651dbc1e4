// Package source reports what a release is made from: a commit, its time, and the version that git's
// tags give it.
//
// It promises the same answer in every clone that has the same tags and history, and a version that
// Helm and image registries accept. It does not ask a remote for tags.
package source

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// Source is one commit, as a release names it.
type Source struct {
	Version     string    // v0.1.0 at that tag, v0.1.1-dev.14.gac35e98798aa fourteen commits later
	Commit      string    // full hash
	CommittedAt time.Time // UTC, to the second
	Changed     bool      // the checkout is not what was committed, so no one else can build the same
}

// Tag is the version as charts and tags of images have it: 0.1.0.
func (s Source) Tag() string { return strings.TrimPrefix(s.Version, "v") }

// Read returns the commit that is checked out in folder.
func Read(ctx context.Context, folder string) (Source, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, args...)...).Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		if err != nil {
			return "", fmt.Errorf("run git %s in %s: %w", strings.Join(args, " "), folder, err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	described, err := git("describe", "--tags", "--long", "--always", "--abbrev=12", "--match", "v[0-9]*")
	if err != nil {
		return Source{}, err
	}
	count, err := git("rev-list", "--count", "HEAD")
	if err != nil {
		return Source{}, err
	}
	head, err := git("log", "-1", "--format=%H %ct")
	if err != nil {
		return Source{}, err
	}
	changes, err := git("status", "--porcelain")
	if err != nil {
		return Source{}, err
	}
	return parse(described, count, head, changes)
}

// parse reads what git printed.
func parse(described, count, head, changes string) (Source, error) {
	commit, committed, _ := strings.Cut(head, " ")
	seconds, err := strconv.ParseInt(committed, 10, 64)
	if err != nil {
		return Source{}, fmt.Errorf("read the time of commit %q: %w", head, err)
	}
	v, err := version(described, count)
	if err != nil {
		return Source{}, err
	}
	s := Source{Version: v, Commit: commit, CommittedAt: time.Unix(seconds, 0).UTC(), Changed: changes != ""}
	if s.Changed {
		s.Version = prerelease(s.Version, "dirty")
	}
	return s, nil
}

// describedTag is what "git describe --long" prints where there is a tag.
var describedTag = regexp.MustCompile(`^(.+)-(\d+)-(g[0-9a-f]+)$`)

// version turns git's description into a semantic version that sorts after the
// tag it follows and before the next one.
func version(described, count string) (string, error) {
	m := describedTag.FindStringSubmatch(described)
	if m == nil { // no tag at all: described is the commit
		return "v0.0.0-dev." + count + ".g" + described, nil
	}
	tag, commits, commit := m[1], m[2], m[3]
	if semver.Canonical(tag) != tag {
		return "", fmt.Errorf("tag %s is no semantic version: name tags of releases like v0.1.0 or v0.1.0-alpha.1", tag)
	}
	if commits == "0" {
		return tag, nil
	}
	return prerelease(tag, "dev", commits, commit), nil
}

// prerelease returns a version that comes after v and before the version that
// people would give next.
func prerelease(v string, fields ...string) string {
	addition := strings.Join(fields, ".")
	if semver.Prerelease(v) != "" {
		return v + "." + addition
	}
	patch := strings.TrimPrefix(v, semver.MajorMinor(v)+".")
	next, _ := strconv.Atoi(patch) //nolint:errcheck // a canonical version has a number there
	return fmt.Sprintf("%s.%d-%s", semver.MajorMinor(v), next+1, addition)
}
