//! Compares formatted messages with those of the C library's printf.
//! The arguments of a call go through a payload first.

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod conformance;
mod hostile;
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod oracle;
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod random;
mod taking;
mod values;
