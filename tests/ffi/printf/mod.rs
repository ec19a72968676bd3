//! printf: what a call's arguments become on their way through a payload, beside what the C library
//! makes of them.

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod conformance;
mod hostile;
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod oracle;
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod random;
mod taking;
mod values;
