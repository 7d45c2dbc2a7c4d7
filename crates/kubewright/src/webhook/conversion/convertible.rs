//! What an author writes.

use crate::{BoxError, object::Object};

/// A version of a kind that can become the hub version, and be made of it.
///
/// Nothing may be lost on the way: what `Hub` has no field for belongs into an annotation. Metadata is none of the converter's business, but for labels and
/// annotations: whatever else it does to it is undone.
///
/// # Example: seconds in one version, a text in the other
/// ```
/// use kubewright::webhook::conversion::{Convertible, round_trip};
/// # use std::borrow::Cow;
/// # use kube::{core::ObjectMeta, Resource};
/// # use serde::{Deserialize, Serialize};
/// # macro_rules! version {
/// #     ($name:ident, $version:literal, $field:ident: $type:ty) => {
/// #         #[derive(Clone, Debug, Serialize, Deserialize)]
/// #         struct $name { metadata: ObjectMeta, $field: $type }
/// #         impl Resource for $name {
/// #             type DynamicType = ();
/// #             type Scope = k8s_openapi::NamespaceResourceScope;
/// #             fn kind(_: &()) -> Cow<'_, str> { "Timer".into() }
/// #             fn group(_: &()) -> Cow<'_, str> { "example.com".into() }
/// #             fn version(_: &()) -> Cow<'_, str> { $version.into() }
/// #             fn plural(_: &()) -> Cow<'_, str> { "timers".into() }
/// #             fn meta(&self) -> &ObjectMeta { &self.metadata }
/// #             fn meta_mut(&mut self) -> &mut ObjectMeta { &mut self.metadata }
/// #         }
/// #     };
/// # }
/// # version!(TimerV1, "v1", seconds: u64);
/// # version!(TimerV2, "v2", interval: String);
///
/// impl Convertible<TimerV2> for TimerV1 {
///     type Error = std::num::ParseIntError;
///
///     fn convert_to(self) -> Result<TimerV2, Self::Error> {
///         Ok(TimerV2 { metadata: self.metadata, interval: format!("{}s", self.seconds) })
///     }
///
///     fn convert_from(hub: TimerV2) -> Result<Self, Self::Error> {
///         Ok(TimerV1 { metadata: hub.metadata, seconds: hub.interval.trim_end_matches('s').parse()? })
///     }
/// }
///
/// let timer = TimerV1 { metadata: ObjectMeta::default(), seconds: 180 };
/// assert!(round_trip::<TimerV1, TimerV2>(&timer).is_ok());
/// ```
///
/// Source: controller-runtime `conversion.Convertible`.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot be converted to and from `{Hub}`")]
pub trait Convertible<Hub>: Object {
    /// Why an object cannot be converted. The whole request fails then.
    type Error: Into<BoxError> + 'static;

    /// Makes the hub version of it.
    ///
    /// # Errors
    /// It has no equivalent there.
    fn convert_to(self) -> Result<Hub, Self::Error>;

    /// Makes this version of the hub.
    ///
    /// # Errors
    /// It has no equivalent here.
    fn convert_from(hub: Hub) -> Result<Self, Self::Error>;
}
