// Package access finds the cluster that a program should connect to, by kubectl's rules.
//
// It promises errors that name the file or variable at fault. It does not connect.
package access

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ErrNoCluster says that nothing names a cluster.
var ErrNoCluster = errors.New("no cluster is named: set KUBECONFIG to a file that names one, or run inside a cluster")

// Config returns how to reach the cluster: by the file named, else by the
// files of KUBECONFIG, else from inside the cluster, else by the user's own
// file.
func Config(file string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if file != "" {
		rules.ExplicitPath = file
	} else if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" {
		if err := CheckVariable(); err != nil {
			return nil, err
		}
	} else if config, err := rest.InClusterConfig(); !errors.Is(err, rest.ErrNotInCluster) {
		return config, err
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, ErrNoCluster
	}
	return config, err
}

// CheckVariable says what is wrong where KUBECONFIG names files and none of them can be
// read.
func CheckVariable() error {
	listed := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	if listed == "" {
		return nil
	}
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
