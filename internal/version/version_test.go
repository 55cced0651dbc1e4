package version

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestFrom(t *testing.T) {
	recorded := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	tests := map[string]struct {
		build            debug.BuildInfo
		released, linked string
		want             string
	}{
		"knows nothing of a bare build":            {debug.BuildInfo{}, "", "", "development (commit unknown, "},
		"believes the linker first":                {debug.BuildInfo{Settings: recorded}, "", "feedbeef", "development (commit feedbeef, "},
		"falls back to what the toolchain noted":   {debug.BuildInfo{Settings: recorded}, "", "", "development (commit 0123456789ab-dirty, "},
		"names the module version when it has one": {debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "", "c", "v1.2.3 (commit c, "},
		"does not print (devel)":                   {debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "", "c", "development (commit c, "},
		"names the release that it was built for":  {debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "v0.1.0", "c", "v0.1.0 (commit c, "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := tt.want + runtime.Version() + ")"
			if got := from(&tt.build, tt.released, tt.linked).String(); got != want {
				t.Errorf("from(%+v, %q, %q) = %q; want %q", tt.build, tt.released, tt.linked, got, want)
			}
		})
	}
}
