package translate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
)

// commitmentsFile is Reserved Instances and Savings Plans as users write them.
type commitmentsFile struct {
	ReservedInstances []struct {
		ID           string `json:"id"`
		InstanceType string `json:"instanceType"`
		Zone         string `json:"zone"`
		Count        int64  `json:"count"`
		Elsewhere    int64  `json:"usedElsewhere"`
		SizeFlexible bool   `json:"sizeFlexible"`
	} `json:"reservedInstances"`
	SavingsPlans []struct {
		ID         string             `json:"id"`
		Family     string             `json:"family"`
		Commitment float64            `json:"commitment"` // dollars an hour
		Elsewhere  float64            `json:"usedElsewhere"`
		Rates      map[string]float64 `json:"rates"`    // the same, by instance type
		Discount   string             `json:"discount"` // such as 27%
	} `json:"savingsPlans"`
}

// ParseCommitments reads them from YAML; an error names each field that is wrong, and what is wanted. Where the
// account's commitments are known, an entry may say no more than how much of one of these is used elsewhere: see
// commitment.Join.
func ParseCommitments(data []byte, account bool) (*commitment.Commitments, error) {
	var in commitmentsFile
	if err := yaml.UnmarshalStrict(data, &in); err != nil {
		return nil, err
	}
	out, errs := &commitment.Commitments{}, []error(nil)
	wrong := func(list string, i int, field, want string) {
		errs = append(errs, fmt.Errorf("%s[%d].%s: want %s", list, i, field, want))
	}
	known := map[string]bool{}
	named := func(list string, i int, id string) {
		if id == "" {
			wrong(list, i, "id", "a name, which the report shows")
		} else if known[id] {
			wrong(list, i, "id", "a name that no other has")
		}
		known[id] = true
	}
	for i, r := range in.ReservedInstances {
		const list = "reservedInstances"
		named(list, i, r.ID)
		if account && r.InstanceType == "" && r.Zone == "" && r.Count == 0 && !r.SizeFlexible {
			if r.Elsewhere < 0 {
				wrong(list, i, "usedElsewhere", "0 or more")
			}
			out.Reserved = append(out.Reserved, commitment.ReservedInstances{ID: r.ID, Elsewhere: r.Elsewhere})
			continue
		}
		if !strings.Contains(r.InstanceType, ".") {
			wrong(list, i, "instanceType", "one such as m5.large")
		}
		if r.Count < 1 {
			wrong(list, i, "count", "1 or more")
		}
		if r.Elsewhere < 0 || r.Elsewhere > r.Count {
			wrong(list, i, "usedElsewhere", "from 0 to count")
		}
		if r.Zone != "" && r.SizeFlexible {
			wrong(list, i, "sizeFlexible", "false, since those of a zone are for one size")
		}
		out.Reserved = append(out.Reserved, commitment.ReservedInstances{
			ID: r.ID, InstanceType: r.InstanceType, Zone: r.Zone, Count: r.Count, Elsewhere: r.Elsewhere,
			Flexible: r.SizeFlexible,
		})
	}
	for i, p := range in.SavingsPlans {
		const list = "savingsPlans"
		if account && p.Family == "" && p.Commitment == 0 && len(p.Rates) == 0 && p.Discount == "" {
			if named(list, i, p.ID); p.Elsewhere < 0 {
				wrong(list, i, "usedElsewhere", "0 or more")
			}
			out.Plans = append(out.Plans, commitment.SavingsPlan{ID: p.ID, Elsewhere: quantity.USDPerHour(p.Elsewhere)})
			continue
		}
		discount, err := strconv.ParseFloat(strings.TrimSuffix(p.Discount, "%"), 64)
		if p.Discount != "" && (err != nil || discount <= 0 || discount >= 100 || !strings.HasSuffix(p.Discount, "%")) {
			wrong(list, i, "discount", "a percentage such as 27%")
		}
		named(list, i, p.ID)
		if p.Commitment <= 0 {
			wrong(list, i, "commitment", "dollars an hour, above 0")
		}
		if p.Elsewhere < 0 || p.Elsewhere > p.Commitment {
			wrong(list, i, "usedElsewhere", "dollars an hour, from 0 to the commitment")
		}
		if len(p.Rates) == 0 && p.Discount == "" {
			wrong(list, i, "rates", "dollars an hour by instance type, or a discount")
		}
		plan := commitment.SavingsPlan{
			ID: p.ID, Family: p.Family, Commitment: quantity.USDPerHour(p.Commitment), Discount: discount / 100,
			Elsewhere: quantity.USDPerHour(p.Elsewhere),
			Rates:     map[string]quantity.MicroUSDPerHour{},
		}
		for name, rate := range p.Rates {
			if rate < 0 {
				wrong(list, i, "rates."+name, "0 or more")
			}
			plan.Rates[name] = quantity.USDPerHour(rate)
		}
		out.Plans = append(out.Plans, plan)
	}
	return out, errors.Join(errs...)
}

// ReadCommitments reads the ConfigMap daemok-commitments, as ParseCommitments does. The error names it, the key and the
// field, and the way out.
func ReadCommitments(c *corev1.ConfigMap, account bool) (*commitment.Commitments, error) {
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		if key != api.CommitmentsFile {
			return nil, fmt.Errorf("ConfigMap %s/%s: data.%s means nothing: the key is %s", c.Namespace, c.Name, key,
				api.CommitmentsFile)
		}
	}
	out, err := ParseCommitments([]byte(c.Data[api.CommitmentsFile]), account)
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s: data[%s]: %s", c.Namespace, c.Name, api.CommitmentsFile,
			strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return out, nil
}
