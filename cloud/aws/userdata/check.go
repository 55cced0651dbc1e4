package userdata

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Check reads what a user wrote as instances of the family will, so that a mistake is
// reported before an instance is launched. The error names spec.userData, the line counted
// from 1 where it is known, and what was expected there. What scripts do is not checked,
// nor anything of the family Custom.
func Check(family nodeclass.Family, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	switch {
	case family == nodeclass.Bottlerocket:
		_, err := bottlerocket(Input{User: text, RAID0: true})
		return err
	case family == nodeclass.AL2023:
		return checkNodeConfigs(text)
	case family == nodeclass.AL2 || family == nodeclass.Ubuntu:
		_, _, err := splitMIME(text)
		return err
	case family.Windows():
		return checkCommands(text)
	}
	return nil
}

var powershellTag = regexp.MustCompile(`(?i)</?powershell>`)

// checkCommands searches for the tags that are put around what instances of Windows run:
// with others inside they would run nothing, and not join.
func checkCommands(text string) error {
	if at := powershellTag.FindStringIndex(text); at != nil {
		return fmt.Errorf("spec.userData: line %d: nodes of Windows expect commands of PowerShell here without %s, which is written around them: remove the tags",
			1+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]])
	}
	return nil
}

// notTOML says where the text is no TOML.
func notTOML(err error) error {
	const expected = "nodes of the family Bottlerocket expect settings in TOML, such as [settings.kubernetes] and below it max-pods = 30"
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := at.Position()
		return fmt.Errorf("spec.userData: line %d, column %d: %s; %s", line, column, strings.TrimPrefix(at.Error(), "toml: "), expected)
	}
	return fmt.Errorf("spec.userData: %w; %s", err, expected)
}

// checkNodeConfigs reads each NodeConfig in the text.
func checkNodeConfigs(text string) error {
	parts, isMIME, err := splitMIME(text)
	if err != nil {
		return err
	}
	if !isMIME {
		if !looksLikeNodeConfig(text) {
			return nil // a script
		}
		return checkNodeConfig(text, 1)
	}
	from := 0
	for _, p := range parts {
		begins := from + max(0, strings.Index(unix(text)[from:], unix(string(p.body))))
		from = begins + len(unix(string(p.body)))
		if !strings.HasPrefix(p.header.Get("Content-Type"), typeNodeConfig) {
			continue
		}
		first := 1 + strings.Count(unix(text)[:begins], "\n")
		if strings.EqualFold(p.header.Get("Content-Transfer-Encoding"), "base64") {
			err = checkEncoded(p.body, first)
		} else {
			err = checkNodeConfig(string(p.body), first)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkEncoded reads a NodeConfig in base64, as tools write that put parts together; one
// that is packed besides is left to the instance.
func checkEncoded(body []byte, first int) error {
	text, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(body)), ""))
	switch {
	case err != nil:
		return fmt.Errorf("spec.userData: line %d: the part says that it is in base64, and is not: %w", first, err)
	case bytes.HasPrefix(text, []byte{0x1f, 0x8b}): // gzip
		return nil
	}
	if err := checkNodeConfig(string(text), 1); err != nil {
		return fmt.Errorf("spec.userData: in the part at line %d, without its base64: %s", first, strings.TrimPrefix(err.Error(), "spec.userData: "))
	}
	return nil
}

func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

var startsLikeNodeConfig = regexp.MustCompile(`(?m)^(apiVersion|kind|spec|metadata)\s*:`)

// isScript reports whether text begins as scripts do: one of comments alone is valid
// YAML too.
func isScript(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "#!") }

// looksLikeNodeConfig reports whether text is meant as a NodeConfig and not as a script.
func looksLikeNodeConfig(text string) bool {
	if isScript(text) {
		return false
	}
	document := map[string]any{}
	return yaml.Unmarshal([]byte(text), &document) == nil || startsLikeNodeConfig.MatchString(text)
}

const nodeConfigExpected = "nodes of the family AL2023 expect a NodeConfig here: apiVersion node.eks.aws/v1alpha1, kind NodeConfig, and spec"

// checkNodeConfig reads one NodeConfig that begins in the given line of the
// user data.
func checkNodeConfig(text string, first int) error {
	var document struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return fmt.Errorf("spec.userData: %s; %s", inLines(err.Error(), first), nodeConfigExpected)
	}
	if document.Kind != "NodeConfig" || !strings.HasPrefix(document.APIVersion, "node.eks.aws/") {
		return fmt.Errorf("spec.userData: line %d: apiVersion is %q and kind is %q; %s", first, document.APIVersion, document.Kind, nodeConfigExpected)
	}
	return nil
}

var lineNumber = regexp.MustCompile(`line (\d+)`)

// inLines takes the words of YAML's library, whose lines count from that of
// the part.
func inLines(text string, first int) string {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "error converting YAML to JSON: "), "yaml: ")
	return lineNumber.ReplaceAllStringFunc(text, func(words string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(words, "line "))
		if err != nil {
			return words
		}
		return fmt.Sprintf("line %d", n+first-1)
	})
}
