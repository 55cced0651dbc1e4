package tidy

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// refused is a word that texts for users do not have, and what they say instead.
type refused struct {
	word *regexp.Regexp // in lower case, whole words
	say  string
}

// refusedWords are the words of this project's youth, beside those that Kubernetes, AWS and the
// literature of bin packing use, by which users search. Words with honest other uses are not here:
// order, note, notice, kind, event, mark, open.
var refusedWords = []refused{
	refuse(`guards?`, "PodDisruptionBudget"),
	refuse(`retir(?:e|es|ed|ing|ement)`, "disrupt, terminate or delete"),
	refuse(`giv(?:e|es|en|ing) back|gave back`, "terminate"),
	refuse(`bought|buy|buys|buying|buyers?|purchas(?:e|es|ed|ing)`, "launch, launched"),
	refuse(`sell|sells|sold|sellers?`, "offer, or insufficient capacity"),
	refuse(`dear|dearer|dearest`, "expensive, costs more"),
	refuse(`thrift|thrifty`, "cost"),
	refuse(`wish|wishes|wished|leanings?`, "preference, or what the object requires"),
	refuse(`ways? to pay`, "capacity type"),
	refuse(`pretend|pretends|pretended`, "emulated"),
	refuse(`interruption notices?`, "interruption message"),
	refuse(`gatherings?`, "batch"),
	refuse(`(?:older|newer) (?:kinds?|words?|objects?)|either generation`, "the API version: v1alpha5, v1"),
	refuse(`a (?:instances?|emulated|unavailable|expensive|insufficient)`, "an"),
	refuse(`(?:older|newer|old|new) generations?`, "the API version: v1alpha5, v1"),
	refuse(`machines?`, "instance or node"),
	refuse(`anew`, "again"),
	refuse(`at rest`, "idle"),
	refuse(`on order`, "being launched"),
	refuse(`heed|heeds|heeded|heeding`, "follow, take into account"),
	refuse(`for want of|in vain`, "because there is no, without effect"),
	refuse(`nobody|somebody|whoever`, "none, no one, another user, the caller"),
	refuse(`tell|tells|told|telling`, "report, record, say"),
	refuse(`hurdles?`, "reason, constraint"),
	refuse(`heirs?|desks?|clans?|crews?|kin|stalls?|shelf|shelves`, "the word of the field: replacement, candidate, pod group"),
}

func refuse(pattern, say string) refused {
	return refused{regexp.MustCompile(`\b(?:` + pattern + `)\b`), say}
}

// quoted is what prose only cites: code, the targets of links, quotations, HTML, names with a slash.
var quoted = regexp.MustCompile("``[^`]*(?:`[^`]+)*``|`[^`]*`|\\]\\([^)]*\\)|\"[^\"]*\"|<[^>]*>|\\S+/\\S+")

// CheckWords reports refused words in the prose of documents: Markdown files but decision records,
// which keep the words of their time.
func CheckWords(root fs.FS) ([]Violation, error) {
	var found []Violation
	err := walk(root, func(name string, content []byte) error {
		if path.Ext(name) == ".md" && !within(name, "docs/adr") {
			found = append(found, wordsIn(name, content)...)
		}
		return nil
	})
	return found, err
}

func wordsIn(name string, content []byte) (found []Violation) {
	fenced := false
	for i, line := range strings.Split(string(content), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		prose := strings.ReplaceAll(strings.ToLower(quoted.ReplaceAllString(line, " ")), "virtual machine", " ")
		for _, r := range refusedWords {
			if word := r.word.FindString(prose); word != "" {
				found = append(found, Violation{fmt.Sprintf("%s:%d", name, i+1), fmt.Sprintf("says %q", word), "say instead: " + r.say})
			}
		}
	}
	return found
}

// hyphenated are names of flags and the like, such as machine-cost, which help has without quotes.
var hyphenated = regexp.MustCompile(`\S+-\S+`)

// CheckHelp reports refused words in what a program prints of itself, such as a command's help; its name says what it is of.
func CheckHelp(name, text string) []Violation {
	return wordsIn(name, []byte(hyphenated.ReplaceAllString(text, " ")))
}

// cited are names of commands, and what Kubernetes says, which texts have without quotes.
var cited = strings.NewReplacer("daemok bench retire", " ", "daemok lab machine", " ", "already present on machine", " ")

// CheckTexts reports refused words in the sentences of Go files, such as errors, events and the help of metrics: in literals with
// a space between words. Tests and what is left out are not checked.
func CheckTexts(root fs.FS, leftOut ...string) ([]Violation, error) {
	files, err := goFiles(root)
	var found []Violation
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") || slices.ContainsFunc(leftOut, func(folder string) bool { return within(f.path, folder) }) {
			continue
		}
		eachLiteral(f.syntax, func(text string) {
			if !strings.Contains(strings.TrimSpace(text), " ") {
				return
			}
			for _, v := range CheckHelp(f.path, cited.Replace(text)) {
				found = append(found, Violation{f.path, v.What + " in " + strconv.Quote(text), v.Reason})
			}
		})
	}
	return found, err
}

// CheckLength reports a document of more lines than its readers have patience for.
func CheckLength(root fs.FS, name string, most int) ([]Violation, error) {
	content, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if lines := strings.Count(string(content), "\n"); lines > most {
		return []Violation{{name, fmt.Sprintf("has %d lines", lines), fmt.Sprintf("at most %d: move what not every reader needs into docs", most)}}, nil
	}
	return nil, nil
}
