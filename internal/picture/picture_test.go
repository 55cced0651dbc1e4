package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "draw docs/images/demo.svg again from docs/images/demo.cast")

const (
	images = "../../docs/images/"
	faster = 3
)

// The picture of the README shows the recording that is kept beside it, which `make recording` makes.
func TestTheDemoIsDrawnAsItRan(t *testing.T) {
	content, err := os.ReadFile(images + "demo.cast")
	if err != nil {
		t.Fatal(err)
	}
	cast, err := ReadCast(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"demo.svg": Film(cast, faster), "demo.txt": cast.Text()} {
		if *update {
			if err := os.WriteFile(images+name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(images + name); err != nil || string(got) != want {
			t.Errorf("docs/images/%s does not show docs/images/demo.cast (%v): go test ./internal/picture -update draws it again", name, err)
		}
	}
	var again bytes.Buffer
	if err := cast.Write(&again); err != nil || again.String() != string(content) {
		t.Errorf("the recording is written otherwise than it was read: %v", err)
	}
}

func TestTheLastScreenIsWhatWasPrintedLast(t *testing.T) {
	c := Cast{Width: 10, Height: 3, Events: []Event{
		{0, "one\r\ntwo\r\n"}, {time.Second, "\x1b[1A\r\x1b[J\x1b[32mnew\x1b[0m two\r\n"}, {2 * time.Second, "three\r\nfour <&>\r\n\x1b[?25l"},
	}}
	if got, want := c.Text(), "three\nfour <&>\n"; got != want {
		t.Errorf("the screen is %q, want %q", got, want)
	}
	film := Film(&c, 2)
	for _, want := range []string{`<tspan class="g">new</tspan> two`, "four &lt;&amp;&gt;", `to="visible" begin="m.begin+0.25s" dur="0.50s"`} {
		if !strings.Contains(film, want) {
			t.Errorf("the film has no %s:\n%s", want, film)
		}
	}
	for decoder := xml.NewDecoder(strings.NewReader(film)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the film is no XML: %v", err)
		}
	}
}

func TestARecordingOfScript(t *testing.T) {
	c, err := Typescript("Script started on x\nab\r\nc", "0.5 2\n1.25 3\n", Cast{Width: 80, Height: 24})
	if err != nil || len(c.Events) != 2 || c.Events[0].Text != "ab" || c.Events[1].Text != "\r\nc" || c.Events[1].At != 1750*time.Millisecond {
		t.Errorf("got %+v, %v", c, err)
	}
	if _, err := Typescript("x\nab", "0.5 9\n", Cast{}); err == nil || !strings.Contains(err.Error(), "timing, line 1") {
		t.Errorf("a timing of more than there is: %v", err)
	}
}

func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "is empty",
		`{"version":1,"width":80,"height":24}`: "line 1",
		`{"version":2,"width":80,"height":24}` + "\n[1]":              "line 2 is no event",
		`{"version":2,"width":80,"height":24}` + "\n" + `["x","o",3]`: "line 2 has no time",
	} {
		if _, err := ReadCast(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadCast(%q) says %v, want %s", text, err, want)
		}
	}
}
