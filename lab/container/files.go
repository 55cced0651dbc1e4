package container

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/lab/directory"
)

// accountFolder is where a pod finds the token of its service account.
const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// A token is asked for again when this share of its life is over, as kubelets do.
const renewAt = 0.8

// A token that was not issued is asked for again after this share of the life of the one before.
const retryAt = 0.04

// tokenLives is for how long a projected token is asked where its spec does not say, as Kubernetes has it.
const tokenLives = int64(3600)

// mounts are the folders of this machine that stand for a container's, by mount path.
type mounts map[string]string

// at is where this machine has a file of the container; the path itself where nothing is mounted there.
// Of mounts in each other the innermost counts.
func (m mounts) at(path string) string {
	at, innermost := path, ""
	for mounted, folder := range m {
		rest, below := strings.CutPrefix(path, mounted)
		if below && (rest == "" || rest[0] == '/') && len(mounted) > len(innermost) {
			at, innermost = filepath.Join(folder, rest), mounted
		}
	}
	return at
}

// mount writes the volumes of a container, and keeps its tokens fresh for as long as the pod lives.
func (p *pod) mount(ctx context.Context, c *corev1.Container) (mounts, error) {
	p.mounting.Lock()
	defer p.mounting.Unlock()
	all := mounts{}
	for _, m := range c.VolumeMounts {
		for i := range p.spec.Spec.Volumes {
			v := &p.spec.Spec.Volumes[i]
			if v.Name != m.Name {
				continue
			}
			folder := p.file(filepath.Join("volumes", v.Name))
			if err := p.fill(ctx, folder, c, v); err != nil {
				return nil, fmt.Errorf("volume %s: %w", v.Name, err)
			}
			all[filepath.Clean(m.MountPath)] = filepath.Join(folder, m.SubPath)
		}
	}
	return all, os.MkdirAll(p.folder, 0o700)
}

// fill writes one volume. Volumes of other kinds than files of the API are empty folders.
func (p *pod) fill(ctx context.Context, folder string, c *corev1.Container, v *corev1.Volume) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	e := environment{pod: p.spec, container: c, allocatable: p.allocatable, options: &p.runtime.options}
	var sources []corev1.VolumeProjection
	switch {
	case v.Projected != nil:
		sources = v.Projected.Sources
	case v.ConfigMap != nil:
		sources = []corev1.VolumeProjection{{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: v.ConfigMap.LocalObjectReference, Items: v.ConfigMap.Items, Optional: v.ConfigMap.Optional,
		}}}
	case v.Secret != nil:
		sources = []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: v.Secret.SecretName}, Items: v.Secret.Items, Optional: v.Secret.Optional,
		}}}
	case v.DownwardAPI != nil:
		sources = []corev1.VolumeProjection{{DownwardAPI: &corev1.DownwardAPIProjection{Items: v.DownwardAPI.Items}}}
	}
	for _, s := range sources {
		if err := p.project(ctx, folder, e, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *pod) project(ctx context.Context, folder string, e environment, s corev1.VolumeProjection) error {
	switch {
	case s.ServiceAccountToken != nil:
		return p.keepToken(ctx, filepath.Join(folder, s.ServiceAccountToken.Path), *s.ServiceAccountToken)
	case s.ConfigMap != nil:
		data, err := e.configMap(ctx, s.ConfigMap.Name, s.ConfigMap.Optional)
		if err != nil {
			return err
		}
		return writeAll(folder, data, s.ConfigMap.Items)
	case s.Secret != nil:
		data, err := e.secret(ctx, s.Secret.Name, s.Secret.Optional)
		if err != nil {
			return err
		}
		return writeAll(folder, data, s.Secret.Items)
	case s.DownwardAPI != nil:
		for _, item := range s.DownwardAPI.Items {
			value, _, err := e.value(ctx, corev1.EnvVar{ValueFrom: &corev1.EnvVarSource{FieldRef: item.FieldRef, ResourceFieldRef: item.ResourceFieldRef}}, nil)
			if err != nil {
				return err
			}
			if err := write(folder, item.Path, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeAll writes the keys of an object, or those that items name, at their paths.
func writeAll(folder string, data map[string]string, items []corev1.KeyToPath) error {
	paths := map[string]string{}
	for k := range data {
		paths[k] = k
	}
	if len(items) > 0 {
		clear(paths)
		for _, item := range items {
			paths[item.Key] = item.Path
		}
	}
	for k, path := range paths {
		if err := write(folder, path, data[k]); err != nil {
			return err
		}
	}
	return nil
}

func write(folder, path, content string) error {
	file := filepath.Join(folder, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return directory.WriteFile(file, []byte(content))
}

// keepToken writes a token of the pod's service account, and another one in time. One that is kept
// already, of a container that could not be started or of another one, stays as it is.
func (p *pod) keepToken(ctx context.Context, file string, s corev1.ServiceAccountTokenProjection) error {
	if p.tokens[file] {
		return nil
	}
	lives, err := p.writeToken(ctx, file, s)
	if err != nil {
		return err
	}
	p.tokens[file] = true
	p.work.Go(func() {
		for pause := share(renewAt, lives); p.wait(pause); {
			next, err := p.writeToken(p.life, file, s)
			switch {
			case p.life.Err() != nil:
				return
			case err != nil: // the old one is good for a while yet
				p.runtime.options.Say("renew token of pod %s: %v", p.spec.Name, err)
				pause = share(retryAt, lives)
			default:
				lives, pause = next, share(renewAt, next)
			}
		}
	})
	return nil
}

func share(of float64, lives time.Duration) time.Duration { return time.Duration(of * float64(lives)) }

// writeToken writes a new token and returns for how long it is valid.
func (p *pod) writeToken(ctx context.Context, file string, s corev1.ServiceAccountTokenProjection) (time.Duration, error) {
	seconds := tokenLives
	if s.ExpirationSeconds != nil {
		seconds = *s.ExpirationSeconds
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &seconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.spec.Name, UID: p.spec.UID},
	}}
	if s.Audience != "" {
		request.Spec.Audiences = []string{s.Audience}
	}
	answer, err := p.runtime.options.Client.CoreV1().ServiceAccounts(p.spec.Namespace).
		CreateToken(ctx, p.spec.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("issue token for %s/%s: %w", p.spec.Namespace, p.spec.Spec.ServiceAccountName, err)
	}
	return time.Duration(seconds) * time.Second, directory.WriteFile(file, []byte(answer.Status.Token))
}
