// Package measured is the code that benchmarks share that run the controller as a process.
//
// It promises that a measured controller reaches neither the user's cluster nor their AWS account.
package measured

import (
	"fmt"
	"net"
	"strings"
)

// Environment is base, as os.Environ returns it, without what points at the user's cluster or AWS account, and
// with variables.
func Environment(base []string, variables map[string]string) (all []string) {
	for _, line := range base {
		if !strings.HasPrefix(line, "AWS_") && !strings.HasPrefix(line, "KUBE") {
			all = append(all, line)
		}
	}
	for name, value := range variables {
		all = append(all, name+"="+value)
	}
	return all
}

// FreePorts are n different ports of this host that no process listens at now.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a port for the controller: %w", err)
		}
		defer l.Close() // only once all are found: they differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
