package tidy

import (
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// reasonConstant is how constants are named that hold a condition's type or a reason.
	reasonConstant = regexp.MustCompile(`^(Reason|reason|Claim|NodePool|Class|Policy|Overlay|Buffer)[A-Z]`)
	reasonText     = regexp.MustCompile(`^(daemok\.sh/)?[A-Z][A-Za-z]+$`)
	twoWords       = regexp.MustCompile(`^[A-Z][A-Za-z]*[a-z][A-Z][A-Za-z]*$`)
)

// notReasons are words of the loops that look like reasons: kinds, and an effect of taints.
var notReasons = []string{"CapacityBuffer", "CapacityQuota", "ProvisioningRequest",
	"NodeOverlay", "NodeClaim", "ReplicaSet", "ReplicationController", "StatefulSet", "NoExecute",
	"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"} // taints of nodes

// CheckReasons reports types and reasons of conditions, and reasons of events, that no page
// names in backticks, and names of the pages that no Go file has. Reasons are constants
// named so, what is given as Reason, and each CamelCase literal of the loops.
func CheckReasons(root fs.FS, pages ...string) ([]Violation, error) {
	files, err := goFiles(root)
	if err != nil {
		return nil, err
	}
	reasons, literals := map[string]string{}, map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") || within(f.path, "internal/tidy") {
			continue
		}
		eachLiteral(f.syntax, func(text string) { literals[text] = true })
		if !slices.ContainsFunc([]string{"controller", "kube/api", "kube/snapshot", "cloud/aws"}, func(folder string) bool { return within(f.path, folder) }) {
			continue
		}
		for _, r := range reasonsOf(f) {
			if _, known := reasons[r]; !known && !slices.Contains(notReasons, r) {
				reasons[r] = f.path
			}
		}
	}
	var found []Violation
	named := map[string]bool{}
	for _, name := range pages {
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		for _, m := range quotedName.FindAllStringSubmatch(string(fenced.ReplaceAll(content, nil)), -1) {
			named[m[1]] = true
			if twoWords.MatchString(m[1]) && !literals[m[1]] {
				found = append(found, Violation{name, "names " + m[1], "no Go file has it: it has another name by now, or is gone"})
			}
		}
	}
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		if !named[r] {
			found = append(found, Violation{reasons[r], "has the reason or condition " + r, "users look it up in " + strings.Join(pages, " or ")})
		}
	}
	return found, nil
}

// reasonsOf returns the reasons that a file holds.
func reasonsOf(f goFile) []string {
	var out []string
	add := func(e ast.Expr) {
		if text, ok := literal(e); ok && reasonText.MatchString(text) {
			out = append(out, text)
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) && reasonConstant.MatchString(name.Name) {
					add(n.Values[i])
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Reason" {
				add(n.Value)
			}
		case *ast.BasicLit:
			if text, ok := literal(n); ok && within(f.path, "controller") && twoWords.MatchString(text) {
				add(n)
			}
		}
		return true
	})
	return out
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

// eachLiteral calls do for each text of a file; texts that are joined by + are one,
// with … for what stands between them.
func eachLiteral(file *ast.File, do func(string)) {
	ast.Inspect(file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
			do(joined(sum))
		}
		if text, ok := literal(e); ok {
			do(text)
		}
		return true
	})
}

func joined(e ast.Expr) string {
	if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		return joined(sum.X) + joined(sum.Y)
	}
	if text, ok := literal(e); ok {
		return text
	}
	return "…"
}

// quoteLeast is how long a part of a quoted text is to be looked for.
const quoteLeast = 12

// CheckQuotes reports texts in backticks in the first column of the page's tables, … standing for names
// and amounts, of which a part is in no text of a Go file.
func CheckQuotes(root fs.FS, page string) ([]Violation, error) {
	content, err := fs.ReadFile(root, page)
	if err != nil {
		return nil, err
	}
	files, err := goFiles(root)
	if err != nil {
		return nil, err
	}
	var all strings.Builder
	for _, f := range files {
		if !strings.HasSuffix(f.path, "_test.go") && !within(f.path, "internal/tidy") {
			eachLiteral(f.syntax, func(text string) { all.WriteString(text + "\n") })
		}
	}
	texts := all.String()
	var found []Violation
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range quotedName.FindAllStringSubmatch(cells[1], -1) {
			for part := range strings.SplitSeq(m[1], "…") {
				if part = strings.TrimSpace(part); len(part) >= quoteLeast && !strings.Contains(texts, part) {
					found = append(found, Violation{page, "quotes " + strconv.Quote(part), "the code prints no such text: quote what it prints now"})
				}
			}
		}
	}
	return found, nil
}

// eachUse calls do for the usage line of each command of a file.
func eachUse(file *ast.File, do func(string)) {
	ast.Inspect(file, func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "Use" {
				if text := joined(pair.Value); text != "…" {
					do(text)
				}
			}
		}
		return true
	})
}
