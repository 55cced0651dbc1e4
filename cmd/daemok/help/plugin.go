package help

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// plugin is the name of the program by which kubectl finds it, as `kubectl daemok`.
const plugin = "kubectl-daemok"

// CalledAs has help name the command as the user called the program: kubectl daemok where that is a plugin of kubectl.
func CalledAs(root *cobra.Command, program string) {
	if strings.TrimSuffix(filepath.Base(program), ".exe") != plugin {
		return
	}
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl " + root.Name()}
	var verbs []string
	for _, cmd := range root.Commands() {
		verbs = append(verbs, cmd.Name())
	}
	renamed(root, regexp.MustCompile(`\b`+root.Name()+` (`+strings.Join(verbs, "|")+`)\b`), "kubectl "+root.Name()+" $1")
}

// renamed replaces the calls in all texts of a command and of those below it.
func renamed(cmd *cobra.Command, call *regexp.Regexp, by string) {
	for _, text := range []*string{&cmd.Short, &cmd.Long, &cmd.Example} {
		*text = call.ReplaceAllString(*text, by)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = call.ReplaceAllString(f.Usage, by) })
	for _, below := range cmd.Commands() {
		renamed(below, call, by)
	}
}
