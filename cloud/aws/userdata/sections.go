package userdata

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Sections splits user data into what can be compared by name: each setting of a NodeConfig or of Bottlerocket's
// TOML by its path, such as "NodeConfig 2 spec.kubelet.config.maxPods", and each script as a whole, such as "script 1".
// What cannot be read is one text.
func Sections(family nodeclass.Family, text string) map[string]string {
	out := map[string]string{}
	if family == nodeclass.Bottlerocket {
		document := map[string]any{}
		if toml.Unmarshal([]byte(text), &document) == nil {
			Flatten(out, "", document)
			return out
		}
	}
	parts, isMIME, err := splitMIME(text)
	if !isMIME || err != nil {
		return map[string]string{"text": text}
	}
	for i, p := range parts {
		document, number := map[string]any{}, strconv.Itoa(i+1)
		if strings.HasPrefix(p.header.Get("Content-Type"), typeNodeConfig) && yaml.Unmarshal(p.body, &document) == nil {
			Flatten(out, "NodeConfig "+number+" ", document)
			continue
		}
		out["script "+number] = string(p.body)
	}
	return out
}

// Flatten adds the values of a document to out by their paths, which begin with prefix: a space at its end stands for itself. Lists of things that have a
// key, as tags and taints, are read by it; what is null or empty is not there.
func Flatten(out map[string]string, prefix string, value any) {
	switch v := value.(type) {
	case nil:
	case map[string]any:
		for key, inner := range v {
			Flatten(out, below(prefix, key), inner)
		}
	case []any:
		seen := map[string]bool{}
		for i, inner := range v {
			name := element(i, inner)
			if seen[name] { // as taints of one key and two effects are
				name += element(i, nil)
			}
			seen[name] = true
			Flatten(out, prefix+name, inner)
		}
	case string:
		if v != "" {
			out[prefix] = v
		}
	default:
		out[prefix] = fmt.Sprint(v)
	}
}

func below(prefix, key string) string {
	if prefix == "" || strings.HasSuffix(prefix, " ") {
		return prefix + key
	}
	return prefix + "." + key
}

// element names one of a list: by its key where it has one.
func element(i int, of any) string {
	if fields, ok := of.(map[string]any); ok {
		for _, name := range []string{"Key", "key", "DeviceName"} {
			if key, ok := fields[name].(string); ok {
				return "[" + key + "]"
			}
		}
	}
	return "[" + strconv.Itoa(i) + "]"
}
