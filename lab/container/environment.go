package container

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1resource "k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// environment makes the environment and the arguments of one container.
type environment struct {
	pod         *corev1.Pod
	container   *corev1.Container
	allocatable corev1.ResourceList
	options     *Options
	files       mounts
	ports       map[int32]int
}

// variable is one of a container's environment.
type variable struct{ name, value string }

// variables returns what the container's spec names, resolved, the later of one name last.
func (e environment) variables(ctx context.Context) ([]variable, error) {
	var all []variable
	for _, from := range e.container.EnvFrom {
		data, err := e.source(ctx, from)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(data)) {
			all = append(all, variable{from.Prefix + name, data[name]})
		}
	}
	known := map[string]string{}
	for _, v := range all {
		known[v.name] = v.value
	}
	for _, v := range e.container.Env {
		value, found, err := e.value(ctx, v, known)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, err)
		}
		if found {
			known[v.Name] = value
			all = append(all, variable{v.Name, value})
		}
	}
	return all, nil
}

func (e environment) value(ctx context.Context, v corev1.EnvVar, known map[string]string) (value string, found bool, err error) {
	from := v.ValueFrom
	switch {
	case from == nil:
		return expansion.Expand(v.Value, expansion.MappingFuncFor(known)), true, nil
	case from.FieldRef != nil:
		value, err = e.field(from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err = v1resource.ExtractResourceValueByContainerNameAndNodeAllocatable(from.ResourceFieldRef, e.pod, e.container.Name, e.allocatable)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		data, err := e.configMap(ctx, ref.Name, ref.Optional)
		return key(data, err, "ConfigMap "+ref.Name, ref.Key, ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		data, err := e.secret(ctx, ref.Name, ref.Optional)
		return key(data, err, "Secret "+ref.Name, ref.Key, ref.Optional)
	}
	return "", false, fmt.Errorf("a source of another kind than fieldRef, resourceFieldRef, configMapKeyRef and secretKeyRef")
}

func key(data map[string]string, err error, object, key string, optional *bool) (value string, found bool, _ error) {
	if err != nil {
		return "", false, err
	}
	value, found = data[key]
	if !found && !isTrue(optional) {
		return "", false, fmt.Errorf("%s has no key %s", object, key)
	}
	return value, found, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// field is what the downward API says. The addresses are those of this machine.
func (e environment) field(fieldPath string) (string, error) {
	switch fieldPath {
	case "spec.nodeName":
		return e.pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return e.pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs", "status.hostIP", "status.hostIPs":
		return "127.0.0.1", nil
	}
	return fieldpath.ExtractFieldPathAsString(e.pod, fieldPath)
}

func (e environment) source(ctx context.Context, from corev1.EnvFromSource) (map[string]string, error) {
	switch {
	case from.ConfigMapRef != nil:
		return e.configMap(ctx, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	case from.SecretRef != nil:
		return e.secret(ctx, from.SecretRef.Name, from.SecretRef.Optional)
	}
	return nil, nil
}

func (e environment) configMap(ctx context.Context, name string, optional *bool) (map[string]string, error) {
	o, err := e.options.Client.CoreV1().ConfigMaps(e.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unlessOptional(err, optional)
	}
	return o.Data, nil
}

func (e environment) secret(ctx context.Context, name string, optional *bool) (map[string]string, error) {
	o, err := e.options.Client.CoreV1().Secrets(e.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unlessOptional(err, optional)
	}
	return texts(o.Data), nil
}

func texts(data map[string][]byte) map[string]string {
	out := map[string]string{}
	for k, v := range data {
		out[k] = string(v)
	}
	return out
}

func unlessOptional(err error, optional *bool) error {
	if apierrors.IsNotFound(err) && isTrue(optional) {
		return nil
	}
	return err
}

// arguments are the container's, as this machine has what they name. Where the program stands for
// a command, that is left out.
func (e environment) arguments(variables []variable) []string {
	known := map[string]string{}
	for _, v := range variables {
		known[v.name] = v.value
	}
	given := e.container.Args
	if len(e.container.Command) > 0 {
		given = slices.Concat(e.container.Command[1:], e.container.Args)
	}
	var all []string
	for _, a := range given {
		all = append(all, e.here(expansion.Expand(a, expansion.MappingFuncFor(known))))
	}
	return all
}

// lines is the whole environment: this machine's PATH, the Runtime's own variables, further ones,
// and above them the container's.
func (e environment) lines(variables []variable, further ...string) []string {
	set := map[string]string{"PATH": os.Getenv("PATH")}
	for _, line := range slices.Concat(e.options.Environment, further) {
		name, value, _ := strings.Cut(line, "=")
		set[name] = value
	}
	for _, v := range variables {
		set[v.name] = e.here(v.value)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		all = append(all, name+"="+set[name])
	}
	return all
}

// here turns a value that names a file of the container, a port that it declares or an address that
// leads elsewhere into what this machine has for it. A port is a value of its number alone.
func (e environment) here(value string) string {
	if n, err := strconv.ParseInt(value, 10, 32); err == nil {
		if port, ok := e.ports[int32(n)]; ok {
			return strconv.Itoa(port)
		}
	}
	for from, to := range e.options.Addresses {
		if rest, ok := strings.CutPrefix(value, from); ok {
			return to + rest
		}
	}
	return e.files.at(value)
}
