package emulator

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
)

// restRoute is one action of a service that names its actions by method and path. A part
// of the path in braces stands for any name.
type restRoute struct{ method, path, action string }

var restRoutes = map[string][]restRoute{
	wire.EKS: {
		{http.MethodGet, "/clusters", "ListClusters"},
		{http.MethodGet, "/clusters/{cluster}", "DescribeCluster"},
		{http.MethodGet, "/clusters/{cluster}/updates", "ListUpdates"},
		{http.MethodPost, "/clusters/{cluster}/updates", "UpdateClusterVersion"},
		{http.MethodGet, "/clusters/{cluster}/updates/{update}", "DescribeUpdate"},
		{http.MethodGet, "/clusters/{cluster}/access-entries", "ListAccessEntries"},
		{http.MethodPost, "/clusters/{cluster}/access-entries", "CreateAccessEntry"},
		{http.MethodGet, "/clusters/{cluster}/access-entries/{principal}", "DescribeAccessEntry"},
		{http.MethodPost, "/clusters/{cluster}/access-entries/{principal}", "UpdateAccessEntry"},
		{http.MethodDelete, "/clusters/{cluster}/access-entries/{principal}", "DeleteAccessEntry"},
		{http.MethodPost, "/clusters/{cluster}/pod-identity-associations", "CreatePodIdentityAssociation"},
		{http.MethodGet, "/clusters/{cluster}/pod-identity-associations", "ListPodIdentityAssociations"},
		{http.MethodGet, "/clusters/{cluster}/pod-identity-associations/{association}", "DescribePodIdentityAssociation"},
		{http.MethodPost, "/clusters/{cluster}/pod-identity-associations/{association}", "UpdatePodIdentityAssociation"},
		{http.MethodDelete, "/clusters/{cluster}/pod-identity-associations/{association}", "DeletePodIdentityAssociation"},
		{http.MethodPost, "/clusters/{cluster}/node-groups", "CreateNodegroup"},
		{http.MethodGet, "/clusters/{cluster}/node-groups", "ListNodegroups"},
		{http.MethodGet, "/clusters/{cluster}/node-groups/{nodegroup}", "DescribeNodegroup"},
		{http.MethodDelete, "/clusters/{cluster}/node-groups/{nodegroup}", "DeleteNodegroup"},
	},
	wire.EKSAuth: {
		{http.MethodPost, "/clusters/{cluster}/assume-role-for-pod-identity", "AssumeRoleForPodIdentity"},
	},
	wire.ARC: {
		{http.MethodGet, "/managedresources/{resource}", "GetManagedResource"},
		{http.MethodPost, "/zonalshifts", "StartZonalShift"},
		{http.MethodDelete, "/zonalshifts/{shift}", "CancelZonalShift"},
	},
	wire.Savings: {
		{http.MethodPost, "/DescribeSavingsPlans", "DescribeSavingsPlans"},
		{http.MethodPost, "/DescribeSavingsPlanRates", "DescribeSavingsPlanRates"},
	},
	wire.FIS: {
		{http.MethodPost, "/experimentTemplates", "CreateExperimentTemplate"},
		{http.MethodGet, "/experimentTemplates", "ListExperimentTemplates"},
		{http.MethodGet, "/experimentTemplates/{id}", "GetExperimentTemplate"},
		{http.MethodDelete, "/experimentTemplates/{id}", "DeleteExperimentTemplate"},
		{http.MethodPost, "/experiments", "StartExperiment"},
		{http.MethodGet, "/experiments", "ListExperiments"},
		{http.MethodGet, "/experiments/{id}", "GetExperiment"},
		{http.MethodDelete, "/experiments/{id}", "StopExperiment"},
		{http.MethodGet, "/experiments/{id}/resolvedTargets", "ListExperimentResolvedTargets"},
	},
}

// route finds the action of a request and the names in its path; for a path that is no
// action's it returns the method and the path themselves.
func route(routes []restRoute, method, path string) (action string, names map[string]string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for _, r := range routes {
		if names, ok := r.match(method, parts); ok {
			return r.action, names
		}
	}
	return method + " /" + strings.Join(parts, "/"), nil
}

func (r restRoute) match(method string, parts []string) (names map[string]string, ok bool) {
	pattern := strings.Split(strings.Trim(r.path, "/"), "/")
	if r.method != method || len(pattern) != len(parts) {
		return nil, false
	}
	names = map[string]string{}
	for i, p := range pattern {
		if name, is := strings.CutPrefix(p, "{"); is {
			value, err := url.PathUnescape(parts[i])
			if err != nil {
				return nil, false
			}
			names[strings.TrimSuffix(name, "}")] = value
		} else if p != parts[i] {
			return nil, false
		}
	}
	return names, true
}
