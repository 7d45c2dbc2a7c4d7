//! Tests of controllers without a cluster.
//!
//! A [`TestEnv`] is an API server inside the test's own process: it starts in a millisecond, needs no binaries and no ports, works on paused
//! time, and goes when it is dropped.
//!
//! # Example: a controller that labels namespaces
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubewright::prelude::*;
//! use kubewright_testing::TestEnv;
//! use kube::core::params::Patch;
//!
//! struct Greet { client: Client }
//!
//! impl Reconciler for Greet {
//!     type Error = BoxError;
//!
//!     async fn reconcile(&self, _: Context, request: Request) -> Result<Action, BoxError> {
//!         let Some(config) = self.client.get::<ConfigMap>(&request).await.optional()? else {
//!             return Ok(Action::await_change());
//!         };
//!         if config.data.is_none() {
//!             let patch = serde_json::json!({ "data": { "greeting": "hello" } });
//!             self.client.patch::<ConfigMap, _>(&request, &Patch::Merge(patch)).await?;
//!         }
//!         Ok(Action::await_change())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let env = TestEnv::start().await;
//! let manager = env.manager().build().await?;
//! Controller::builder(&manager).for_::<ConfigMap>().complete(Greet { client: manager.client() })?;
//! let running = env.run(manager);
//!
//! let key = Request::new("default", "greeting");
//! env.create(&ConfigMap { metadata: env.meta(&key), ..ConfigMap::default() }).await;
//! env.wait_for::<ConfigMap>(&key, |config| config.is_some_and(|config| config.data.is_some())).await;
//! running.stop().await?;
//! # Ok(())
//! # }
//! ```

mod crds;
mod env;
mod failures;
mod running;
mod wait;
mod webhooks;

pub use env::{TestEnv, TestEnvBuilder};
// Types of these crates stand in our signatures.
pub use jiff;
pub use kubewright_apiserver as apiserver;
pub use running::RunningManager;
