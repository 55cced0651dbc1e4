package tidy

import (
	"bytes"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```$|`[^`\n]*`")
	fenced    = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading   = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	linkText  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// CheckLinks reports links of documents to files that do not exist, and to
// headings that their document does not have.
func CheckLinks(root fs.FS) ([]Violation, error) {
	var found []Violation
	err := walk(root, func(name string, content []byte) error {
		if path.Ext(name) != ".md" {
			return nil
		}
		for _, m := range link.FindAllSubmatch(codeBlock.ReplaceAll(content, nil), -1) {
			target := string(m[1])
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if missing := missingTarget(root, name, target); missing != "" {
				found = append(found, Violation{name, "links to " + target, "there is no " + missing})
			}
		}
		return nil
	})
	return found, err
}

// missingTarget returns the file or the heading that a link of the document
// leads to and that is not there, "" if all is there.
func missingTarget(root fs.FS, document, target string) string {
	target, anchor, _ := strings.Cut(target, "#")
	file := document
	if target != "" {
		file = path.Join(path.Dir(document), target)
	}
	if _, err := fs.Stat(root, file); err != nil {
		return file
	}
	if anchor == "" || path.Ext(file) != ".md" {
		return ""
	}
	content, err := fs.ReadFile(root, file)
	if err != nil || !anchors(content)[anchor] {
		return "heading #" + anchor + " in " + file
	}
	return ""
}

// anchors returns the names by which the headings of a document are linked to:
// lower case, hyphens for spaces, without punctuation, as GitHub makes them.
func anchors(document []byte) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllSubmatch(fenced.ReplaceAll(document, nil), -1) {
		text := bytes.ToLower(linkText.ReplaceAll(m[1], []byte("$1")))
		names[strings.ReplaceAll(string(notInSlug.ReplaceAll(text, nil)), " ", "-")] = true
	}
	return names
}
