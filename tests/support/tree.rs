//! Where the source tree is, whichever package a test belongs to.

use std::path::Path;

/// The root of the source tree.
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package
        .ancestors()
        .find(|folder| folder.join("ffi").is_dir());
    root.expect("every package lies in the source tree")
}
