package bound_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/bound"
)

// Another solver finds the same bounds: GLPK, which shares no code with this
// one. Where it is not installed (Debian: glpk-utils) the test is skipped.
func TestGLPKFindsTheSameBounds(t *testing.T) {
	solver, err := exec.LookPath("glpsol")
	if err != nil {
		t.Skip("there is no glpsol: install glpk-utils to compare")
	}
	r := rand.New(rand.NewPCG(9, 9))
	for range 60 {
		classes, resources := 1+r.IntN(5), 1+r.IntN(4)
		demands, offerings := problem(r, classes, resources)
		all, columns := make([]float64, resources), make([]bound.Column, len(offerings))
		for i := range all {
			for k := range demands {
				all[i] += demands[k][i]
			}
		}
		for j, o := range offerings {
			columns[j] = o.Column
			offerings[j].Open = 1<<classes - 1
		}
		same(t, "Cover", bound.Cover(all, columns).Cost, solved(t, solver, program(demands, offerings)))
		for j := range offerings {
			offerings[j].Open = 1 + r.Uint64N(1<<classes-1)
		}
		offerings[0].Open = 1<<classes - 1
		same(t, "Divide", bound.Divide(demands, offerings).Cost, solved(t, solver, program(demands, offerings)))
	}
}

func problem(r *rand.Rand, classes, resources int) ([][]float64, []bound.Offering) {
	demands, offerings := make([][]float64, classes), make([]bound.Offering, 1+r.IntN(40))
	for k := range demands {
		demands[k] = make([]float64, resources)
		for i := range demands[k] {
			demands[k][i] = float64(r.IntN(1000))
		}
	}
	for j := range offerings {
		offerings[j].Price = 0.01 + r.Float64()
		for range resources {
			offerings[j].Has = append(offerings[j].Has, float64(1+r.IntN(64)))
		}
	}
	return demands, offerings
}

func same(t *testing.T, name string, got, want float64) {
	t.Helper()
	if got > want*(1+1e-6)+1e-6 || got < want*(1-1e-4)-1e-6 {
		t.Errorf("%s says %v, GLPK %v", name, got, want)
	}
}

// program is the problem in CPLEX's LP format: n0 instances of offering 0, of which a0_1_2 of
// resource 2 goes to class 1.
func program(demands [][]float64, offerings []bound.Offering) string {
	var b strings.Builder
	b.WriteString("Minimize\n cost:")
	for j, o := range offerings {
		fmt.Fprintf(&b, " + %v n%d", o.Price, j)
	}
	b.WriteString("\nSubject To\n")
	for j, o := range offerings {
		for i, v := range o.Has {
			for k := range demands {
				if o.Open>>k&1 == 1 {
					fmt.Fprintf(&b, " + a%d_%d_%d", j, k, i)
				}
			}
			fmt.Fprintf(&b, " - %v n%d <= 0\n", v, j)
		}
	}
	for k, demand := range demands {
		for i, v := range demand {
			for j, o := range offerings {
				if o.Open>>k&1 == 1 {
					fmt.Fprintf(&b, " + a%d_%d_%d", j, k, i)
				}
			}
			fmt.Fprintf(&b, " >= %v\n", v)
		}
	}
	return b.String() + "End\n"
}

var objective = regexp.MustCompile(`(?m)^Objective:\s+cost = (\S+)`)

func solved(t *testing.T, solver, text string) float64 {
	t.Helper()
	problem, answer := filepath.Join(t.TempDir(), "problem.lp"), filepath.Join(t.TempDir(), "answer.txt")
	if err := os.WriteFile(problem, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(solver, "--lp", problem, "--output", answer).CombinedOutput(); err != nil {
		t.Fatalf("glpsol: %v\n%s", err, out)
	}
	found, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	words := objective.FindSubmatch(found)
	if words == nil {
		t.Fatalf("glpsol found no answer:\n%s", found)
	}
	cost, err := strconv.ParseFloat(string(words[1]), 64)
	if err != nil || math.IsNaN(cost) {
		t.Fatalf("glpsol says %s", words[1])
	}
	return cost
}
