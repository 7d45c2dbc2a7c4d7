//! The kinds that a cluster is set up with: storage drivers, networks, devices, policies, classes. Each is a row, a line of
//! [checks](check) and a few defaults; controllers and kubelets do the rest.

mod check;
mod checks;
mod columns;
mod defaults;
mod endpoint_slice;
mod local_service;
mod rows;

pub(super) use rows::ROWS;
