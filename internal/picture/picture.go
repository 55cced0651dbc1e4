// Package picture draws the output of a command as a terminal window, for documents. The drawing is
// SVG with text in it, dark on any page, and the same bytes for the same output. The package runs no
// command.
package picture

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
)

const (
	columns   = 110 // lines that are longer end in "…"
	charWidth = 783 // hundredths of a pixel, of 13 px type in the usual monospace fonts
	lineStep  = 18
	margin    = 16
	titleBar  = 34
)

// moment is the time at which something happened, at the start of a line.
var moment = regexp.MustCompile(`^\s*\+[0-9.]+s`)

// Terminal draws output in a window with a title. Lines that begin with "$ " are commands; those
// that begin with a time, as in "+1.20s  launched", stand out from the lines that explain them.
func Terminal(title, output string) string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	width, height := columns*charWidth/100+2*margin, titleBar+len(lines)*lineStep+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">
<style>
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #9da7b3; white-space: pre }
  .command { fill: #7ee787; font-weight: bold } .event { fill: #f0f6fc } .moment { fill: #79c0ff } .title { fill: #8b949e }
</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="8" fill="#0d1117" stroke="#484f58"/>
<circle cx="20" cy="17" r="5" fill="#ff5f57"/><circle cx="38" cy="17" r="5" fill="#febc2e"/><circle cx="56" cy="17" r="5" fill="#28c840"/>
<text class="title" x="%d" y="21" text-anchor="middle">%s</text>
`, width, height, width, height, escape(title), width-1, height-1, width/2, escape(title))
	for i, line := range lines {
		if line != "" {
			fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" xml:space=\"preserve\"%s</text>\n", margin, titleBar+(i+1)*lineStep-4, drawn(cut(line)))
		}
	}
	return b.String() + "</svg>\n"
}

// drawn is a line from its class on.
func drawn(line string) string {
	if strings.HasPrefix(line, "$ ") {
		return ` class="command">` + escape(line)
	}
	if at := moment.FindString(line); at != "" {
		return ` class="event"><tspan class="moment">` + escape(at) + `</tspan>` + escape(line[len(at):])
	}
	return ">" + escape(line)
}

func cut(line string) string {
	if runes := []rune(line); len(runes) > columns {
		return string(runes[:columns-1]) + "…"
	}
	return line
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes every write
	return b.String()
}
