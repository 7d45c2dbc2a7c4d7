// Command reconcile measures controller-runtime's controller: many config maps in its cache and a reconciler that only counts. It prints one
// JSON object with the fields of bench-reconcile's Measurement.
//
// Usage: reconcile URL WORKERS OBJECTS ROUNDS
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type measurement struct {
	FirstList cost   `json:"first_list"`
	Rounds    []cost `json:"rounds"`
	RSSBytes  *int64 `json:"rss_bytes"`
}

type cost struct {
	WallSeconds float64 `json:"wall_seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
}

func main() {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if err := run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 5 {
		return fmt.Errorf("usage: reconcile URL WORKERS OBJECTS ROUNDS")
	}
	url := args[1]
	var workers, objects, rounds int
	for i, number := range []*int{&workers, &objects, &rounds} {
		var err error
		if *number, err = strconv.Atoi(args[i+2]); err != nil {
			return err
		}
	}

	counted := &counter{reached: make(chan struct{}, 1)}
	ended := make(chan error, 1)
	var result measurement
	if err := counted.expect(objects); err != nil {
		return err
	}
	watch := startStopwatch()
	go func() { ended <- runManager(url, workers, counted) }()
	if err := counted.wait(ended); err != nil {
		return err
	}
	result.FirstList = watch.stop()

	for range rounds {
		if err := counted.expect(objects); err != nil {
			return err
		}
		watch := startStopwatch()
		if err := changeEveryObject(url); err != nil {
			return err
		}
		if err := counted.wait(ended); err != nil {
			return err
		}
		result.Rounds = append(result.Rounds, watch.stop())
	}
	result.RSSBytes = rssBytes()
	return json.NewEncoder(os.Stdout).Encode(result)
}

// runManager runs a manager with one controller. All options are the defaults, but for the workers and for:
//   - JSON, because the server has nothing else; for built-in kinds the default is protobuf,
//   - no server for metrics; they are counted all the same.
func runManager(url string, workers int, counted *counter) error {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	config := &rest.Config{Host: url, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}}
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(counted)
	if err != nil {
		return err
	}
	return manager.Start(context.Background())
}

// counter is the reconciler; it tells when there were as many reconciles as expected.
type counter struct {
	ended, expected atomic.Int64
	reached         chan struct{}
}

func (c *counter) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	if c.ended.Add(1) == c.expected.Load() {
		c.reached <- struct{}{}
	}
	return reconcile.Result{}, nil
}

// expect fails if there were more or fewer reconciles than expected before: the figures would be of other work.
func (c *counter) expect(more int) error {
	if ended, expected := c.ended.Load(), c.expected.Load(); ended != expected {
		return fmt.Errorf("%d reconciles instead of %d", ended, expected)
	}
	c.expected.Add(int64(more))
	return nil
}

func (c *counter) wait(ended <-chan error) error {
	select {
	case <-c.reached:
		return nil
	case err := <-ended:
		return fmt.Errorf("the manager ended by itself: %w", err)
	}
}

func changeEveryObject(url string) error {
	answer, err := http.Post(url+"/round", "", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", answer.Status)
	}
	return nil
}

type stopwatch struct {
	start time.Time
	cpu   time.Duration
}

func startStopwatch() stopwatch {
	return stopwatch{start: time.Now(), cpu: cpu()}
}

func (s stopwatch) stop() cost {
	return cost{WallSeconds: time.Since(s.start).Seconds(), CPUSeconds: (cpu() - s.cpu).Seconds()}
}

// cpu reads the clock that the Rust clients read: user and system time of all threads.
func cpu() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}

// rssBytes is nil on systems that do not tell.
func rssBytes() *int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			if kilobytes, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				bytes := kilobytes * 1024
				return &bytes
			}
		}
	}
	return nil
}
