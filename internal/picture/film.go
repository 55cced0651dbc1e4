package picture

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	frame = 500 * time.Millisecond // a screen is shown so long at least
	last  = 8 * time.Second        // how long the last one stays
)

// Film draws a recording as a terminal window that moves, so many times as fast, again and again. Where pictures do not move
// it is the last screen.
func Film(c *Cast, faster int) string {
	rows, end := c.rows()
	scale := func(at time.Duration) string { return fmt.Sprintf("%.2fs", at.Seconds()/float64(faster)) }
	used := 1
	for _, r := range rows {
		used = max(used, r.row+1)
	}
	width, height := c.Width*charWidth/100+2*margin, titleBar+used*lineStep+margin
	title := fmt.Sprintf("%s (%d times as fast)", c.Title, faster)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">
<style>
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d0d7de; white-space: pre }
  .b { fill: #f0f6fc; font-weight: bold } .f { fill: #8b949e } .r { fill: #ff7b72 } .g { fill: #7ee787 } .y { fill: #e3b341 } .l { fill: #79c0ff } .c { fill: #76e3ea }
</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="8" fill="#0d1117" stroke="#484f58">
<animate id="m" attributeName="rx" from="8" to="8" begin="0s;m.end" dur="%s"/></rect>
<circle cx="20" cy="17" r="5" fill="#ff5f57"/><circle cx="38" cy="17" r="5" fill="#febc2e"/><circle cx="56" cy="17" r="5" fill="#28c840"/>
<text class="f" x="%d" y="21" text-anchor="middle">%s</text>
`, width, height, width, height, escape(title), width-1, height-1, scale(end+last*time.Duration(faster)), width/2, escape(title))
	for _, r := range rows {
		fmt.Fprintf(&b, `<text x="%d" y="%d" xml:space="preserve"`, margin, titleBar+(r.row+1)*lineStep-4)
		if r.until < end {
			fmt.Fprintf(&b, ` visibility="hidden">%s<set attributeName="visibility" to="visible" begin="m.begin+%s" dur="%s"/></text>`+"\n",
				spans(r.line), scale(r.from), scale(r.until-r.from))
		} else {
			fmt.Fprintf(&b, `>%s<set attributeName="visibility" to="hidden" begin="m.begin" dur="%s"/></text>`+"\n", spans(r.line), scale(max(r.from, time.Millisecond)))
		}
	}
	return b.String() + "</svg>\n"
}

// shownRow is a line of the screen, and when it was there.
type shownRow struct {
	row         int
	line        []glyph
	from, until time.Duration
}

// rows are all lines that the recording shows, and its end.
func (c *Cast) rows() (out []shownRow, end time.Duration) {
	s := newScreen(c.Width, c.Height)
	now := make([]shownRow, c.Height)
	look := func(at time.Duration) {
		for i := range now {
			if slices.Equal(now[i].line, s.lines[i]) {
				continue
			}
			if len(now[i].line) > 0 {
				now[i].until = at
				out = append(out, now[i])
			}
			now[i] = shownRow{row: i, line: slices.Clone(s.lines[i]), from: at}
		}
	}
	next := frame
	for _, e := range c.Events {
		if e.At >= next {
			look(next)
			next = e.At.Truncate(frame) + frame
		}
		s.write(e.Text)
		end = e.At
	}
	end = end.Truncate(frame) + frame
	look(end - frame/2)
	for i := range now {
		if now[i].until = end; len(now[i].line) > 0 {
			out = append(out, now[i])
		}
	}
	return out, end
}

// Text is the last screen of the recording.
func (c *Cast) Text() string {
	s := newScreen(c.Width, c.Height)
	for _, e := range c.Events {
		s.write(e.Text)
	}
	var b strings.Builder
	for _, line := range s.lines {
		var text strings.Builder
		for _, g := range line {
			text.WriteRune(g.char)
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// spans are the parts of a line by their styles.
func spans(line []glyph) string {
	var b strings.Builder
	for i := 0; i < len(line); {
		j := i
		var text strings.Builder
		for ; j < len(line) && line[j].style == line[i].style; j++ {
			text.WriteRune(line[j].char)
		}
		if line[i].style == "" {
			b.WriteString(escape(text.String()))
		} else {
			fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, line[i].style, escape(text.String()))
		}
		i = j
	}
	return b.String()
}
