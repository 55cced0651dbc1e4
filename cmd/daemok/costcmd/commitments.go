package costcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/quantity"
)

// commitmentsFile is Reserved Instances and Savings Plans as users write them.
type commitmentsFile struct {
	ReservedInstances []struct {
		ID           string `json:"id"`
		InstanceType string `json:"instanceType"`
		Zone         string `json:"zone"`
		Count        int64  `json:"count"`
		SizeFlexible bool   `json:"sizeFlexible"`
	} `json:"reservedInstances"`
	SavingsPlans []struct {
		ID         string             `json:"id"`
		Family     string             `json:"family"`
		Commitment float64            `json:"commitment"` // dollars an hour
		Rates      map[string]float64 `json:"rates"`      // the same, by instance type
		Discount   string             `json:"discount"`   // such as 27%
	} `json:"savingsPlans"`
}

// readCommitments reads the file that the flag names; nil where it names none.
func (f *flags) readCommitments(stdin io.Reader) (*commitment.Commitments, error) {
	if f.commitments == "" {
		return nil, nil //nolint:nilnil // none are given
	}
	var data []byte
	var err error
	if f.commitments == "-" {
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(f.commitments)
	}
	if err != nil {
		return nil, fmt.Errorf("--commitments: %w", err)
	}
	out, err := parseCommitments(data)
	if err != nil {
		return nil, fmt.Errorf("--commitments %s: %w", f.commitments, err)
	}
	return out, nil
}

func parseCommitments(data []byte) (*commitment.Commitments, error) {
	var in commitmentsFile
	if err := yaml.UnmarshalStrict(data, &in); err != nil {
		return nil, err
	}
	out, errs := &commitment.Commitments{}, []error(nil)
	wrong := func(list string, i int, field, want string) {
		errs = append(errs, fmt.Errorf("%s[%d].%s: want %s", list, i, field, want))
	}
	for i, r := range in.ReservedInstances {
		const list = "reservedInstances"
		if r.ID == "" {
			wrong(list, i, "id", "a name, which the report shows")
		}
		if !strings.Contains(r.InstanceType, ".") {
			wrong(list, i, "instanceType", "one such as m5.large")
		}
		if r.Count < 1 {
			wrong(list, i, "count", "1 or more")
		}
		if r.Zone != "" && r.SizeFlexible {
			wrong(list, i, "sizeFlexible", "false, since those of a zone are for one size")
		}
		out.Reserved = append(out.Reserved, commitment.ReservedInstances{
			ID: r.ID, InstanceType: r.InstanceType, Zone: r.Zone, Count: r.Count, Flexible: r.SizeFlexible,
		})
	}
	for i, p := range in.SavingsPlans {
		const list = "savingsPlans"
		discount, err := strconv.ParseFloat(strings.TrimSuffix(p.Discount, "%"), 64)
		if p.Discount != "" && (err != nil || discount <= 0 || discount >= 100 || !strings.HasSuffix(p.Discount, "%")) {
			wrong(list, i, "discount", "a percentage such as 27%")
		}
		if p.ID == "" {
			wrong(list, i, "id", "a name, which the report shows")
		}
		if p.Commitment <= 0 {
			wrong(list, i, "commitment", "dollars an hour, above 0")
		}
		if len(p.Rates) == 0 && p.Discount == "" {
			wrong(list, i, "rates", "dollars an hour by instance type, or a discount")
		}
		plan := commitment.SavingsPlan{
			ID: p.ID, Family: p.Family, Commitment: quantity.USDPerHour(p.Commitment), Discount: discount / 100,
			Rates: map[string]quantity.MicroUSDPerHour{},
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
