// Package picture draws recordings of a terminal for documents, as pictures that move.
//
// It promises the same bytes for the same recording: SVG with text in it, dark on any page, whose last screen is what is
// seen where pictures do not move. It runs no command.
package picture

import (
	"encoding/xml"
	"strings"
)

const (
	charWidth = 783 // hundredths of a pixel, of 13 px type in the usual monospace fonts
	lineStep  = 18
	margin    = 16
	titleBar  = 34
)

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes every write
	return b.String()
}
