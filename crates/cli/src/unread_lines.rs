//! Says of which files call stacks have no lines although there is debug information.

use timeline::Attached;

use crate::output;

/// Of a timeline whose call stacks were looked at.
pub fn tell(at: &Attached) {
    for file in at.compressed_with_zstd() {
        output::say(format_args!(
            "{}: no lines in call stacks, because its debug information is compressed with zstd; \
             build it with -gz=zlib",
            file.display()
        ));
    }
}
