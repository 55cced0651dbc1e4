// Package reference writes the pages of the reference and the man pages of all commands.
//
// It promises the same bytes for the same commands: pages have no date, and nothing of the host or its environment
// goes into them. Flags that are kubectl's are on one page, not on those of all commands.
package reference

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/daemok/daemok/cmd/daemok/inspect"
)

// index is the page that lists all commands.
const index = "README.md"

// Command writes the pages of the commands that root makes. Help does not list it.
func Command(root func() *cobra.Command) *cobra.Command {
	var markdown, man string
	cmd := &cobra.Command{
		Use:    "reference",
		Short:  "Write the pages of the reference, or man pages",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if markdown == "" && man == "" {
				return errors.New("say what to write, and where: --markdown FOLDER or --man FOLDER")
			}
			if markdown != "" {
				if err := Markdown(root(), markdown); err != nil {
					return err
				}
			}
			if man != "" {
				return Man(root(), man)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&markdown, "markdown", "", "folder for pages in Markdown; its pages are replaced")
	cmd.Flags().StringVar(&man, "man", "", "folder for man pages of section 1; its pages are replaced")
	return cmd
}

// Markdown writes a page of each command into a folder in place of those that it has, and one that lists them.
func Markdown(root *cobra.Command, folder string) error {
	of := kubectls(root)
	if err := cleared(folder, "*.md"); err != nil {
		return err
	}
	if err := doc.GenMarkdownTree(root, folder); err != nil {
		return fmt.Errorf("write pages to %s: %w", folder, err)
	}
	if err := os.Remove(filepath.Join(folder, root.Name()+".md")); err != nil {
		return fmt.Errorf("leave out the page of the root: %w", err)
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := mended(page, root.Name()); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, index), []byte(listed(root, of)), 0o644)
}

// mended is a page with the list of commands where it refers to the root.
func mended(page, root string) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read a page again: %w", err)
	}
	content = bytes.ReplaceAll(content, []byte("("+root+".md)"), []byte("("+index+")"))
	content = bytes.ReplaceAll(append([]byte("\n"), content...), []byte("\n##"), []byte("\n#")) // the page's name is its title
	return os.WriteFile(page, append(bytes.TrimSpace(inCode(content)), '\n'), 0o644)
}

// What is written in code where it stands in prose: the name of a command as a title or link, flags, and keys of changes.
var (
	ofCommand = regexp.MustCompile(`^(# |\* \[)(daemok[a-z ]*)(\]|$)`)
	ofFlag    = regexp.MustCompile(`(^|[ (])(--?[a-z][a-z-]*|[a-z]+-(?:cost|family|type))\b`)
)

// inCode is a page whose prose writes names of the command line as code.
func inCode(page []byte) []byte {
	lines, fenced := strings.Split(string(page), "\n"), false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
		case ofCommand.MatchString(line):
			lines[i] = ofCommand.ReplaceAllString(line, "$1`$2`$3")
		default:
			lines[i] = ofFlag.ReplaceAllString(line, "$1`$2`")
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// Man writes a man page of each command into a folder in place of those that it has.
func Man(root *cobra.Command, folder string) error {
	kubectls(root)
	if err := cleared(folder, "*.1"); err != nil {
		return err
	}
	never := time.Time{}
	header := &doc.GenManHeader{Section: "1", Source: "Daemok", Manual: "Daemok", Date: &never}
	if err := doc.GenManTree(root, header, folder); err != nil {
		return fmt.Errorf("write man pages to %s: %w", folder, err)
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			return fmt.Errorf("read a man page again: %w", err)
		}
		undated := bytes.Replace(content, []byte(never.Format(`"Jan 2006"`)), []byte(`""`), 1)
		if err := os.WriteFile(page, undated, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// cleared makes a folder, or removes the files in it whose names match.
func cleared(folder, names string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make folder %s: %w", folder, err)
	}
	old, err := filepath.Glob(filepath.Join(folder, names))
	for _, file := range old {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// kubectls takes kubectl's flags out of the pages of all commands, and returns them.
func kubectls(root *cobra.Command) *pflag.FlagSet {
	of := pflag.NewFlagSet("", pflag.ContinueOnError)
	of.SortFlags = true
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.DisableAutoGenTag = true
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, is := f.Annotations[inspect.OfKubectl]; !is {
				return
			}
			if of.Lookup(f.Name) == nil {
				same := *f
				of.AddFlag(&same)
			}
			f.Hidden = true
		})
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(root)
	return of
}

// listed is the page with all commands in their groups, and kubectl's flags.
func listed(root *cobra.Command, of *pflag.FlagSet) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Commands of %s\n\n%s. `%s COMMAND --help` prints these pages too; [the command line](../../tasks/command-line.md) has completion and the plugin of kubectl.\n",
		root.Name(), root.Short, root.Name())
	for _, g := range append(root.Groups(), &cobra.Group{Title: "Other commands:"}) {
		fmt.Fprintf(&out, "\n## %s\n\n| Command | Does |\n|---|---|\n", strings.TrimSuffix(g.Title, ":"))
		for _, cmd := range root.Commands() {
			if cmd.GroupID == g.ID && cmd.IsAvailableCommand() {
				row(&out, cmd)
			}
		}
	}
	fmt.Fprintf(&out, "\n## Flags of kubectl\n\nCommands that read a cluster also take kubectl's flags, with the same meaning:\n\n```\n%s```\n", of.FlagUsages())
	return out.String()
}

func row(out *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(out, "| [`%s`](%s.md) | %s |\n", cmd.CommandPath(), strings.ReplaceAll(cmd.CommandPath(), " ", "_"), cmd.Short)
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			row(out, below)
		}
	}
}
