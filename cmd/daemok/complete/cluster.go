package complete

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/access/kubectl"
)

const (
	// timeout is how long a person waits at most after pressing the tabulator key.
	timeout = 2 * time.Second
	page    = 1000 // objects in one answer of the API server
)

// resource is a list of the API.
type resource struct {
	schema.GroupVersionResource
	namespaced bool
}

func in(group, version, plural string) resource {
	return resource{schema.GroupVersionResource{Group: group, Version: version, Resource: plural}, false}
}

// resources are the lists that have the objects of a kind.
var resources = map[string][]resource{
	"namespace":       {in("", "v1", "namespaces")},
	"node":            {in("", "v1", "nodes")},
	"pod":             {{schema.GroupVersionResource{Version: "v1", Resource: "pods"}, true}},
	"deployment":      {{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, true}},
	"nodepool":        {in("karpenter.sh", "v1", "nodepools")},
	"provisioner":     {in("karpenter.sh", "v1alpha5", "provisioners")},
	"nodeclaim":       {in("karpenter.sh", "v1", "nodeclaims")},
	"ec2nodeclass":    {in("karpenter.k8s.aws", "v1", "ec2nodeclasses")},
	"awsnodetemplate": {in("karpenter.k8s.aws", "v1alpha1", "awsnodetemplates")},
	"nodeoverlay":     {in("karpenter.sh", "v1alpha1", "nodeoverlays")},
	"capacityquota":   {in("autoscaling.x-k8s.io", "v1beta1", "capacityquotas")},
	"capacitybuffer": {{schema.GroupVersionResource{
		Group: "autoscaling.x-k8s.io", Version: "v1beta1", Resource: "capacitybuffers"}, true}},
	"provisioningrequest": {{schema.GroupVersionResource{
		Group: "autoscaling.x-k8s.io", Version: "v1", Resource: "provisioningrequests"}, true}},
	"nodeclass": {in("karpenter.k8s.aws", "v1", "ec2nodeclasses"), in("karpenter.k8s.aws", "v1alpha1", "awsnodetemplates")},
}

// cluster is the one that a command line is about.
type cluster struct{ flags *kubectl.Flags }

// clusterOf reads kubectl's flags of a command line that is not complete yet.
func clusterOf(cmd *cobra.Command) cluster {
	flags := kubectl.NewFlags()
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.AddTo(set)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if _, is := f.Annotations[inspect.OfKubectl]; !is || set.Lookup(f.Name) == nil {
			return
		}
		given := []string{f.Value.String()}
		if several, are := f.Value.(pflag.SliceValue); are {
			given = several.GetSlice()
		}
		for _, value := range given {
			_ = set.Set(f.Name, value) // it was taken from a flag of the same type
		}
	})
	return cluster{flags}
}

// configured are the contexts, clusters or users of kubectl's files.
func (c cluster) configured(what string) []string {
	config := c.flags.Files()
	var out []string
	switch what {
	case "context":
		for name := range config.Contexts {
			out = append(out, name)
		}
	case "cluster":
		for name := range config.Clusters {
			out = append(out, name)
		}
	case "user":
		for name := range config.AuthInfos {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// list are the names of the objects of a kind that begin as typed, in order; none where the cluster does not answer in time.
func (c cluster) list(ctx context.Context, kind, begun string) []string {
	config, err := c.flags.Config()
	if err != nil {
		return nil
	}
	config.Timeout, config.QPS = timeout, -1
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil
	}
	namespace, err := c.flags.Namespace()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out []string
	for _, r := range resources[kind] {
		reader := metadata.ResourceInterface(client.Resource(r.GroupVersionResource))
		if r.namespaced {
			reader = client.Resource(r.GroupVersionResource).Namespace(namespace)
		}
		out = append(out, listed(ctx, reader, begun)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// listed are the names that a list has and that begin as typed. What was read before an error counts.
func listed(ctx context.Context, reader metadata.ResourceInterface, begun string) (out []string) {
	options := metav1.ListOptions{Limit: page}
	for {
		list, err := reader.List(ctx, options)
		if err != nil {
			return out
		}
		for i := range list.Items {
			if name := list.Items[i].Name; strings.HasPrefix(name, begun) {
				out = append(out, name)
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return out
		}
	}
}
