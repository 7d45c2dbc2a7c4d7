//! What every request passes on its way in, a layer each. `service.rs` puts them in their order.
//!
//! A layer answers by itself, or hands the request on and looks at the answer. The outer ones see a request as it
//! came; from [`RequestReading`] on it is an [`Asked`].

mod asked;
mod audit_id;
mod authentication;
mod authorization;
mod deadline;
mod faults;
mod filter;
mod impersonation;
mod in_flight;
mod panic;
mod recording;
mod request_info;
mod warnings;

pub(super) use asked::{Asked, ClientCertificate, RequestBody};
pub(super) use audit_id::AuditId;
pub(super) use authentication::Authentication;
pub(super) use authorization::Authorization;
pub(super) use deadline::Deadline;
pub(super) use faults::FaultPlan;
pub(super) use filter::{Answer, Passing};
pub(super) use impersonation::Impersonation;
pub(super) use in_flight::InFlight;
pub(super) use panic::PanicRecovery;
pub(super) use recording::Recording;
pub(super) use request_info::RequestReading;
pub(super) use warnings::WarningHeaders;
