package bench

import "github.com/daemok/daemok/simulate/rows"

// Columns of a recorded cluster that are read; all others are passed over.
const (
	traceCPU    = "cpu_milli"
	traceMemory = "memory_mib"
)

// readTrace reads the first pods of a recorded cluster, such as those of Alibaba's clusters. The whole file has to be
// right.
func readTrace(path string, most int) (out []pod, err error) {
	err = rows.Read(path, []string{traceCPU, traceMemory}, func(r *rows.Row) {
		one := pod{CPUMilli: r.Number(traceCPU), MemMi: r.Number(traceMemory)}
		if len(out) < most {
			out = append(out, one)
		}
	})
	return out, err
}
