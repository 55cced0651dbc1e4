package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// special lists what cannot stand in a word without quotes.
const special = "\"=:,#`"

// reserved words mean something inside a requirement.
var reserved = map[string]bool{
	"In": true, "NotIn": true, "Exists": true, "DoesNotExist": true, "Gt": true, "Lt": true, "Gte": true, "Lte": true,
	"minvalues": true, "*": true,
}

// nothing, alone after "select", is a selector that chooses no pod.
const nothing = "nothing"

// minValues stands before the number of values that must remain.
const minValues = "minvalues"

// quote writes a value as one word.
func quote(s string) string {
	plain := s != "" && s != nothing && !reserved[s] && !strings.ContainsAny(s, special) &&
		!strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	if plain {
		return s
	}
	return strconv.Quote(s)
}

// unquote reads a word that is quoted whole, or not at all.
func unquote(word string) (string, error) {
	if !strings.HasPrefix(word, `"`) {
		return word, nil
	}
	s, err := strconv.Unquote(word)
	if err != nil {
		return "", fmt.Errorf("%s: quotes do not match", word)
	}
	return s, nil
}

// words splits a line at spaces outside quotes, up to a comment.
func words(line string) ([]string, error) {
	var out []string
	for {
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
		if line == "" || line[0] == '#' {
			return out, nil
		}
		n, err := wordLen(line)
		if err != nil {
			return nil, err
		}
		out = append(out, line[:n])
		line = line[n:]
	}
}

// wordLen is the length of the word at the beginning of the line.
func wordLen(line string) (int, error) {
	n, closed := unquoted(line, func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' })
	if !closed {
		return 0, fmt.Errorf("a quote is not closed")
	}
	return n, nil
}

// cut splits a word at the first separator outside quotes.
func cut(word string, sep byte) (before, after string, found bool) {
	n, _ := unquoted(word, func(c byte) bool { return c == sep })
	if n == len(word) {
		return word, "", false
	}
	return word[:n], word[n+1:], true
}

// unquoted finds the first character outside quotes that is looked for, or the end; closed reports whether the last quote is.
func unquoted(text string, wanted func(byte) bool) (at int, closed bool) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && wanted(c):
			return i, true
		}
	}
	return len(text), !quoted
}

// pair reads key=value, both perhaps quoted. Without "=" it is a flag.
func pair(word string) (key, value string, hasValue bool, err error) {
	k, v, hasValue := cut(word, '=')
	if key, err = unquote(k); err != nil {
		return "", "", false, err
	}
	value, err = unquote(v)
	return key, value, hasValue, err
}
