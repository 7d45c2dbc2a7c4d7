// Command election is a replica that takes part in an election by client-go. It prints a line for each fact: a word, and the nanoseconds of the
// clock that all processes of the machine share. The words are those of conformance/election.
//
// Usage: election KUBECONFIG IDENTITY LEASE RENEW RETRY TICK
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

func main() {
	klog.SetLogger(logr.Discard())
	if err := run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 7 {
		return fmt.Errorf("usage: election KUBECONFIG IDENTITY LEASE RENEW RETRY TICK")
	}
	var lease, renew, retry, tick time.Duration
	for i, duration := range []*time.Duration{&lease, &renew, &retry, &tick} {
		var err error
		if *duration, err = time.ParseDuration(args[i+3]); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", args[1])
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	asked, done := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer done()
	electing, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	var worker worker
	context.AfterFunc(asked, func() {
		// Who works gives the lease up when the work has ended, and not before.
		if worker.state.CompareAndSwap(waiting, ended) {
			giveUp()
		}
	})
	worker.ended = make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "peers"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: args[2]},
		},
		LeaseDuration:   lease,
		RenewDeadline:   renew,
		RetryPeriod:     retry,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				worker.work(leading, asked, tick)
				giveUp()
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	elector.Run(electing)
	if worker.state.Load() == working {
		<-worker.ended
	}
	return nil
}

const (
	waiting = iota
	working
	ended
)

type worker struct {
	state atomic.Int32
	ended chan struct{}
}

// work is what only the leader does.
func (w *worker) work(leading, asked context.Context, tick time.Duration) {
	defer close(w.ended)
	if !w.state.CompareAndSwap(waiting, working) {
		return
	}
	say("leads")
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for leading.Err() == nil && asked.Err() == nil {
		say("works")
		select {
		case <-leading.Done():
		case <-asked.Done():
		case <-ticks.C:
		}
	}
	say("stopped")
}

func say(word string) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	fmt.Println(word, now.Nano())
}
