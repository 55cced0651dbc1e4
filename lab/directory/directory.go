// Package directory is the layout of a lab's directory: where its files are, which process holds it,
// and what a later start must find there.
//
// It promises that at most one process holds a directory, even after that process was killed without a
// chance to clean up: the kernel holds the lock, and releases it with the process. The package starts
// and stops nothing.
package directory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// socketPathMax is the longest path a unix socket can have on the systems we
// know (104 on macOS, 108 on Linux, with the closing zero).
const socketPathMax = 103

// Directory is the place of one lab on disk.
type Directory struct {
	root    string // absolute
	sockets string // absolute; short enough for sockets
}

// At names the directory at path, which need not exist.
func At(path string) (Directory, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return Directory{}, fmt.Errorf("find lab directory %s: %w", path, err)
	}
	return Directory{root: root, sockets: socketsFor(root)}, nil
}

// socketsFor is a folder inside root, or where that path is too long for a
// unix socket, a folder in the system's temporary directory that every start
// in the same root finds again.
func socketsFor(root string) string {
	inside := filepath.Join(root, "run")
	if len(filepath.Join(inside, "gateway.sock")) <= socketPathMax {
		return inside
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(os.TempDir(), "daemok-lab-"+hex.EncodeToString(sum[:8]))
}

// Make creates the folders. All of them are closed to other users, since who
// can reach the etcd socket rules the cluster.
func (d Directory) Make() error {
	for _, folder := range []string{d.root, d.Certificates(), d.podLogs(), d.sockets} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("make lab directory: %w", err)
		}
	}
	for _, folder := range []string{d.Certificates(), d.sockets} {
		if err := os.Chmod(folder, 0o700); err != nil {
			return fmt.Errorf("close lab directory to other users: %w", err)
		}
	}
	return nil
}

// RemoveSockets deletes the sockets that a lab leaves behind, and their folder
// where it lies outside the lab's directory.
func (d Directory) RemoveSockets() error {
	if err := os.RemoveAll(d.sockets); err != nil {
		return fmt.Errorf("remove sockets of the lab: %w", err)
	}
	return nil
}

// Root is the directory itself.
func (d Directory) Root() string { return d.root }

// Kubeconfig is the administrator's way into the cluster.
func (d Directory) Kubeconfig() string { return d.in("kubeconfig") }

// ControllerKubeconfig authenticates as the controller's service account.
func (d Directory) ControllerKubeconfig() string { return d.in("controller.kubeconfig") }

// Environment is the file that shells source to point programs at the lab.
func (d Directory) Environment() string { return d.in("lab.env") }

// Certificates holds the lab's own authority and what the control plane shows.
func (d Directory) Certificates() string { return d.in("pki") }

// Etcd holds the cluster's data.
func (d Directory) Etcd() string { return d.in("etcd") }

// Cloud is the kept state of the emulated cloud.
func (d Directory) Cloud() string { return d.in("cloud.json") }

// Logs holds one file per component.
func (d Directory) Logs() string { return d.in("logs") }

// Log is the log of the named component.
func (d Directory) Log(component string) string { return filepath.Join(d.Logs(), component+".log") }

// PodLog takes what a pod's container prints, or has what its run before this one printed.
func (d Directory) PodLog(namespace, pod, container string, previous bool) string {
	end := ".log"
	if previous {
		end = ".previous.log"
	}
	return filepath.Join(d.podLogs(), namespace+"_"+pod+"_"+container+end)
}

func (d Directory) podLogs() string { return filepath.Join(d.Logs(), "pods") }

// File is any other file of the lab, by its name.
func (d Directory) File(name string) string { return d.in(name) }

// EtcdSocket is where etcd listens.
func (d Directory) EtcdSocket() string { return filepath.Join(d.sockets, "etcd.sock") }

// GatewaySocket is where the API server asks for ways to nodes and services.
func (d Directory) GatewaySocket() string { return filepath.Join(d.sockets, "gateway.sock") }

// ControlSocket is where a running lab takes commands.
func (d Directory) ControlSocket() string { return filepath.Join(d.sockets, "control.sock") }

func (d Directory) in(name string) string { return filepath.Join(d.root, name) }
