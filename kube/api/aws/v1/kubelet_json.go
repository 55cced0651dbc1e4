package v1

import (
	"fmt"
	"reflect"

	"github.com/daemok/daemok/kube/api/open"
)

// typedKubelet has the fields of Kubelet without its methods.
type typedKubelet Kubelet

// UnmarshalJSON reads the typed fields and keeps the further ones as written.
func (k *Kubelet) UnmarshalJSON(data []byte) error {
	var typed typedKubelet
	further, err := open.Read(data, &typed)
	if err != nil {
		return fmt.Errorf("read kubelet: %w", err)
	}
	*k = Kubelet(typed)
	k.Further = further
	return nil
}

// MarshalJSON writes the typed fields and the further ones as one document.
// The receiver is a value so that copies marshal alike.
func (k Kubelet) MarshalJSON() ([]byte, error) { return open.Write(typedKubelet(k), k.Further) }

// TypedKubeletFields names the fields of Kubelet that have a type of their
// own, sorted. The caller owns the slice.
func TypedKubeletFields() []string { return open.Names(reflect.TypeFor[Kubelet]()) }

// FurtherNames names the fields that have no type of their own, sorted.
func (k *Kubelet) FurtherNames() []string { return open.NamesOf(k.Further) }
