//! What this process has used so far: CPU by the kernel's clock of the process, memory by its accounts in `/proc`.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, MissedTickBehavior, interval};

/// User and system time of all threads, also of those that have ended.
pub fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // The clock starts at zero with the process, so neither part is ever negative.
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

/// Memory that the process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Resident now.
    pub rss_bytes: u64,
    /// The most that has ever been resident.
    pub peak_bytes: u64,
}

impl Memory {
    /// Whether this system tells, as Linux does in `/proc`.
    pub const IS_KNOWN: bool = cfg!(target_os = "linux");

    /// What the process holds at this moment.
    ///
    /// # Errors
    /// Where the system does not tell.
    pub fn now() -> Result<Self> {
        let status =
            std::fs::read_to_string("/proc/self/status").context("failed to read /proc/self/status")?;
        Self::parse(&status)
    }

    /// Waits until the resident memory has not moved for `QUIET`, and gives what it is then.
    ///
    /// # Errors
    /// A process whose memory moves for longer than `QUIET_LIMIT` does not settle, and a figure would be luck.
    pub async fn settled() -> Result<Self> {
        let begin = Instant::now();
        let mut ticks = interval(QUIET / 10);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last = Self::now()?;
        let mut since = Instant::now();
        while since.elapsed() < QUIET {
            if begin.elapsed() > QUIET_LIMIT {
                bail!("the resident memory did not settle within {QUIET_LIMIT:?}");
            }
            ticks.tick().await;
            let now = Self::now()?;
            if now.rss_bytes != last.rss_bytes {
                (last, since) = (now, Instant::now());
            }
        }
        Ok(last)
    }

    fn parse(status: &str) -> Result<Self> {
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kilobytes = line.and_then(|rest| rest.strip_prefix(':')?.trim().strip_suffix(" kB"));
            let kilobytes: u64 =
                kilobytes.with_context(|| format!("/proc/self/status has no {name} in kB"))?.parse()?;
            Ok::<_, anyhow::Error>(kilobytes * 1024)
        };
        Ok(Self { rss_bytes: field("VmRSS")?, peak_bytes: field("VmHWM")? })
    }
}

/// How long the resident memory has to stay as it is to count as settled.
const QUIET: Duration = Duration::from_millis(300);
const QUIET_LIMIT: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes() {
        let memory = Memory::parse("Name:\tx\nVmHWM:\t    20 kB\nVmRSS:\t    12 kB\n").unwrap();
        assert_eq!(memory, Memory { rss_bytes: 12 << 10, peak_bytes: 20 << 10 });
        assert!(Memory::parse("VmHWM:\t 20 kB\n").unwrap_err().to_string().contains("VmRSS"));
    }

    #[test]
    fn cpu_goes_up_with_work() {
        let before = cpu();
        let mut words = 0_u64;
        while cpu() == before {
            words = std::hint::black_box(words.wrapping_add(1));
        }
        assert!(cpu() > before);
    }
}
