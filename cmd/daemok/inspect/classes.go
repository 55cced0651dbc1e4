package inspect

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
)

// KindsOfClasses are the kinds of classes of a cluster: of the older API generation too,
// where it has that, for which usual holds. Nothing is launched from them, so no CA is needed.
func KindsOfClasses(older, expressions bool, usual class.Usual) []class.Kind {
	kinds := []class.Kind{class.NodeClasses("", validate.ClassOptions{Expressions: expressions})}
	if older {
		account := &class.Account{}
		account.Set(usual)
		kinds = append(kinds, class.NodeTemplates(account), class.Provisioners(account))
	}
	return kinds
}

// EachClass does something with every class of these kinds that the cluster has. A kind that
// is not defined has no classes.
func EachClass(ctx context.Context, store client.Client, kinds []class.Kind,
	do func(*class.Kind, *class.Subject) error) error {
	for i := range kinds {
		kind := &kinds[i]
		list := kind.NewList()
		switch err := store.List(ctx, list); {
		case meta.IsNoMatchError(err):
			continue
		case err != nil:
			return fmt.Errorf("list the classes of kind %s: %w", kind.Name, err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			o, is := item.(client.Object)
			if !is || kind.Is != nil && !kind.Is(o) {
				return nil
			}
			c, err := kind.ByName(ctx, store, o.GetName())
			if err != nil {
				return err
			}
			return do(kind, c)
		})
		if err != nil {
			return fmt.Errorf("read the classes of kind %s: %w", kind.Name, err)
		}
	}
	return nil
}

// PoolsOf are the pools of all API versions that a cluster has; none where NodePools are not
// defined.
func PoolsOf(ctx context.Context, store client.Client) ([]translate.PoolObject, error) {
	serves, _, err := Served(store)
	if err != nil {
		return nil, err
	}
	pools, err := serves.List(ctx, store)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	return pools, err
}

// KindOfClass is the kind of class that a word names as kubectl has it; empty: it names none.
func KindOfClass(word string) string {
	switch strings.ToLower(word) {
	case "ec2nodeclass", "ec2nodeclasses", "ec2nc", "ec2ncs", "nodeclass", "nodeclasses":
		return class.KindEC2NodeClass
	case "awsnodetemplate", "awsnodetemplates":
		return class.KindAWSNodeTemplate
	}
	return ""
}
