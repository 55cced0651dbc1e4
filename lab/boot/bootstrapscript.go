package boot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/shell"
	"mvdan.cc/sh/v3/syntax"
)

const bootstrapPath = "/etc/eks/bootstrap.sh"

// readBootstrapScript looks for the call of bootstrap.sh in the shell parts
// of user data for AL2 and Ubuntu. Variables that the script sets before the call are
// followed; what other programs would print is taken as empty.
func readBootstrapScript(data []byte) (Settings, error) {
	all, err := parts(data)
	if err != nil {
		return Settings{}, err
	}
	for _, p := range all {
		if p.contentType != typeShell {
			continue
		}
		args, found, err := bootstrapCall(p.body)
		if err != nil {
			return Settings{}, err
		}
		if found {
			return bootstrapSettings(args)
		}
	}
	return Settings{}, fmt.Errorf("no shell script calls %s", bootstrapPath)
}

// bootstrapCall returns the arguments that a script calls bootstrap.sh with.
func bootstrapCall(script []byte) (args []string, found bool, err error) {
	file, err := syntax.NewParser().Parse(bytes.NewReader(script), "user-data")
	if err != nil {
		return nil, false, err
	}
	vars := map[string]string{}
	config := &expand.Config{
		Env:       expand.FuncEnviron(func(name string) string { return vars[name] }),
		CmdSubst:  func(io.Writer, *syntax.CmdSubst) error { return nil },
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "", nil },
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok || found || err != nil {
			return !found
		}
		if len(call.Args) == 0 {
			assign(config, vars, call.Assigns)
			return true
		}
		var words []string
		words, err = expand.Fields(config, call.Args...)
		if err == nil && len(words) > 0 && strings.HasSuffix(words[0], bootstrapPath) {
			args, found = words[1:], true
		}
		return !found
	})
	return args, found, err
}

func assign(config *expand.Config, vars map[string]string, assigns []*syntax.Assign) {
	for _, a := range assigns {
		if a.Name == nil || a.Value == nil {
			continue
		}
		if value, err := expand.Literal(config, a.Value); err == nil {
			vars[a.Name.Value] = value
		}
	}
}

func bootstrapSettings(args []string) (Settings, error) {
	s := Settings{Labels: map[string]string{}, EvictionHard: defaultEviction()}
	var extra string
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "--") {
			s.Cluster.Name = args[i]
			continue
		}
		if !joined && i+1 < len(args) {
			i++
			value = args[i]
		}
		if name == "--kubelet-extra-args" {
			extra = value
			continue
		}
		if err := applyBootstrap(&s, name, value); err != nil {
			return Settings{}, fmt.Errorf("bootstrap.sh %s: %w", name, err)
		}
	}
	if s.Cluster.Name == "" {
		return Settings{}, errors.New("bootstrap.sh: CLUSTER_NAME is not defined")
	}
	flags, err := shell.Fields(extra, func(string) string { return "" })
	if err != nil {
		return Settings{}, fmt.Errorf("bootstrap.sh --kubelet-extra-args: %w", err)
	}
	return s, applyFlags(&s, flags)
}

func applyBootstrap(s *Settings, name, value string) (err error) {
	switch name {
	case "--apiserver-endpoint":
		s.Cluster.Endpoint = value
	case "--b64-cluster-ca":
		s.Cluster.CA, err = decodeBase64(value)
	case "--dns-cluster-ip":
		s.ClusterDNS = []string{value}
	case "--use-max-pods":
		s.ignoreENIs = value == "false"
	case "--local-disks":
		s.RAID0 = value == "raid0"
	}
	return err
}
