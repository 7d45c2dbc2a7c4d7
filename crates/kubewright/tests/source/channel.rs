//! Channels.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    event::Event,
    handler::{EventHandler, Requests, enqueue_request_for_object},
    prelude::*,
};
use kubewright_testing::TestEnv;
use tokio::sync::{Semaphore, mpsc};

use crate::{
    common::{config_map, key},
    control, step, telling,
};

fn object(name: &str) -> ConfigMap {
    step(&config_map(name, &[]), "sent")
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_sent_is_a_generic_event() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (send, receiver) = mpsc::channel(8);
    let (handler, mut heard) = telling();
    let counter = control(&manager, source::channel(receiver, handler));
    let running = env.run(manager);
    send.send(object("a")).await.unwrap();
    assert_eq!(heard.next().await, "generic default/a sent");
    counter.wait_for(&key("a"), 1).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_a_predicate_drops_is_not_handed_on() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (send, receiver) = mpsc::channel(8);
    let (handler, mut heard) = telling();
    let source = source::channel(receiver, handler)
        .with_predicate(|event: &Event<ConfigMap>| event.object().key().name() != "first")
        .with_predicate(|event: &Event<ConfigMap>| event.object().key().name() != "second");
    let counter = control(&manager, source);
    let running = env.run(manager);
    for name in ["first", "second", "third"] {
        send.send(object(name)).await.unwrap();
    }
    assert_eq!(heard.next().await, "generic default/third sent");
    counter.wait_for(&key("third"), 1).await;
    running.stop().await.unwrap();
    assert_eq!(heard.rest(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_before_the_start_is_handled_after_it() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (send, receiver) = mpsc::channel(8);
    for name in ["a", "b"] {
        send.send(object(name)).await.unwrap();
    }
    let (handler, mut heard) = telling();
    let counter = control(&manager, source::channel(receiver, handler));
    assert_eq!(heard.rest(), [""; 0]);
    let running = env.run(manager);
    assert_eq!(heard.next().await, "generic default/a sent");
    assert_eq!(heard.next().await, "generic default/b sent");
    counter.wait_for(&key("b"), 1).await;
    running.stop().await.unwrap();
}

/// Begins when it is let in, once for each event.
struct Gated {
    gate: Arc<Semaphore>,
    began: mpsc::UnboundedSender<Request>,
}

impl EventHandler<ConfigMap> for Gated {
    async fn handle(&self, event: &Event<ConfigMap>, requests: &Requests<'_, Request>) {
        let request = event.object().key().clone();
        self.began.send(request.clone()).unwrap();
        self.gate.acquire().await.unwrap().forget();
        requests.add(request);
    }
}

#[tokio::test(start_paused = true)]
async fn pending_events_are_handled_in_order_once_the_handler_is_unblocked() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (send, receiver) = mpsc::channel(2);
    let gate = Arc::new(Semaphore::new(0));
    let (began, mut handled) = mpsc::unbounded_channel();
    let counter = control(&manager, source::channel(receiver, Gated { gate: Arc::clone(&gate), began }));
    let running = env.run(manager);
    send.send(object("1")).await.unwrap();
    assert_eq!(handled.recv().await, Some(key("1")));
    // The handler is at work on the first, two more wait, and there is no room for a fourth.
    send.try_send(object("2")).unwrap();
    send.try_send(object("3")).unwrap();
    assert!(matches!(send.try_send(object("4")), Err(mpsc::error::TrySendError::Full(_))));
    assert_eq!(counter.of(&key("1")), 0);

    gate.add_permits(4);
    send.send(object("4")).await.unwrap();
    for name in ["2", "3", "4"] {
        assert_eq!(handled.recv().await, Some(key(name)));
    }
    for name in ["1", "2", "3", "4"] {
        counter.wait_for(&key(name), 1).await;
    }
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_is_blocked_does_not_hold_up_the_stop() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (send, receiver) = mpsc::channel(2);
    let (began, mut handled) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    control(&manager, source::channel(receiver, Gated { gate, began }));
    let running = env.run(manager);
    send.send(object("1")).await.unwrap();
    assert_eq!(handled.recv().await, Some(key("1")));
    running.stop().await.unwrap();
    send.closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_closed_channel_ends_its_source_after_what_was_sent_and_nothing_else() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (closing, closed) = mpsc::channel(8);
    let (open, other) = mpsc::channel(8);
    let counter = crate::common::Counter::default();
    Controller::builder(&manager)
        .named("test")
        .watches_raw_source(source::channel::<ConfigMap, _>(closed, enqueue_request_for_object()))
        .watches_raw_source(source::channel::<ConfigMap, _>(other, enqueue_request_for_object()))
        .complete(counter.clone())
        .unwrap();
    closing.send(object("last")).await.unwrap();
    drop(closing);
    let running = env.run(manager);
    counter.wait_for(&key("last"), 1).await;
    open.send(object("later")).await.unwrap();
    counter.wait_for(&key("later"), 1).await;
    running.stop().await.unwrap();
    assert_eq!(counter.of(&key("last")), 1, "no event is made of the end");
}

#[tokio::test(start_paused = true)]
async fn requests_of_a_channel_are_enqueued_as_they_are() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (send, receiver) = mpsc::channel(8);
    let counter = control(&manager, source::requests(receiver));
    send.send(key("before")).await.unwrap();
    let running = env.run(manager);
    counter.wait_for(&key("before"), 1).await;
    send.send(key("after")).await.unwrap();
    drop(send);
    counter.wait_for(&key("after"), 1).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn senders_wait_while_the_events_of_many_objects_fail() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (send, receiver) = mpsc::channel(8);
    let (is_broken, broken) = tokio::sync::watch::channel(true);
    let handler = move |event: &Event<ConfigMap>, requests: &Requests<'_, Request>| {
        if *broken.borrow() {
            return requests.fail("the other side is down");
        }
        requests.add(event.object().key().clone());
    };
    let counter = control(&manager, source::channel(receiver, handler));
    let running = env.run(manager);
    let send = async |number: usize| {
        let sent = send.send(object(&number.to_string()));
        tokio::time::timeout(std::time::Duration::from_secs(60), sent).await
    };
    let mut sent = 0;
    while send(sent).await.is_ok() {
        sent += 1;
    }
    assert_eq!(sent, 1024 + 8);

    is_broken.send(false).unwrap();
    counter.wait_for(&key("0"), 1).await;
    send(sent).await.unwrap().unwrap();
    running.stop().await.unwrap();
}
