package boot

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// readPowerShell looks for the call of Start-EKSBootstrap.ps1 in the
// <powershell> block of Windows user data, whether the script is named or
// held in a variable.
func readPowerShell(data []byte) (Settings, error) {
	script, ok := between(string(data), "<powershell>", "</powershell>")
	if !ok {
		return Settings{}, errors.New("no <powershell> block")
	}
	script = strings.ReplaceAll(script, "`\r\n", " ")
	script = strings.ReplaceAll(script, "`\n", " ")
	for _, line := range strings.Split(script, "\n") {
		if !strings.Contains(line, "-EKSClusterName") {
			continue
		}
		words, err := powerShellWords(line)
		if err != nil {
			return Settings{}, err
		}
		return powerShellSettings(words)
	}
	return Settings{}, errors.New("no call of Start-EKSBootstrap.ps1 with -EKSClusterName")
}

func between(text, from, to string) (string, bool) {
	_, rest, ok := strings.Cut(text, from)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, to)
	return inner, ok
}

// powerShellWords splits a line as PowerShell does: single quotes keep
// everything, double quotes know the backtick, a doubled quote is one.
func powerShellWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord := false
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote != 0 && r == quote && i+1 < len(runes) && runes[i+1] == quote:
			word.WriteRune(r)
			i++
		case quote != 0 && r == quote:
			quote = 0
		case quote != '\'' && r == '`' && i+1 < len(runes):
			i++
			word.WriteRune(runes[i])
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case unicode.IsSpace(r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the string is missing the terminator: %c", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

func powerShellSettings(words []string) (Settings, error) {
	s := Settings{Labels: map[string]string{}, EvictionHard: defaultEviction(), ignoreENIs: true}
	for i := 0; i+1 < len(words); i++ {
		if err := applyPowerShell(&s, words[i], words[i+1]); err != nil {
			return Settings{}, fmt.Errorf("Start-EKSBootstrap.ps1 %s: %w", words[i], err)
		}
	}
	if s.Cluster.Name == "" || s.Cluster.Endpoint == "" || len(s.Cluster.CA) == 0 {
		return Settings{}, errors.New("Start-EKSBootstrap.ps1: -EKSClusterName, -APIServerEndpoint and -Base64ClusterCA are needed")
	}
	return s, nil
}

func applyPowerShell(s *Settings, name, value string) (err error) {
	switch name {
	case "-EKSClusterName":
		s.Cluster.Name = value
	case "-APIServerEndpoint":
		s.Cluster.Endpoint = value
	case "-Base64ClusterCA":
		s.Cluster.CA, err = decodeBase64(value)
	case "-DNSClusterIP":
		s.ClusterDNS = []string{value}
	case "-KubeletExtraArgs":
		var flags []string
		if flags, err = powerShellWords(value); err == nil {
			err = applyFlags(s, flags)
		}
	}
	return err
}
