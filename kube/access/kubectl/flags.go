// Package kubectl gives commands the flags by which kubectl selects a cluster.
//
// It promises kubectl's own names, meanings and order of precedence, and errors that name the flag,
// file or variable at fault. It does not connect.
package kubectl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/access"
)

// Flags are kubectl's: which cluster is meant, as whom and for how long it is asked,
// and which namespace is meant where an object names none. NewFlags makes them.
type Flags struct {
	kubectl *genericclioptions.ConfigFlags
}

// NewFlags returns flags of which none is given.
func NewFlags() *Flags {
	f := genericclioptions.NewConfigFlags(true)
	f.CacheDir = nil // nothing is cached
	return &Flags{f}
}

// AddTo lets a command be given them.
func (f *Flags) AddTo(set *pflag.FlagSet) { f.kubectl.AddFlags(set) }

// Config returns how to reach the cluster, by kubectl's rules: by the file named, else by
// the files of KUBECONFIG, else by the user's own file, else from inside the cluster; what
// flags say goes before what files do. The error names the flag, file or variable at
// fault.
func (f *Flags) Config() (*rest.Config, error) {
	if *f.kubectl.KubeConfig == "" {
		if err := access.CheckVariable(); err != nil {
			return nil, err
		}
	}
	files, err := f.kubectl.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, err
	}
	if err := f.checkContext(files.Contexts); err != nil {
		return nil, err
	}
	config, err := f.kubectl.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	if config.Host == clientcmd.ClusterDefaults.Server && clientcmdapi.IsConfigEmpty(&files) && *f.kubectl.APIServer == "" {
		return nil, access.ErrNoCluster // where nothing is named kubectl means its own port on this host
	}
	return config, nil
}

// checkContext says of a context that is not there which was probably meant, or which there are.
func (f *Flags) checkContext(are map[string]*clientcmdapi.Context) error {
	name := *f.kubectl.Context
	if name == "" || are[name] != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(are))
	if near := nearest.Word(name, names); near != "" {
		return fmt.Errorf("--context: context %q does not exist: did you mean %s?", name, near)
	}
	return fmt.Errorf("--context: context %q does not exist: there are %s", name, cmp.Or(strings.Join(names, ", "), "none"))
}

// Namespace is the one that is meant where an object names none: that of the flag, else
// of the context, else "default".
func (f *Flags) Namespace() (string, error) {
	loader := f.kubectl.ToRawKubeConfigLoader()
	files, err := loader.RawConfig()
	if err != nil {
		return "", err
	}
	if err := f.checkContext(files.Contexts); err != nil {
		return "", err
	}
	name, _, err := loader.Namespace()
	return name, err
}

// GivenNamespace is what the flag says; empty: it was not given.
func (f *Flags) GivenNamespace() string { return *f.kubectl.Namespace }

// Files is what the files of kubectl have, in which the flags of this command line find names; empty where they cannot be read.
func (f *Flags) Files() clientcmdapi.Config {
	files, err := f.kubectl.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return clientcmdapi.Config{}
	}
	return files
}
