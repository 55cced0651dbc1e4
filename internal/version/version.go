// Package version reports which build of the product is running: the commit that the linker was given,
// or what the Go toolchain recorded.
//
// It promises an answer for every build, "unknown" at worst. It does not compare versions.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// commit and release are set by the linker (-X); the Makefile does so, release
// for builds that users download alone.
var commit, release string

// Info is what is known about the running build.
type Info struct {
	Version string // of the release or module, such as v0.1.0; "development" for a build from a checkout
	Commit  string // abbreviated, "-dirty" at its end if the checkout was changed; or "unknown"
	Go      string // toolchain, such as go1.26.0
}

// Get returns what is known about the running build.
func Get() Info {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	return from(build, release, commit)
}

// from decides which source to believe: the linker's word, else the
// toolchain's.
func from(build *debug.BuildInfo, released, linked string) Info {
	info := Info{Version: "development", Commit: "unknown", Go: runtime.Version()}
	if v := build.Main.Version; v != "" && v != "(devel)" {
		info.Version = v
	}
	if released != "" {
		info.Version = released
	}
	if linked != "" {
		info.Commit = linked
		return info
	}
	settings := make(map[string]string, len(build.Settings))
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" {
		info.Commit = revision[:min(12, len(revision))]
		if settings["vcs.modified"] == "true" {
			info.Commit += "-dirty"
		}
	}
	return info
}

// String prints one line: "development (commit 0123456789ab, go1.26.0)".
func (i Info) String() string {
	return fmt.Sprintf("%s (commit %s, %s)", i.Version, i.Commit, i.Go)
}

// Build is the build in a word, such as "v0.3.0+0123456789ab".
func (i Info) Build() string { return i.Version + "+" + i.Commit }
