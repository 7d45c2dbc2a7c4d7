use super::*;
use crate::workqueue::default_rate_limiter;

fn core() -> Core<u64> {
    Core::new(CoreOptions {
        limiter: default_rate_limiter(),
        overdue_after: Some(Duration::from_secs(30)),
        recorder: Some(Recorder::default()),
        epoch: Instant::now(),
    })
}

#[test]
fn smoke() {
    let mut core = core();
    let now = Instant::now();
    core.add(1, AddOptions::new(), now);
    core.add(1, AddOptions::new(), now);
    core.add(2, AddOptions::new().priority(3), now);
    assert_eq!(core.take(now), Some((2, 3)));
    core.add(2, AddOptions::new(), now);
    assert_eq!(core.take(now), Some((1, 0)));
    assert_eq!(core.take(now), None);
    core.done(&2, || now);
    assert_eq!(core.take(now), Some((2, 0)));
    core.done(&1, || now);
    core.done(&2, || now);
    assert_eq!(core.len(now), 0);
}
