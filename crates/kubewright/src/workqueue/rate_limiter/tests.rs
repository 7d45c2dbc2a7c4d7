//! The limiters, as tables of delays.

use super::*;

const MILLISECOND: Duration = Duration::from_millis(1);

/// Asks for the delay of one key again and again, at one moment.
#[track_caller]
fn check(limiter: &mut dyn RateLimiter<&'static str>, expected: &[Duration]) {
    let now = Instant::now();
    let delays: Vec<Duration> = expected.iter().map(|_| limiter.when(&"key", now)).collect();
    assert_eq!(delays, expected);
}

#[test]
fn item_exponential_doubles_up_to_the_maximum_and_starts_again_once_forgotten() {
    let mut limiter = ItemExponentialFailureRateLimiter::new(MILLISECOND, MILLISECOND * 10);
    check(&mut limiter, &[1, 2, 4, 8, 10, 10].map(|factor| MILLISECOND * factor));
    assert_eq!(limiter.num_requeues(&"key"), 6);
    assert_eq!(limiter.when(&"other", Instant::now()), MILLISECOND);

    limiter.forget(&"key");
    assert_eq!(limiter.num_requeues(&"key"), 0);
    check(&mut limiter, &[MILLISECOND]);
}

#[test]
fn defaults_are_upstreams() {
    let mut limiter = ItemExponentialFailureRateLimiter::default();
    let now = Instant::now();
    let delays: Vec<Duration> = (0..40).map(|_| limiter.when(&"key", now)).collect();
    assert_eq!(delays[0], MILLISECOND * 5);
    assert_eq!(delays[17], MILLISECOND * 5 * (1 << 17));
    assert!(delays[18..].iter().all(|&delay| delay == Duration::from_secs(1000)), "{delays:?}");
    let until_16th_retry: Duration = delays[..16].iter().sum();
    assert_eq!(until_16th_retry.as_secs(), 327, "the five and a half minutes of the docs");
}

#[test]
fn item_exponential_accepts_any_durations() {
    let now = Instant::now();
    for (base, max) in [
        (Duration::ZERO, Duration::MAX),
        (Duration::MAX, Duration::MAX),
        (Duration::MAX, Duration::ZERO),
        (MILLISECOND, Duration::MAX),
    ] {
        let mut limiter = ItemExponentialFailureRateLimiter::new(base, max);
        for _ in 0..100 {
            assert!(limiter.when(&"key", now) <= max);
        }
    }
}

#[test]
fn item_fast_slow_is_fast_for_the_first_failures() {
    let (fast, slow) = (MILLISECOND * 5, Duration::from_secs(10));
    let mut limiter = ItemFastSlowRateLimiter::new(fast, slow, 3);
    check(&mut limiter, &[fast, fast, fast, slow, slow]);
    limiter.forget(&"key");
    check(&mut limiter, &[fast]);
}

#[test]
fn bucket_lets_a_burst_through_and_then_one_per_interval() {
    let mut limiter = BucketRateLimiter::default();
    let mut delays = vec![Duration::ZERO; 100];
    delays.extend([MILLISECOND * 100, MILLISECOND * 200]);
    check(&mut limiter, &delays);
}

#[test]
fn bucket_fills_with_time_up_to_the_burst() {
    let interval = Duration::from_secs(1);
    let mut limiter = BucketRateLimiter::new(interval, std::num::NonZeroU32::new(2).unwrap());
    let mut now = Instant::now();
    let when = |limiter: &mut BucketRateLimiter, now| limiter.when(&"key", now).as_secs();
    assert_eq!([when(&mut limiter, now), when(&mut limiter, now), when(&mut limiter, now)], [0, 0, 1]);

    now += interval * 2;
    assert_eq!([when(&mut limiter, now), when(&mut limiter, now)], [0, 1], "one token paid the credit back");
    now += interval * 1000;
    assert_eq!([when(&mut limiter, now), when(&mut limiter, now), when(&mut limiter, now)], [0, 0, 1]);
}

#[test]
fn max_of_asks_all_and_takes_the_longest() {
    let fast_slow = ItemFastSlowRateLimiter::new(MILLISECOND * 3, MILLISECOND * 3, 100);
    let exponential = ItemExponentialFailureRateLimiter::new(MILLISECOND, Duration::from_secs(1));
    let mut limiter = MaxOfRateLimiter::<&str>::new([
        Box::new(fast_slow) as Box<dyn RateLimiter<_>>,
        Box::new(exponential),
    ]);
    check(&mut limiter, &[3, 3, 4, 8].map(|factor| MILLISECOND * factor));
    assert_eq!(limiter.num_requeues(&"key"), 4);
    limiter.forget(&"key");
    assert_eq!(limiter.num_requeues(&"key"), 0);
    check(&mut limiter, &[MILLISECOND * 3]);
    check(&mut MaxOfRateLimiter::new([]), &[Duration::ZERO]);
}

#[test]
fn with_max_wait_caps() {
    let exponential = ItemExponentialFailureRateLimiter::new(MILLISECOND, Duration::from_secs(1));
    let mut limiter = WithMaxWaitRateLimiter::new(exponential, MILLISECOND * 3);
    check(&mut limiter, &[1, 2, 3, 3].map(|factor| MILLISECOND * factor));
    assert_eq!(RateLimiter::num_requeues(&limiter, &"key"), 4);
}

#[test]
fn default_controller_rate_limiter_adds_the_bucket() {
    let mut limiter = default_controller_rate_limiter();
    let now = Instant::now();
    for key in 0..100 {
        assert_eq!(limiter.when(&key, now), MILLISECOND * 5, "the burst is free");
    }
    assert_eq!(limiter.when(&100, now), MILLISECOND * 100);
    assert_eq!(limiter.when(&101, now), MILLISECOND * 200);
}

/// kubernetes/kubernetes#138743: failures that nobody forgot stayed for ever.
#[test]
fn failures_that_nobody_forgets_do_not_pile_up() {
    let mut failures = failures::Failures::new();
    let mut now = Instant::now();
    for key in 0..100_000_u32 {
        failures.count(&key, now, |_| MILLISECOND);
        // A thousand keys fail within the hour that they are remembered.
        now += Duration::from_millis(3600);
    }
    let (keys, capacity) = failures.size();
    assert!(keys <= 2 * 1024, "{keys} keys are remembered");
    assert!(capacity <= 8 * 1024, "there is memory for {capacity} keys");
}

#[test]
fn forgotten_failures_leave_no_memory() {
    let mut failures = failures::Failures::new();
    let now = Instant::now();
    (0..100_000_u32).for_each(|key| {
        failures.count(&key, now, |_| MILLISECOND);
    });
    (0..100_000_u32).for_each(|key| failures.forget(&key));
    let (keys, capacity) = failures.size();
    assert_eq!(keys, 0);
    assert!(capacity <= 8 * 1024, "there is memory for {capacity} keys");
}
