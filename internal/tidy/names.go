package tidy

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// known are the names that documents may use.
type known struct {
	root     fs.FS
	metrics  string          // the page of metrics, which its own test holds to the code
	keys     string          // likewise of labels, annotations and the like
	literals map[string]bool // of Go files
	commands map[string]bool // of daemok
	verbs    map[string]bool // of daemok lab
	targets  map[string]bool // of make
}

// foreignFlags are flags of other programs that documents name by themselves.
var foreignFlags = []string{"take-ownership", "force-conflicts", "skip-crds", "register-with-taints", "cascade", "set", "wait", "as", "request-timeout", "reset-then-reuse-values"}

// foreignKeys are tags that users give to their own things by custom, and that of a test.
var foreignKeys = []string{"karpenter.sh/discovery", "daemok.sh/conformance"}

var (
	metricName = regexp.MustCompile(`\b(?:karpenter|daemok|operator)_[a-z0-9]+(?:_[a-z0-9]+)+\b`)
	keyName    = regexp.MustCompile(`(?:^|[^a-z0-9.-])((?:karpenter\.sh|karpenter\.k8s\.aws|daemok\.sh)/[a-z0-9-]+)`)
	versionKey = regexp.MustCompile(`/v\d`)
	flagName   = regexp.MustCompile(`(?:^|[\s\[(])--([a-z][a-z0-9-]+)`)
	command    = regexp.MustCompile(`^(?:\$ )?(?:bin/|\./)?daemok((?: [a-z][a-z-]*)+)`)
	makeCall   = regexp.MustCompile(`^(?:\$ )?make ([a-z][a-z-]+)`)
	symbol     = regexp.MustCompile(`\.[A-Z][A-Za-z]*$|NNNN`)
	treePath   = regexp.MustCompile(`^(?:bench|charts|cloud|cmd|controller|core|demo|deploy|docs|doctor|examples|internal|kube|lab|observe|test)/[A-Za-z0-9_./-]+$`)
)

// CheckNames reports metrics, labels and annotations, flags and commands of daemok, targets
// of make and files that documents name in code and that do not exist. It looks at all
// documents but records, which keep the names of their time.
func CheckNames(root fs.FS, metrics, keys string) ([]Violation, error) {
	k, err := readKnown(root, metrics, keys)
	if err != nil {
		return nil, err
	}
	var found []Violation
	err = walk(root, func(name string, content []byte) error {
		if path.Ext(name) != ".md" || within(name, "docs/adr") || within(name, "docs/development/scenarios.md") {
			return nil
		}
		for _, c := range codeOf(content) {
			for _, wrong := range k.unknown(c) {
				found = append(found, Violation{name, "names " + wrong, "it does not exist: it has another name by now, or is gone"})
			}
		}
		return nil
	})
	return found, err
}

func readKnown(root fs.FS, metrics, keys string) (*known, error) {
	k := &known{root: root, literals: map[string]bool{}, commands: map[string]bool{"help": true, "completion": true}, verbs: map[string]bool{"help": true}, targets: map[string]bool{}}
	for file, to := range map[string]*string{metrics: &k.metrics, keys: &k.keys} {
		content, err := fs.ReadFile(root, file)
		if err != nil {
			return nil, fmt.Errorf("read a page of names: %w", err)
		}
		*to = string(content)
	}
	makefile, err := fs.ReadFile(root, "Makefile")
	if err != nil {
		return nil, fmt.Errorf("read the targets of make: %w", err)
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z-]*):`).FindAllStringSubmatch(string(makefile), -1) {
		k.targets[m[1]] = true
	}
	files, err := goFiles(root)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		eachLiteral(f.syntax, func(text string) {
			k.literals[text] = true
			if within(f.path, "lab/cmd/daemok-lab") || within(f.path, "test/emulator/control") { // some usage lines are made of several texts
				word, _, _ := strings.Cut(text, " ")
				k.verbs[word] = true
			}
		})
		if within(f.path, "cmd/daemok") {
			eachUse(f.syntax, func(use string) {
				word, _, _ := strings.Cut(use, " ")
				k.commands[word] = true
			})
		}
	}
	return k, nil
}

// unknown returns what a piece of code names and does not exist.
func (k *known) unknown(c code) []string {
	text := c.text
	var wrong []string
	for _, m := range metricName.FindAllString(text, -1) {
		series := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m, "_bucket"), "_sum"), "_count")
		if !strings.Contains(k.metrics, m) && !strings.Contains(k.metrics, "`"+series+"`") {
			wrong = append(wrong, "the metric "+m)
		}
	}
	for _, m := range keyName.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(k.keys, "`"+m[1]) && !versionKey.MatchString(m[1]) && !slices.Contains(foreignKeys, m[1]) {
			wrong = append(wrong, "the key "+m[1])
		}
	}
	isOurs := command.MatchString(text)
	for _, m := range flagName.FindAllStringSubmatch(text, -1) {
		if (isOurs || c.isSpan && strings.HasPrefix(text, "--")) && !k.literals[m[1]] && !slices.Contains(foreignFlags, m[1]) {
			wrong = append(wrong, "the flag --"+m[1])
		}
	}
	if m := command.FindStringSubmatch(text); m != nil {
		words := strings.Fields(m[1])
		if !k.commands[words[0]] {
			wrong = append(wrong, "the command daemok "+words[0])
		} else if words[0] == "lab" && len(words) > 1 && !k.verbs[words[1]] {
			wrong = append(wrong, "the command daemok lab "+words[1])
		}
	}
	if m := makeCall.FindStringSubmatch(text); m != nil && !k.targets[m[1]] {
		wrong = append(wrong, "make "+m[1])
	}
	if treePath.MatchString(text) && !symbol.MatchString(text) {
		if _, err := fs.Stat(k.root, path.Clean(text)); err != nil {
			wrong = append(wrong, "the file "+text)
		}
	}
	return wrong
}

// code is a span of code in a sentence, or a line of a block.
type code struct {
	text   string
	isSpan bool
}

// codeOf returns what a document has as code: the lines of blocks, then spans.
func codeOf(document []byte) []code {
	var out []code
	for _, block := range fenced.FindAll(document, -1) {
		for line := range strings.Lines(string(block)) {
			out = append(out, code{strings.TrimSpace(line), false})
		}
	}
	for _, m := range quotedName.FindAllSubmatch(fenced.ReplaceAll(document, nil), -1) {
		out = append(out, code{string(m[1]), true})
	}
	return out
}
