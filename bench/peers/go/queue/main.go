// Command queue measures one Go work queue and prints five figures per key: nanoseconds of an add when the queue is filled for
// the first time and for the second, nanoseconds of a get + forget + done, nanoseconds of both at the same time, and live heap
// bytes.
//
// Usage: queue pq|wq KEYS PRODUCERS
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type queue interface {
	Add(item reconcile.Request)
	Get() (item reconcile.Request, shutdown bool)
	Forget(item reconcile.Request)
	Done(item reconcile.Request)
}

func main() {
	keys, producers, err := load(os.Args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	requests := makeRequests(keys)
	before := liveBytes()
	q := makeQueue(os.Args[1])

	firstAdd := timed(func() { produce(q, requests, producers).Wait() })
	bytes := liveBytes() - before
	firstGet := timed(func() { consume(q, keys) })
	add := timed(func() { produce(q, requests, producers).Wait() })
	get := min(firstGet, timed(func() { consume(q, keys) }))
	together := timed(func() {
		producing := produce(q, requests, producers)
		consume(q, keys)
		producing.Wait()
	})

	perKey := func(value float64) float64 { return value / float64(keys) }
	fmt.Println(perKey(firstAdd), perKey(add), perKey(get), perKey(together), perKey(bytes))
	runtime.KeepAlive(requests)
}

func load(args []string) (keys, producers int, err error) {
	if len(args) != 4 {
		return 0, 0, fmt.Errorf("usage: queue pq|wq KEYS PRODUCERS")
	}
	if keys, err = strconv.Atoi(args[2]); err != nil {
		return 0, 0, err
	}
	producers, err = strconv.Atoi(args[3])
	return keys, producers, err
}

func makeQueue(kind string) queue {
	if kind == "pq" {
		return priorityqueue.New[reconcile.Request]("bench")
	}
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[reconcile.Request](),
		workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: "bench"},
	)
}

func makeRequests(count int) []reconcile.Request {
	namespaces := make([]string, 200)
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("team-%03d", i)
	}
	requests := make([]reconcile.Request, count)
	for i := range requests {
		requests[i].NamespacedName = types.NamespacedName{
			Namespace: namespaces[i%len(namespaces)],
			Name:      fmt.Sprintf("svc-%08d", i),
		}
	}
	return requests
}

// produce starts the producers, each with its share of the requests.
func produce(q queue, requests []reconcile.Request, producers int) *sync.WaitGroup {
	var running sync.WaitGroup
	for producer := range producers {
		running.Go(func() {
			for i := producer; i < len(requests); i += producers {
				q.Add(requests[i])
			}
		})
	}
	return &running
}

func consume(q queue, count int) {
	for range count {
		request, _ := q.Get()
		q.Forget(request)
		q.Done(request)
	}
}

// timed returns how many nanoseconds work took.
func timed(work func()) float64 {
	start := time.Now()
	work()
	return float64(time.Since(start).Nanoseconds())
}

func liveBytes() float64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
