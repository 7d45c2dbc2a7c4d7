// Package metrics prints what controller-runtime's priority queue exposes after a fixed sequence of calls at faked times. The output
// is the expected text of crates/kubewright/tests/workqueue_metrics.rs:
//
//	go test ./metrics -count=1 -v | grep -E '^(#|workqueue_)' > ../../../crates/kubewright/tests/workqueue_metrics.txt
package metrics

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	_ "sigs.k8s.io/controller-runtime/pkg/manager" // sets the metrics provider
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

func TestPrintMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := priorityqueue.New[string]("baskets")
		defer queue.ShutDown()
		low := -100
		queue.Add("ready")
		queue.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, "low")
		queue.AddAfter("later", time.Minute)
		expect(t, queue, "ready")
		time.Sleep(1500 * time.Millisecond)
		queue.Done("ready")
		expect(t, queue, "low")
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()

		families, err := metrics.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if strings.HasPrefix(family.GetName(), "workqueue_") {
				if _, err := expfmt.MetricFamilyToText(os.Stdout, family); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func expect(t *testing.T, queue priorityqueue.PriorityQueue[string], key string) {
	t.Helper()
	if got, _ := queue.Get(); got != key {
		t.Fatalf("got %q instead of %q", got, key)
	}
}
