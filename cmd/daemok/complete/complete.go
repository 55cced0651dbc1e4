// Package complete offers shells what may come next on a command line: words, and names of objects of the cluster.
//
// It promises an answer within seconds, and none instead of an error: where there is no cluster, or it does not
// answer, only words that are known without it are offered. It changes nothing.
package complete

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/daemok/daemok/cmd/daemok/plancmd"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/whatif"
	"github.com/daemok/daemok/kube/access/output"
)

// plugin is the name by which kubectl calls a program for the completion of the plugin kubectl-daemok.
const plugin = "kubectl_complete-daemok"

// Args are the arguments of a program that was called with args, its own name first: kubectl's request for completion
// becomes the one that cobra answers.
func Args(args []string) []string {
	if filepath.Base(args[0]) == plugin {
		return append([]string{cobra.ShellCompRequestCmd}, args[1:]...)
	}
	return args[1:]
}

// objects are the commands that take a kind and a name, or one word KIND/NAME, and the kinds that they take.
var objects = map[string][]string{
	"explain": {"node", "pod", "nodepool", "provisioner", "nodeclaim", "deployment", "ec2nodeclass", "awsnodetemplate",
		"capacitybuffer", "provisioningrequest", "capacityquota", "nodeoverlay"},
	"roll": {"nodepool", "provisioner", "nodeclass"},
}

// lists are the commands that take names of one kind, and how many of them.
var lists = map[string]struct {
	kind string
	most int // 0: any number
}{
	"adopt": {kind: "node"},
}

// words are flags with few values.
var words = map[string][]string{
	"preference-policy": {"Weigh", "Respect", "Ignore"},
	"capacity":          {"on-demand", "spot", "any"},
	"spot-prices":       {"moving", "fixed"},
	"mix":               {"plain", "diverse", "antiaffinity", "preferences", "existing"},
	"generate":          {"uniform", "realistic", "memheavy", "cpuheavy", "bigmix", "deploy", "deployspread"},
	"policy":            {"ours", "plain", "karpenter", "cluster-autoscaler", "untouched"},
}

// files are flags of that name whose values are files, where others of the name have words.
var files = map[string][]string{"policy": {"migrate", "iam"}}

// named are flags whose values are names of objects.
var named = map[string]string{"namespace": "namespace", "system-namespace": "namespace", "nodepool": "nodepool", "node": "node"}

// Add lets a command and all below it complete their arguments and flags.
func Add(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		Add(below)
	}
	addArguments(cmd)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		complete := ofFlag(cmd, f)
		if complete == nil {
			return
		}
		// The error is that the flag has one already.
		_ = cmd.RegisterFlagCompletionFunc(f.Name, complete)
	})
}

func addArguments(cmd *cobra.Command) {
	name := cmd.Name()
	switch {
	case !cmd.Runnable() || cmd.ValidArgsFunction != nil:
	case objects[name] != nil:
		cmd.ValidArgs, cmd.ValidArgsFunction = nil, kindAndName(objects[name])
	case lists[name].kind != "":
		cmd.ValidArgsFunction = names(lists[name].kind, lists[name].most)
	case len(cmd.ValidArgs) == 0 && !strings.Contains(cmd.Use, "FILE"):
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// ofFlag is how the values of a flag are completed; nil: by files, or not at all.
func ofFlag(cmd *cobra.Command, f *pflag.Flag) cobra.CompletionFunc {
	if forms := f.Annotations[output.Forms]; forms != nil {
		return oneOf(forms)
	}
	if given, known := words[f.Name]; known && !slices.Contains(files[f.Name], family(cmd)) {
		return oneOf(given)
	}
	if kind, known := named[f.Name]; known {
		return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return clusterOf(cmd).list(cmd.Context(), kind, begun), cobra.ShellCompDirectiveNoFileComp
		}
	}
	switch f.Name {
	case "context", "cluster", "user":
		return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return beginning(clusterOf(cmd).configured(f.Name), begun), cobra.ShellCompDirectiveNoFileComp
		}
	case "what-if":
		return whatIf
	case "by":
		return severalOf(cost.Keys())
	case "fail-on":
		return severalOf(plancmd.Conditions())
	}
	if f.Value.Type() == "bool" || takesFile(f) {
		return nil
	}
	return cobra.NoFileCompletions
}

// takesFile reports whether the help of a flag speaks of a file or folder.
func takesFile(f *pflag.Flag) bool {
	usage := strings.ToLower(f.Usage)
	for _, word := range []string{"file", "folder", "path", "prefix"} {
		if strings.Contains(usage, word) {
			return true
		}
	}
	return false
}

// family is the name of the command right below the root.
func family(cmd *cobra.Command) string {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return cmd.Name()
}

// oneOf completes a word of a list; one that ends in "=" is completed further by the user.
func oneOf(all []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		found := beginning(all, begun)
		if len(found) == 1 && strings.HasSuffix(found[0], "=") {
			return found, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// severalOf completes the last of words with commas between them, by those that are not there yet. One that ends in "="
// or ">" is completed further by the user.
func severalOf(all []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		at := strings.LastIndex(begun, ",") + 1
		found, given := beginning(all, begun[at:]), strings.Split(begun[:at], ",")
		found = slices.DeleteFunc(found, func(word string) bool { return slices.Contains(given, word) })
		for i := range found {
			found[i] = begun[:at] + found[i]
		}
		return found, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
}

// beginning are the words that begin with what was typed.
func beginning(all []string, begun string) []string {
	var out []string
	for _, word := range all {
		if strings.HasPrefix(word, begun) {
			out = append(out, word)
		}
	}
	return out
}

// kindAndName completes KIND NAME and KIND/NAME.
func kindAndName(kinds []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		directive := cobra.ShellCompDirectiveNoFileComp
		if len(args) == 1 {
			return clusterOf(cmd).list(cmd.Context(), singular(args[0]), begun), directive
		}
		if len(args) > 1 {
			return nil, directive
		}
		kind, name, slash := strings.Cut(begun, "/")
		if !slash {
			return beginning(kinds, begun), directive
		}
		found := clusterOf(cmd).list(cmd.Context(), singular(kind), name)
		for i := range found {
			found[i] = kind + "/" + found[i]
		}
		return found, directive
	}
}

// singular is a kind as the lists have it: nodepool for NodePools and nodepool.karpenter.sh.
func singular(kind string) string {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ".")
	for _, plural := range []string{"", "s", "es"} {
		if one := strings.TrimSuffix(kind, plural); resources[one] != nil {
			return one
		}
	}
	return kind
}

// names completes names of one kind that are not on the line yet, so many at most.
func names(kind string, most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := clusterOf(cmd).list(cmd.Context(), kind, begun)
		return slices.DeleteFunc(found, func(name string) bool { return slices.Contains(args, name) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// values are those of changes of --what-if that have few.
var values = map[string][]string{"capacity": {"on-demand", "spot", "reserved", "any"}, "arch": {"amd64", "arm64", "any"}, "zone": {"any"}}

// whatIf completes the last word of a question: a key, or the value of one.
func whatIf(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	at := strings.LastIndex(begun, ",") + 1
	before, word := begun[:at], begun[at:]
	var found []string
	key, value, isValue := strings.Cut(word, "=")
	switch {
	case !isValue:
		found = beginning(whatif.Keys(), key)
	case key == "pool":
		found = clusterOf(cmd).list(cmd.Context(), "nodepool", value)
	default:
		found = beginning(values[key], value)
	}
	for i := range found {
		if isValue {
			found[i] = before + key + "=" + found[i]
		} else {
			found[i] = before + found[i] + "="
		}
	}
	return found, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}
