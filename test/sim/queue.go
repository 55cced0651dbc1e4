package sim

import (
	"container/heap"
	"time"
)

// event is something that happens at a moment; those of one moment happen in
// the order in which they were asked for.
type event struct {
	at   time.Time
	turn int
	do   func()
}

// queue holds what is still to happen, the next first.
type queue struct {
	list  eventHeap
	turns int
}

// add asks for something to happen.
func (q *queue) add(at time.Time, do func()) {
	q.turns++
	heap.Push(&q.list, event{at, q.turns, do})
}

// next takes out what happens next; ok is false where nothing does before the
// moment given.
func (q *queue) next(before time.Time) (e event, ok bool) {
	if len(q.list) == 0 || !q.list[0].at.Before(before) {
		return event{}, false
	}
	return heap.Pop(&q.list).(event), true
}

type eventHeap []event

func (h eventHeap) Len() int      { return len(h) }
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h eventHeap) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].turn < h[j].turn
}

// Push implements heap.Interface.
func (h *eventHeap) Push(x any) { *h = append(*h, x.(event)) }

// Pop implements heap.Interface.
func (h *eventHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
