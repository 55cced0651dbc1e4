// Package access finds the cluster that a program is meant to talk to, by
// kubectl's rules.
//
// It promises errors that name the file or variable at fault. It does not
// connect.
package access

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Config returns how to reach the cluster: by the file named, else by the
// files of KUBECONFIG, else from inside the cluster, else by the user's own
// file.
func Config(file string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if file != "" {
		rules.ExplicitPath = file
	} else if listed := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); listed != "" {
		if err := readable(listed); err != nil {
			return nil, err
		}
	} else if config, err := rest.InClusterConfig(); !errors.Is(err, rest.ErrNotInCluster) {
		return config, err
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no cluster is named: set KUBECONFIG to a file that names one, or run inside a cluster")
	}
	return config, err
}

// readable reports what is wrong when none of the listed files can be read.
func readable(listed string) error {
	var problems []error
	for _, name := range filepath.SplitList(listed) {
		f, err := os.Open(name)
		if err == nil {
			return f.Close()
		}
		problems = append(problems, err)
	}
	return fmt.Errorf("KUBECONFIG names no file that can be read: %w", errors.Join(problems...))
}
