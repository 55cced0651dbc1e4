package world

import (
	"slices"
	"strings"
)

// Quota is a limit of an account on the vCPUs of its running instances.
type Quota struct {
	Code, Name string
	Spot       bool
	classes    []string // what the names of its types begin with, up to the generation
}

// Quotas are those of EC2 that limit vCPUs, under the codes of Service Quotas.
func Quotas() []Quota {
	standard := []string{"a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"}
	return []Quota{
		{"L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", false, standard},
		{"L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", true, standard},
		{"L-DB2E81BA", "Running On-Demand G and VT instances", false, []string{"g", "gr", "vt"}},
		{"L-3819A6DF", "All G and VT Spot Instance Requests", true, []string{"g", "gr", "vt"}},
		{"L-417A185B", "Running On-Demand P instances", false, []string{"p"}},
		{"L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", true, []string{"p2", "p3", "p4"}},
		{"L-C4BD4855", "All P5 Spot Instance Requests", true, []string{"p5"}},
		{"L-7295265B", "Running On-Demand X instances", false, []string{"x"}},
		{"L-E3A00192", "All X Spot Instance Requests", true, []string{"x"}},
		{"L-74FC7D96", "Running On-Demand F instances", false, []string{"f"}},
		{"L-88CF9481", "All F Spot Instance Requests", true, []string{"f"}},
		{"L-1945791B", "Running On-Demand Inf instances", false, []string{"inf"}},
		{"L-B5D1601B", "All Inf Spot Instance Requests", true, []string{"inf"}},
		{"L-2C3B7624", "Running On-Demand Trn instances", false, []string{"trn"}},
		{"L-6B0D517C", "All Trn Spot Instance Requests", true, []string{"trn"}},
		{"L-6E869C2A", "Running On-Demand DL instances", false, []string{"dl"}},
		{"L-85EED4F7", "All DL Spot Instance Requests", true, []string{"dl"}},
		{"L-43DA4232", "Running On-Demand High Memory instances", false, []string{"u"}},
		{"L-F7808C92", "Running On-Demand HPC instances", false, []string{"hpc"}},
	}
}

// Holds reports whether the quota counts a type. Classes are told by the letters before
// the generation, so that "i" does not count inf2.
func (q Quota) Holds(kind string) bool {
	family, _, _ := strings.Cut(kind, ".")
	letters := strings.TrimRightFunc(family[:strings.IndexAny(family+"0", "0123456789")], func(r rune) bool { return r == '-' })
	generation := family[:min(len(letters)+1, len(family))]
	return slices.Contains(q.classes, letters) || slices.Contains(q.classes, generation)
}

// QuotaFor is the quota that counts a type under a capacity type; ok is false where none does.
func QuotaFor(kind string, spot bool) (q Quota, ok bool) {
	i := slices.IndexFunc(Quotas(), func(q Quota) bool { return q.Spot == spot && q.Holds(kind) })
	if i < 0 {
		return Quota{}, false
	}
	return Quotas()[i], true
}
