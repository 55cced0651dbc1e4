package krew

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/internal/release/source"
)

var zeroes = strings.Repeat("0", 64)

func TestEveryPlatformHasItsArchive(t *testing.T) {
	var out strings.Builder
	err := Write(&out, source.Source{Version: "v0.1.0"}, []Archive{
		{"darwin", "arm64", "daemok_0.1.0_darwin_arm64.tar.gz", zeroes}, {"linux", "amd64", "daemok_0.1.0_linux_amd64.tar.gz", strings.Repeat("f", 64)},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, platforms, _ := strings.Cut(out.String(), "  platforms:\n")
	want := `  - selector:
      matchLabels:
        os: darwin
        arch: arm64
    uri: https://github.com/daemok/daemok/releases/download/v0.1.0/daemok_0.1.0_darwin_arm64.tar.gz
    sha256: ` + zeroes + `
    files:
    - from: daemok_0.1.0_darwin_arm64/daemok
      to: .
    - from: daemok_0.1.0_darwin_arm64/LICENSE
      to: .
    bin: daemok
  - selector:
      matchLabels:
        os: linux
        arch: amd64
    uri: https://github.com/daemok/daemok/releases/download/v0.1.0/daemok_0.1.0_linux_amd64.tar.gz
`
	if !strings.HasPrefix(platforms, want) || !strings.Contains(out.String(), "\n  version: v0.1.0\n") {
		t.Errorf("the manifest is\n%s\nwant these platforms\n%s", out.String(), want)
	}
}

// krew's index takes short descriptions of 50 characters at most.
func TestTheShortDescriptionIsShort(t *testing.T) {
	for line := range strings.Lines(text) {
		if short, is := strings.CutPrefix(line, "  shortDescription: "); is && len(strings.TrimSpace(short)) > 50 {
			t.Errorf("%q has %d characters", short, len(strings.TrimSpace(short)))
		}
	}
}

func TestWhatKrewWouldRefuse(t *testing.T) {
	good := Archive{"linux", "amd64", "daemok.tar.gz", zeroes}
	tests := map[string]struct {
		version  string
		archives []Archive
		want     string
	}{
		"a version without a v":      {"0.1.0", []Archive{good}, "with a v before it"},
		"no platform":                {"v0.1.0", nil, "has no archive"},
		"a sum that is none":         {"v0.1.0", []Archive{{"linux", "amd64", "daemok.tar.gz", "abc"}}, "archive daemok.tar.gz"},
		"an archive of another form": {"v0.1.0", []Archive{{"linux", "amd64", "daemok.zip", zeroes}}, "archive daemok.zip"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := Write(&strings.Builder{}, source.Source{Version: tt.version}, tt.archives)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v; want one with %q", err, tt.want)
			}
		})
	}
}
