package oracle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/structured"
	fwk "k8s.io/kube-scheduler/framework"
)

// draManager shows devices to kube-scheduler's DynamicResources plugin. Nothing is on its way to the API server:
// claims are allocated at once.
type draManager struct{ *devices }

var _ fwk.SharedDRAManager = draManager{}

// ResourceClaims is the manager itself.
func (m draManager) ResourceClaims() fwk.ResourceClaimTracker { return m }

// ResourceSlices are the devices.
func (m draManager) ResourceSlices() fwk.ResourceSliceLister { return m.devices }

// DeviceClasses are those of the world.
func (m draManager) DeviceClasses() fwk.DeviceClassLister { return classes(m.classes) }

// DeviceClassResolver knows no extended resources.
func (m draManager) DeviceClassResolver() fwk.DeviceClassResolver { return m }

// PodGroups knows none.
func (m draManager) PodGroups() fwk.PodGroupLister { return noPodGroups{} }

// GetDeviceClass finds none.
func (m draManager) GetDeviceClass(corev1.ResourceName) *resourcev1.DeviceClass { return nil }

// List lists all claims.
func (m draManager) List() ([]*resourcev1.ResourceClaim, error) {
	_, claims := m.store()
	return claims, nil
}

// Get finds a claim.
func (m draManager) Get(namespace, name string) (*resourcev1.ResourceClaim, error) {
	if c := m.claims[types.NamespacedName{Namespace: namespace, Name: name}]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("ResourceClaim %s/%s does not exist", namespace, name)
}

// ListAllAllocatedDevices lists devices that one claim has.
func (m draManager) ListAllAllocatedDevices() (sets.Set[structured.DeviceID], error) {
	state, err := m.GatherAllocatedState()
	return state.AllocatedDevices, err
}

// SignalClaimPendingAllocation is not called: no pod is reserved a node.
func (m draManager) SignalClaimPendingAllocation(types.UID, *resourcev1.ResourceClaim) error {
	return errNotAsked
}

// GetPendingAllocation finds none.
func (m draManager) GetPendingAllocation(types.UID) *resourcev1.AllocationResult { return nil }

// MaybeRemoveClaimPendingAllocation finds none.
func (m draManager) MaybeRemoveClaimPendingAllocation(types.UID, bool) bool { return false }

// AssumeClaimAfterAPICall is not called: no pod is bound by the plugin.
func (m draManager) AssumeClaimAfterAPICall(*resourcev1.ResourceClaim) error { return errNotAsked }

// AssumedClaimRestore has nothing to restore.
func (m draManager) AssumedClaimRestore(string, string) {}

// classes lists DeviceClasses.
type classes map[string]*resourcev1.DeviceClass

// List lists them in no order.
func (c classes) List() (out []*resourcev1.DeviceClass, _ error) {
	for _, class := range c {
		out = append(out, class)
	}
	return out, nil
}

// Get finds one.
func (c classes) Get(name string) (*resourcev1.DeviceClass, error) {
	if class := c[name]; class != nil {
		return class, nil
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("deviceclasses"), name)
}

type noPodGroups struct{}

func (noPodGroups) Get(namespace, name string) (*schedulingv1alpha2.PodGroup, error) {
	return nil, fmt.Errorf("pod group %s/%s: %w", namespace, name, errNotAsked)
}
