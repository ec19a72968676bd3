//! Generates include/timeline.h from the sources of the C ABI.
//! It also says how the shared library is linked.

#[cfg(feature = "header")]
use std::path::PathBuf;

/// In the order in which the header is to be read.
#[cfg(feature = "header")]
const SOURCES: [&str; 21] = [
    "error",
    "priority",
    "level",
    "fields",
    "attributes",
    "writer",
    "span",
    "catalogue",
    "channel",
    "thread",
    "sampler",
    "printf",
    "interning",
    "typed",
    "payload",
    "backtrace",
    "dump",
    "reader",
    "event",
    "value",
    "histogram",
];

/// The parts of the header that are written in C, of ffi/inline, in their order.
#[cfg(feature = "header")]
const INLINE: [&str; 15] = [
    "begin",
    "enabled",
    "gnu",
    "value",
    "each",
    "payload",
    "encoder",
    "argument",
    "check",
    "statement",
    "statement_c",
    "statement_cpp",
    "span",
    "gnu_end",
    "end",
];

/// Without the feature, the header is the one that is there: the programs of a test link a second
/// build of the library, and need no second build of cbindgen.
#[cfg(feature = "header")]
fn generate_header() {
    // Asked when it runs: a build script may be kept while the tree is copied or moved.
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut config = cbindgen::Config::from_file(here.join("cbindgen.toml"))
        .expect("ffi/cbindgen.toml is readable");
    let inline = INLINE.map(|part| {
        let part = here.join("inline").join(part).with_extension("h");
        std::fs::read_to_string(part).expect("the files of ffi/inline are readable")
    });
    let inline = inline.join("\n");
    // The last line ends what the header of the header begins: nothing is left of it for an older
    // compiler.
    config.trailer = Some(format!("\n{}\n\n#endif /* C99 */", inline.trim_end()));
    let mut header = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        header = header.with_src(here.join("src").join(source).with_extension("rs"));
    }
    let header = header.generate().expect("the sources of the C ABI parse");

    // Touches the file only when the text differs, so that nothing else is rebuilt for it.
    header.write_to_file(here.join("../include/timeline.h"));
    for input in ["src", "cbindgen.toml", "inline", "../include/timeline.h"] {
        println!("cargo:rerun-if-changed={input}");
    }
}

fn main() {
    #[cfg(feature = "header")]
    generate_header();

    println!("cargo:rerun-if-changed=../build.rs");
    // The number changes with the ABI. nodelete: the kernel and exiting threads may still look at
    // our thread-local storage after a host (LuaJIT at exit, for one) has called dlclose.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtimeline.so.0");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
