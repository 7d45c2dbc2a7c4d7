//! Bad days by name, one for each fault that an informer has had, or could have.

use std::time::Duration;

use super::listener::Listener;
use crate::scripted::{Plan, Server, Streaming};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A server with the objects `0` to `9`, at version 10.
fn server() -> Server {
    let server = Server::new();
    for name in 0..10 {
        server.put(&name.to_string());
    }
    server
}

async fn synced(server: &Server) -> Listener {
    let mut listener = Listener::start(server);
    listener.catch_up(seconds(0)).await.unwrap_or_default();
    listener.wait(Duration::from_millis(1)).await;
    listener
}

/// Within `limit` the cache has what the server has, and nothing was wrong on the way.
#[track_caller]
fn check(caught_up: Result<Duration, String>, listener: &mut Listener) {
    caught_up.unwrap();
    listener.verdict().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_older_than_the_one_that_broke_off_is_not_taken() {
    let server = server();
    for name in 0..10 {
        server.put(&name.to_string());
    }
    server.lag(1, 8);
    server.next(Plan::cut(1000)); // in the middle of the objects, which are at the versions 11 to 20
    server.next(Plan::stale(1));
    let mut listener = Listener::start(&server);
    let caught_up = listener.catch_up(seconds(20)).await;
    check(caught_up, &mut listener);
    let asked = server.asked();
    assert!(asked[1].get("resourceVersion").is_some(), "not older than what came: {asked:?}");
    server.catch_up();
    server.put("new");
    let caught_up = listener.catch_up(seconds(1)).await;
    check(caught_up, &mut listener);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_lags_does_not_bring_back_what_was_deleted_or_who_had_the_name_before() {
    let server = server();
    server.lag(1, 0);
    server.delete("1");
    server.delete("2");
    server.put("2");
    let mut listener = synced(&server).await;
    // The watch is refused for good, and the list that follows is answered by the one that lags.
    server.next(Plan::status(503, "ServiceUnavailable"));
    server.next(Plan::status(403, "Forbidden"));
    server.next(Plan::stale(1));
    server.next(Plan::stale(1));
    server.cut(false);
    let caught_up = listener.catch_up(seconds(30)).await;
    check(caught_up, &mut listener);
    listener.wait(seconds(60)).await;
    listener.verdict().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_quiet_kind_of_a_server_without_bookmarks_is_always_watched() {
    let server = server();
    server.otherwise(Plan { bookmarks: false, ..Plan::default() });
    let mut listener = synced(&server).await;
    let mut watched = 0;
    for _ in 0..3600 {
        listener.wait(seconds(1)).await;
        watched += server.open_watches().min(1);
    }
    assert_eq!(watched, 3600, "seconds of an hour");
    let watches = server.asked().iter().filter(|asked| asked.is_watch()).count();
    assert!(watches < 15, "{watches} watches an hour");
    listener.verdict().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_lost_its_other_end_is_given_up_soon() {
    let server = server();
    let mut listener = synced(&server).await;
    // The bookmarks of this watch have been seen.
    listener.wait(seconds(70)).await;
    server.next(Plan::default());
    server.next(Plan::silent());
    server.cut(false);
    listener.wait(seconds(5)).await;
    server.put("unheard");
    let caught_up = listener.catch_up(seconds(90)).await;
    check(caught_up, &mut listener);
}

#[tokio::test(start_paused = true)]
async fn a_busy_kind_of_a_server_that_ignores_send_initial_events_syncs_and_is_asked_again_later() {
    let server = server();
    server.otherwise(Plan { streaming: Streaming::Ignored, ..Plan::default() });
    let mut listener = Listener::start(&server);
    for second in 0..14 {
        server.put("0");
        server.put(&format!("new-{second}"));
        listener.wait(seconds(1)).await;
    }
    let caught_up = listener.catch_up(seconds(1)).await;
    check(caught_up, &mut listener);
    server.otherwise(Plan::default());
    listener.wait(seconds(1000)).await;
    server.compact();
    server.put("0");
    server.compact();
    let caught_up = listener.catch_up(seconds(1)).await;
    check(caught_up, &mut listener);
    server.next(Plan::default());
    server.next(Plan::status(410, "Expired"));
    server.cut(false);
    listener.wait(seconds(5)).await;
    let lists = server.asked().into_iter().filter(|asked| asked.get("sendInitialEvents").is_some()).count();
    assert_eq!(lists, 2);
    listener.verdict().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_page_may_take_as_long_as_it_likes_while_it_comes() {
    let server = server();
    server.next(Plan::streaming(Streaming::Refused));
    server.next(Plan { slow: seconds(80), ..Plan::default() });
    let mut listener = Listener::start(&server);
    let caught_up = listener.catch_up(seconds(330)).await;
    check(caught_up, &mut listener);
    assert_eq!(server.asked().iter().filter(|asked| !asked.is_watch()).count(), 1, "one list");
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_pages_expire_is_read_in_one_piece() {
    let server = server();
    server.otherwise(Plan { streaming: Streaming::Refused, page: 3, slow: seconds(1), ..Plan::default() });
    let mut listener = Listener::start(&server);
    for _ in 0..20 {
        listener.wait(seconds(2)).await;
        server.put("0");
        server.compact();
    }
    let caught_up = listener.catch_up(seconds(5)).await;
    check(caught_up, &mut listener);
    let lists: Vec<_> = server.asked().into_iter().filter(|asked| !asked.is_watch()).collect();
    let expired = lists.iter().position(|asked| asked.get("continue").is_some()).unwrap();
    assert_eq!(lists[expired + 1].get("limit"), None, "{lists:?}");
}

/// A backup of version 5 is put back, and the cache is right again within `limit`; and so is who waits for a version that is no more.
async fn check_restore(plan: Plan, restore: impl Fn(&Server), limit: Duration) {
    let server = server();
    server.otherwise(plan);
    let mut listener = synced(&server).await;
    listener.wait(seconds(70)).await;
    assert_eq!(listener.informer.progress().version, 10);
    restore(&server);
    server.put("0");
    server.put("6");
    let caught_up = listener.catch_up(limit).await;
    check(caught_up, &mut listener);
    let progress = listener.informer.progress();
    assert_eq!((progress.version, progress.restores), (7, 1));
    server.put("last");
    let caught_up = listener.catch_up(seconds(1)).await;
    check(caught_up, &mut listener);
}

#[tokio::test(start_paused = true)]
async fn a_restore_is_noticed_though_the_server_takes_a_watch_from_the_future() {
    check_restore(Plan::default(), |server| server.restore(5), seconds(6)).await;
    let no_bookmarks = Plan { bookmarks: false, ..Plan::default() };
    check_restore(no_bookmarks, |server| server.restore(5), seconds(6)).await;
}

#[tokio::test(start_paused = true)]
async fn a_restore_is_noticed_by_a_server_that_says_410() {
    let restore = |server: &Server| {
        server.next(Plan::status(503, "ServiceUnavailable"));
        server.next(Plan::status(410, "Expired"));
        server.restore(5);
    };
    check_restore(Plan::default(), restore, seconds(20)).await;
}

#[tokio::test(start_paused = true)]
async fn a_restore_that_breaks_no_connection_is_noticed_by_silence_or_by_bookmarks() {
    let restore = |server: &Server| server.restore_unnoticed(5);
    check_restore(Plan::default(), restore, seconds(100)).await;
    let low_bookmarks = Plan { low_bookmarks: true, ..Plan::default() };
    check_restore(low_bookmarks, restore, seconds(70)).await;
    let no_bookmarks = Plan { bookmarks: false, ..Plan::default() };
    check_restore(no_bookmarks, restore, seconds(640)).await;
}

#[tokio::test(start_paused = true)]
async fn a_restore_that_has_been_overtaken_is_put_right_by_the_next_list() {
    let server = server();
    server.put("1");
    let mut listener = synced(&server).await;
    // `1` is back at version 2.
    server.restore(5);
    for _ in 0..10 {
        server.put("0");
    }
    server.compact();
    let caught_up = listener.catch_up(seconds(20)).await;
    check(caught_up, &mut listener);
    assert_eq!(listener.informer.progress().restores, 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cuts_every_watch_at_once_is_not_flooded() {
    let server = server();
    server.otherwise(Plan { cut_after: Some(0), ends_cleanly: true, ..Plan::default() });
    server.next(Plan::default());
    let mut listener = synced(&server).await;
    server.cut(true);
    listener.wait(seconds(600)).await;
    let asked = server.asked().len();
    assert!(asked < 60, "{asked} requests in ten minutes");
    listener.verdict().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_kind_whose_definition_is_gone_is_asked_for_a_few_times_an_hour_and_when_somebody_wants_it() {
    let server = server();
    let mut listener = synced(&server).await;
    server.otherwise(Plan::status(404, "NotFound"));
    server.cut(false);
    listener.wait(seconds(3600)).await;
    let asked = server.asked().len();
    listener.wait(seconds(3600)).await;
    let in_an_hour = server.asked().len() - asked;
    assert!((6..=12).contains(&in_an_hour), "{in_an_hour} requests in an hour");
    server.otherwise(Plan::default());
    server.put("new");
    listener.informer.hurry();
    let caught_up = listener.catch_up(seconds(2)).await;
    check(caught_up, &mut listener);
    // It was back, so it may soon be back again.
    let asked = server.asked().len();
    server.otherwise(Plan::status(404, "NotFound"));
    server.cut(false);
    listener.wait(seconds(60)).await;
    let in_a_minute = server.asked().len() - asked;
    assert!(in_a_minute >= 5, "{in_a_minute} requests in a minute");
}
