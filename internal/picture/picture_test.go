package picture

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw docs/images/demo.svg again from docs/images/demo.txt")

const images = "../../docs/images/"

// The picture of the README shows the output that is kept beside it: what `daemok demo --once` prints
// once its lab is up.
func TestTheDemoIsDrawnAsItRan(t *testing.T) {
	output, err := os.ReadFile(images + "demo.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := Terminal("daemok demo", string(output))
	if *update {
		if err := os.WriteFile(images+"demo.svg", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(images + "demo.svg")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/images/demo.svg does not show docs/images/demo.txt: go test ./internal/picture -update draws it again")
	}
}

func TestTerminal(t *testing.T) {
	long := strings.Repeat("x", columns+1)
	tests := map[string]struct{ output, want string }{
		"a command":                      {"$ ls\n", `class="command">$ ls</text>`},
		"a line with a time":             {"  +1.20s  launched", `class="event"><tspan class="moment">  +1.20s</tspan>  launched</text>`},
		"what would be markup":           {"a <b> & c", `>a &lt;b&gt; &amp; c</text>`},
		"a line as wide as the window":   {long[1:], ">" + long[1:] + "</text>"},
		"a line that is wider than that": {long, ">" + long[2:] + "…</text>"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Terminal("title", tt.output)
			if !strings.Contains(got, tt.want) {
				t.Errorf("Terminal(%q) = %s; want %s in it", tt.output, got, tt.want)
			}
			for decoder := xml.NewDecoder(strings.NewReader(got)); ; {
				if _, err := decoder.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("Terminal(%q) is no XML: %v", tt.output, err)
				}
			}
		})
	}
}
