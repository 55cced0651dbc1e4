package picture

import (
	"slices"
	"strconv"
	"strings"
)

// glyph is what one column of a line shows.
type glyph struct {
	char  rune
	style string // class of the drawing; empty: plain
}

// screen is a terminal that knows what recordings of daemok have: lines, returns, the cursor up, erasing to the end of a line
// or of the screen, and colours. Any other control sequence is left out.
type screen struct {
	width, height int
	lines         [][]glyph
	row, column   int
	style         string
}

func newScreen(width, height int) *screen {
	return &screen{width: width, height: height, lines: make([][]glyph, height)}
}

// write takes output in.
func (s *screen) write(text string) {
	for text != "" {
		if code, sequence := control(text); code != "" {
			s.follow(sequence)
			text = text[len(code):]
			continue
		}
		char := []rune(text)[0]
		text = text[len(string(char)):]
		switch {
		case char == '\n':
			s.down()
		case char == '\r':
			s.column = 0
		case char >= ' ':
			s.put(char)
		}
	}
}

// control is a control sequence at the beginning of a text, and what follows its bracket.
func control(text string) (code, sequence string) {
	if !strings.HasPrefix(text, "\x1b[") {
		return "", ""
	}
	end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return text, ""
	}
	return text[:end+3], text[2 : end+3]
}

func (s *screen) put(char rune) {
	if s.column == s.width {
		s.column = 0
		s.down()
	}
	line := s.lines[s.row]
	for len(line) <= s.column {
		line = append(line, glyph{char: ' '})
	}
	line[s.column] = glyph{char, s.style}
	s.lines[s.row] = line
	s.column++
}

// down goes to the next line; at the last, all go up.
func (s *screen) down() {
	if s.row < s.height-1 {
		s.row++
		return
	}
	s.lines = append(slices.Clone(s.lines[1:]), nil)
}

func (s *screen) follow(sequence string) {
	if sequence == "" {
		return
	}
	arguments, what := sequence[:len(sequence)-1], sequence[len(sequence)-1]
	number, err := strconv.Atoi(arguments)
	if err != nil {
		number = 0
	}
	switch what {
	case 'A':
		s.row = max(0, s.row-max(1, number))
	case 'K', 'J':
		s.lines[s.row] = slices.Clone(s.lines[s.row][:min(s.column, len(s.lines[s.row]))])
		for i := s.row + 1; what == 'J' && i < s.height; i++ {
			s.lines[i] = nil
		}
	case 'm':
		s.style = styled(s.style, arguments)
	}
}

// styles are the classes of what terminals show by numbers.
var styles = map[string]string{"1": "b", "2": "f", "31": "r", "32": "g", "33": "y", "34": "l", "36": "c"}

// styled is a style after numbers that change it.
func styled(style, numbers string) string {
	for number := range strings.SplitSeq(numbers, ";") {
		switch class := styles[number]; {
		case number == "" || number == "0":
			style = ""
		case class != "":
			style = strings.TrimSpace(style + " " + class)
		}
	}
	return style
}
