//! Generates the headers of the C ABI from their sources.
//! It also says how the shared libraries are linked.

use std::path::PathBuf;

/// A shared library, and the header of its functions.
#[cfg_attr(not(feature = "header"), allow(dead_code))]
struct Library {
    /// What the loader calls it. The number changes with the ABI.
    soname: &'static str,
    header: &'static str,
    /// In the order in which the header is to be read.
    sources: &'static [&'static str],
    /// The parts of the header that are written in C, of the folder `inline`, in their order.
    inline: &'static [&'static str],
}

const TIMELINE: Library = Library {
    soname: "libtimeline.so.0",
    header: "timeline.h",
    sources: &[
        "error",
        "version",
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
        "values",
        "histogram",
    ],
    inline: &[
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
    ],
};

const WORKER: Library = Library {
    soname: "libtimeline-worker.so.0",
    header: "timeline-worker.h",
    sources: &["options", "worker"],
    inline: &[],
};

const ANALYSIS: Library = Library {
    soname: "libtimeline-analysis.so.0",
    header: "timeline-analysis.h",
    sources: &[
        "failure",
        "subscriptions",
        "event",
        "field",
        "analyzer",
        "analysis",
    ],
    inline: &[],
};

/// Without the feature, the header is the one that is there: the programs of a test link a second
/// build of the library, and need no second build of cbindgen.
#[cfg(feature = "header")]
fn generate_header(library: &Library) {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut config = cbindgen::Config::from_file(here.join("cbindgen.toml"))
        .expect("cbindgen.toml beside the sources is readable");
    let inline = library.inline.iter().map(|part| {
        let part = here.join("inline").join(part).with_extension("h");
        std::fs::read_to_string(part).expect("the files of inline are readable")
    });
    let inline = inline.collect::<Vec<_>>().join("\n");
    if !inline.is_empty() {
        // The last line ends what the header of the header begins: nothing is left of it for an
        // older compiler.
        config.trailer = Some(format!("\n{}\n\n#endif /* C99 */", inline.trim_end()));
    }
    let mut header = cbindgen::Builder::new().with_config(config);
    for source in library.sources {
        header = header.with_src(here.join("src").join(source).with_extension("rs"));
    }
    let header = header.generate().expect("the sources of the C ABI parse");

    // Touches the file only when the text differs, so that nothing else is rebuilt for it.
    let path = top().join("include").join(library.header);
    header.write_to_file(&path);
    for input in ["src", "../src", "cbindgen.toml", "inline"] {
        if here.join(input).exists() {
            println!("cargo:rerun-if-changed={input}");
        }
    }
    println!("cargo:rerun-if-changed={}", path.display());
}

/// The top of the tree.
fn top() -> PathBuf {
    // Asked when it runs: a build script may be kept while the tree is copied or moved.
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut above = here.ancestors();
    let top = above.find(|folder| folder.join("build.rs").is_file());
    top.expect("this file is above").to_path_buf()
}

fn main() {
    let package = std::env::var("CARGO_PKG_NAME").expect("cargo sets it");
    let library = match package.as_str() {
        "timeline-ffi" => TIMELINE,
        "timeline-analysis-ffi" => ANALYSIS,
        _ => WORKER,
    };
    #[cfg(feature = "header")]
    generate_header(&library);

    println!(
        "cargo:rerun-if-changed={}",
        top().join("build.rs").display()
    );
    // nodelete: the kernel and exiting threads may still look at our thread-local storage, and the
    // thread of a worker at its code, after a host (LuaJIT at exit, for one) has called dlclose.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{}", library.soname);
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
