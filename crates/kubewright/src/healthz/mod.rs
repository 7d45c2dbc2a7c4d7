//! Whether a process is alive, and ready to be asked.
//!
//! `/healthz` and `/readyz` have named [checks](Check). Each answers by itself, too, at `/healthz/NAME`.
//!
//! # Example: a check of one's own
//! ```
//! use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
//!
//! use kubewright::{healthz, manager::ManagerBuilder};
//!
//! # async fn example(builder: ManagerBuilder) -> anyhow::Result<()> {
//! let manager = builder.health_probe_bind_address(":8081".parse()?).build().await?;
//! manager.add_healthz_check("ping", healthz::ping);
//! manager.add_readyz_check("informers", manager.cache().clone());
//!
//! let warm = Arc::new(AtomicBool::new(false));
//! manager.add_readyz_check("warm", move || {
//!     let is_warm = warm.load(Ordering::Relaxed);
//!     async move { if is_warm { Ok(()) } else { Err("still cold".into()) } }
//! });
//! # Ok(())
//! # }
//! ```
//!
//! Source: controller-runtime `pkg/healthz`.

mod check;
mod checks;
mod endpoint;
mod report;

pub use self::check::{Check, ping};
pub(crate) use self::{checks::Checks, endpoint::ChecksEndpoint};
