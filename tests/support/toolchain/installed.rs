//! Makes a machine on which another timeline is installed, of which nothing works.
//! Tests must not notice it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use super::{cc, run, succeed};

/// Stands in the way as soon as it is loaded.
const LIBRARY: &str = r#"
#include <unistd.h>
__attribute__((constructor)) static void end(void) {
  static const char said[] = "the installed library was loaded\n";
  if (write(2, said, sizeof said - 1)) _exit(99);
}
"#;

/// Puts everything of it in its standard place below a prefix.
fn install(prefix: &Path) {
    for folder in ["bin", "lib/pkgconfig", "lib/cmake/timeline", "lib/lua/5.1"] {
        fs::create_dir_all(prefix.join(folder)).expect("a folder");
    }
    for folder in ["include/timeline", "share/lua/5.1/timeline"] {
        fs::create_dir_all(prefix.join(folder)).expect("a folder");
    }
    let write = |file: &str, text: &str| fs::write(prefix.join(file), text).expect("a file");
    for header in ["timeline.h", "timeline.hpp", "timeline/ring.hpp"] {
        write(
            &format!("include/{header}"),
            "#error \"the installed header\"\n",
        );
    }
    for module in ["timeline", "timeline/library"] {
        write(
            &format!("share/lua/5.1/{module}.lua"),
            "error('the installed module')\n",
        );
    }
    write(
        "lib/pkgconfig/timeline.pc",
        "Name: timeline\nDescription: broken\nVersion: 0\nCflags: -DBROKEN\nLibs: -lbroken\n",
    );
    write(
        "lib/cmake/timeline/timelineConfig.cmake",
        "message(FATAL_ERROR \"the installed package\")\n",
    );
    write(
        "bin/timeline",
        "#!/bin/sh\necho the installed command >&2\nexit 99\n",
    );
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(prefix.join("bin/timeline"), mode).expect("a mode");

    write("library.c", LIBRARY);
    let (source, object) = (prefix.join("library.c"), prefix.join("library.o"));
    let shared = prefix.join("lib/libtimeline.so.0");
    succeed(
        cc().args(["-shared", "-fPIC", "-Wl,-soname,libtimeline.so.0", "-o"])
            .arg(&shared)
            .arg(&source),
        "gcc",
    );
    symlink("libtimeline.so.0", prefix.join("lib/libtimeline.so")).expect("a link");
    fs::copy(&shared, prefix.join("lib/lua/5.1/libtimeline.so")).expect("a copy");
    succeed(cc().args(["-c", "-o"]).arg(&object).arg(&source), "gcc");
    succeed(
        Command::new("ar")
            .arg("rcs")
            .arg(prefix.join("lib/libtimeline.a"))
            .arg(&object),
        "binutils",
    );
}

/// Has these tests of this program run where that is installed in /usr/local, for them alone to
/// see, and where the environment leads to it. Nothing is done where nothing can be mounted, which
/// in CI it must be.
pub fn with_another_installed(tests: &[&str]) {
    const MOUNT: &str = r#"
      mount -t overlay -o "lowerdir=$1:/usr/local" overlay /usr/local
      ldconfig -C "$2"
      mount --bind "$2" /etc/ld.so.cache
    "#;
    const RUN: &str = r#"shift 2; exec "$@""#;
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("prefix");
    install(&prefix);
    let cache = folder.path().join("cache");
    // SAFETY: geteuid only looks.
    let root = unsafe { libc::geteuid() } == 0;
    let apart = |script: &str| {
        let mut command = Command::new("unshare");
        command
            .arg(if root { "-m" } else { "-rm" })
            .args(["sh", "-ec", script, "sh"])
            .arg(&prefix)
            .arg(&cache);
        command
    };
    let may = run(&mut apart(MOUNT), "util-linux");
    if !may.status.success() {
        let said = String::from_utf8_lossy(&may.stderr);
        assert!(std::env::var_os("CI").is_none(), "cannot mount: {said}");
        println!("nothing can be mounted here, so nothing is tested: {said}");
        return;
    }
    let paths = std::env::var("PATH").expect("a PATH");
    let mut command = apart(&format!("{MOUNT}{RUN}"));
    command
        .arg(std::env::current_exe().expect("its own path"))
        .arg("--exact")
        .args(tests)
        .env("PATH", format!("/usr/local/bin:{paths}"))
        .env("LD_LIBRARY_PATH", "/usr/local/lib")
        .env("LIBRARY_PATH", "/usr/local/lib")
        .env("CPATH", "/usr/local/include")
        .env("PKG_CONFIG_PATH", "/usr/local/lib/pkgconfig")
        .env("LUA_PATH", "/usr/local/share/lua/5.1/?.lua;;")
        .env("LUA_CPATH", "/usr/local/lib/lua/5.1/?.so;;")
        .env("TIMELINE_LIBRARY", "/usr/local/lib/libtimeline.so");
    let output = run(&mut command, "util-linux");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains(&format!("{} passed", tests.len())),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
