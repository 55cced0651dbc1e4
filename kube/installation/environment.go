package installation

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// environment is what a container of the controller is configured with, by the names of its
// variables.
type environment struct {
	values map[string]string
	unread []source
}

// source is where a variable may get a value from that is not read.
type source struct {
	variable string // empty: any that has no value of its own
	object   string // such as Secret kube-system/karpenter
}

// stated is what the container itself states: values of its environment, and its flags, which win.
func stated(c *corev1.Container) map[string]string {
	values := map[string]string{}
	for _, v := range c.Env {
		if v.ValueFrom == nil {
			values[v.Name] = v.Value
		}
	}
	maps.Copy(values, flags(c))
	return values
}

// flags are the flags of a container's command line by the variables that they stand for: METRICS_PORT for --metrics-port=8080.
func flags(c *corev1.Container) map[string]string {
	values, words := map[string]string{}, slices.Concat(c.Command, c.Args)
	for i, word := range words {
		flag, is := strings.CutPrefix(word, "--")
		if !is {
			continue
		}
		name, value, joined := strings.Cut(flag, "=")
		switch {
		case joined:
		case i+1 < len(words) && !strings.HasPrefix(words[i+1], "-"):
			value = words[i+1]
		default:
			value = "true"
		}
		values[strings.ToUpper(strings.ReplaceAll(name, "-", "_"))] = value
	}
	return values
}

// environmentOf is what the container is configured with by itself and by the ConfigMaps of its namespace that it
// refers to. Secrets are not read, and without a reader ConfigMaps are not either.
func environmentOf(ctx context.Context, from client.Reader, namespace string, c *corev1.Container) (environment, error) {
	e := environment{values: map[string]string{}}
	for _, s := range c.EnvFrom {
		if s.SecretRef != nil {
			e.unread = append(e.unread, source{object: "Secret " + namespace + "/" + s.SecretRef.Name})
		}
		if s.ConfigMapRef == nil {
			continue
		}
		data, err := e.configMap(ctx, from, client.ObjectKey{Namespace: namespace, Name: s.ConfigMapRef.Name}, "")
		if err != nil {
			return environment{}, err
		}
		for key, value := range data {
			e.values[s.Prefix+key] = value
		}
	}
	for _, v := range c.Env {
		if err := e.take(ctx, from, namespace, v); err != nil {
			return environment{}, err
		}
	}
	given := flags(c)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		e.set(name, given[name])
	}
	return e, nil
}

// take takes a variable of the container, in place of one of the same name before it.
func (e *environment) take(ctx context.Context, from client.Reader, namespace string, v corev1.EnvVar) error {
	if v.ValueFrom == nil {
		e.set(v.Name, v.Value)
		return nil
	}
	delete(e.values, v.Name)
	switch of := v.ValueFrom; {
	case of.SecretKeyRef != nil:
		e.unread = append(e.unread, source{v.Name, "Secret " + namespace + "/" + of.SecretKeyRef.Name})
	case of.ConfigMapKeyRef != nil:
		data, err := e.configMap(ctx, from, client.ObjectKey{Namespace: namespace, Name: of.ConfigMapKeyRef.Name}, v.Name)
		if err != nil {
			return err
		}
		if value, has := data[of.ConfigMapKeyRef.Key]; has {
			e.values[v.Name] = value
		}
	}
	return nil
}

// reference is how values refer to other variables.
var reference = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// set gives a variable a value, with those of others that it refers to. Where one of these was not read, its own is not known either.
func (e *environment) set(name, value string) {
	for _, found := range reference.FindAllStringSubmatch(value, -1) {
		if from := e.source(found[1]); from != "" {
			delete(e.values, name)
			e.unread = append(e.unread, source{name, from})
			return
		}
		if other, has := e.values[found[1]]; has {
			value = strings.ReplaceAll(value, found[0], other)
		}
	}
	e.values[name] = value
}

// configMap is what a ConfigMap says, nothing where there is none. One that may not be read is noted as the variable's source.
func (e *environment) configMap(ctx context.Context, from client.Reader, key client.ObjectKey, variable string) (map[string]string, error) {
	if from == nil {
		e.unread = append(e.unread, source{variable, "ConfigMap " + key.String()})
		return nil, nil
	}
	read := &corev1.ConfigMap{}
	err := from.Get(ctx, key, read)
	if apierrors.IsForbidden(err) {
		e.unread = append(e.unread, source{variable, "ConfigMap " + key.String()})
		return nil, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read ConfigMap %s for the controller's settings: %w", key, err)
	}
	return read.Data, nil
}

// source is the object that a variable may get a value from that was not read; empty: there is none.
func (e *environment) source(variable string) string {
	if _, has := e.values[variable]; has {
		return ""
	}
	for _, s := range e.unread {
		if s.variable == variable || s.variable == "" {
			return s.object
		}
	}
	return ""
}
