//! What a store says of its machine: which one it is, and what time it is there.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use timeline::internal::files;

/// The kernel's boot id and the name of this machine. `None` if the kernel does not say them.
pub fn own() -> Option<(String, String)> {
    let read = |name: &str| {
        let path = Path::new("/proc/sys/kernel").join(name);
        let text = files::read_to_string(&path).ok()?;
        Some(text.trim_end().to_owned())
    };
    Some((read("random/boot_id")?, read("hostname")?))
}

/// Nanoseconds since the epoch.
pub fn time() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map(|since| since.as_nanos());
    nanos
        .ok()
        .and_then(|nanos| u64::try_from(nanos).ok())
        .unwrap_or(0)
}
