//! What the benches share. Each measures something else; how they read a clock, take a middle, make up text, build a Go program and say
//! what was reached is the same.

pub mod go;
pub mod goals;
pub mod median;
pub mod usage;
pub mod words;
