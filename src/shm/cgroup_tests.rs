//! Tests what is read of control groups, on trees of files.

use super::*;

const MIB: u64 = 1 << 20;

/// A system with these files, as long as its folder is there.
fn system(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let file = super::super::create(&path).expect("created");
        std::io::Write::write_all(&mut &file, text.as_bytes()).expect("written");
    }
    let root = folder.path().into();
    (folder, System { root })
}

/// What is left in MiB, at ease and at most; `None` if no limit is known.
fn left_of(files: &[(&str, &str)]) -> Option<(u64, u64)> {
    let (_folder, system) = system(files);
    let left = system.left_by(&system.groups());
    (left != MemoryRoom::UNKNOWN).then_some((left.at_ease / MIB, left.at_most / MIB))
}

/// The lists of a process in a group of version 2; `root` is the group that the mount shows at its
/// top.
fn lists(group: &str, root: &str) -> [(&'static str, String); 2] {
    let mounts = format!(
        "22 27 0:21 / /proc rw,nosuid - proc proc rw\n\
         30 23 0:26 {root} /sys/fs/cgroup rw,nosuid shared:9 master:1 - cgroup2 none rw\n"
    );
    [
        ("proc/self/cgroup", format!("0::{group}\n")),
        ("proc/self/mountinfo", mounts),
    ]
}

fn version_two(group: &str, root: &str, files: &[(&str, &str)]) -> Option<(u64, u64)> {
    let lists = lists(group, root);
    let lists = lists.each_ref().map(|(path, text)| (*path, text.as_str()));
    left_of(&[&lists, files].concat())
}

const LEAF: [(&str, &str); 3] = [
    ("sys/fs/cgroup/a/b/memory.max", "67108864\n"),
    ("sys/fs/cgroup/a/b/memory.current", "41943040\n"),
    (
        "sys/fs/cgroup/a/b/memory.stat",
        "anon 1\ninactive_file 10485760\nactive_file 5242880\n",
    ),
];

#[test]
fn files_that_can_be_dropped_are_not_in_use() {
    assert_eq!(version_two("/a/b", "/", &LEAF), Some((34, 39)));
    let without_statistics = version_two("/a/b", "/", &LEAF[..2]);
    assert_eq!(without_statistics, Some((24, 24)));
}

#[test]
fn each_level_up_limits_what_is_below() {
    let with = |more: &[(&str, &str)]| version_two("/a/b", "/", &[&LEAF, more].concat());
    let above = [
        ("sys/fs/cgroup/a/memory.max", "50331648"),
        ("sys/fs/cgroup/a/memory.current", "49283072"),
    ];
    assert_eq!(with(&above), Some((1, 1)));
    let unlimited = [
        ("sys/fs/cgroup/a/memory.max", "max\n"),
        ("sys/fs/cgroup/a/memory.current", "99999999999"),
    ];
    assert_eq!(with(&unlimited), Some((34, 39)));
    // Beyond `memory.high` the kernel slows a group down, and ends nothing.
    let slow = [
        ("sys/fs/cgroup/a/memory.high", "52428800"),
        ("sys/fs/cgroup/a/memory.current", "41943040"),
    ];
    assert_eq!(with(&slow), Some((10, 39)));
    let exceeded = [
        ("sys/fs/cgroup/a/memory.max", "1048576"),
        ("sys/fs/cgroup/a/memory.current", "2097152"),
    ];
    assert_eq!(with(&exceeded), Some((0, 0)));
}

#[test]
fn a_mount_shows_groups_from_its_root_on() {
    let moved = |from: &str| {
        LEAF.map(|(path, text)| (path.replace("/a/b", from), text.to_owned()))
            .to_vec()
    };
    let at = |group, root, files: Vec<(String, String)>| {
        let files: Vec<_> = files
            .iter()
            .map(|(p, t)| (p.as_str(), t.as_str()))
            .collect();
        version_two(group, root, &files)
    };
    // A container that sees its own group as the root, and one that does not.
    assert_eq!(at("/", "/", moved("")), Some((34, 39)));
    assert_eq!(at("/docker/7", "/docker/7", moved("")), Some((34, 39)));
    assert_eq!(at("/docker/7/b", "/docker/7", moved("/b")), Some((34, 39)));
    // Groups that the mount does not show.
    for (group, root) in [
        ("/docker/77", "/docker/7"),
        ("/other", "/docker/7"),
        ("/../other", "/"),
        ("/", "/docker/7"),
        ("", "/docker/7"),
    ] {
        assert_eq!(at(group, root, moved("")), None, "{group} {root}");
    }
    let spaced = [
        ("proc/self/cgroup", "0::/a b\n"),
        (
            "proc/self/mountinfo",
            "30 23 0:26 / /c\\040g rw - cgroup2 none rw",
        ),
        ("c g/a b/memory.max", "2097152"),
        ("c g/a b/memory.current", "0"),
    ];
    assert_eq!(left_of(&spaced), Some((2, 2)));
}

#[test]
fn swap_counts_only_where_it_is_asked_for_and_as_far_as_it_is_there() {
    let with = |free: &str, more: &[(&str, &str)]| {
        let machine = [("proc/meminfo", free)];
        version_two("/a/b", "/", &[&LEAF, &machine[..], more].concat())
    };
    let swap = "MemTotal:  1 kB\nSwapFree:       8192 kB\n";
    assert_eq!(with(swap, &[]), Some((34, 47)));
    let limit = ("sys/fs/cgroup/a/b/memory.swap.max", "5242880");
    let used = ("sys/fs/cgroup/a/b/memory.swap.current", "1048576");
    assert_eq!(with(swap, &[limit, used]), Some((34, 43)));
    let none = ("sys/fs/cgroup/a/b/memory.swap.max", "0");
    assert_eq!(with(swap, &[none]), Some((34, 39)));
    assert_eq!(with("SwapFree: many kB", &[]), Some((34, 39)));
}

#[test]
fn version_one_is_read_also_beside_version_two() {
    let files = [
        (
            "proc/self/cgroup",
            "5:cpu,memory:/a\n4:name=memory:/b\n0::/a\n",
        ),
        (
            "proc/self/mountinfo",
            "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpuset\n\
             35 31 0:32 / /cg/memory rw - cgroup cgroup rw,cpu,memory\n\
             41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n",
        ),
        ("proc/meminfo", "SwapFree: 1048576 kB\n"),
        ("cg/memory/memory.limit_in_bytes", "9223372036854771712"),
        ("cg/memory/memory.usage_in_bytes", "1048576000"),
        ("cg/memory/a/memory.limit_in_bytes", "67108864"),
        ("cg/memory/a/memory.usage_in_bytes", "41943040"),
        (
            "cg/memory/a/memory.stat",
            "inactive_file 4096\ntotal_inactive_file 10485760\ntotal_active_file 5242880\n",
        ),
        ("cg/memory/a/memory.memsw.limit_in_bytes", "83886080"),
        ("cg/memory/a/memory.memsw.usage_in_bytes", "52428800"),
    ];
    assert_eq!(left_of(&files), Some((34, 45)));
    let both = [
        ("cg/unified/a/memory.max", "67108864"),
        ("cg/unified/a/memory.current", "66060288"),
        ("cg/unified/a/memory.swap.max", "0"),
    ];
    assert_eq!(left_of(&[&files[..], &both].concat()), Some((1, 1)));
}

#[test]
fn what_cannot_be_read_or_understood_is_not_there() {
    assert_eq!(left_of(&[]), None);
    assert_eq!(
        System {
            root: "/absent".into()
        }
        .machine(),
        MemoryRoom::UNKNOWN
    );
    let long = "x".repeat(3 << 20);
    for text in [
        "",
        "\n\n:\n::\n",
        "0::",
        "-",
        "0:::/a\n0::/a/b/../..",
        "max",
        "-1",
        "1e9",
        "\0",
        "99999999999999999999999",
        "\u{fffd}",
        "\\",
        "\\04",
        "30 23 0:26 / /s - ",
        &long,
    ] {
        for odd in 0..LEAF.len() + 2 {
            let lists = lists("/a/b", "/");
            let lists = lists.each_ref().map(|(path, text)| (*path, text.as_str()));
            let mut files = [&lists[..], &LEAF].concat();
            files[odd].1 = text;
            // No more can be said of it.
            left_of(&files);
        }
    }
    // Things that are no files, one of which would be waited for.
    let lists = lists("/a/b", "/");
    let lists = lists.each_ref().map(|(path, text)| (*path, text.as_str()));
    let (folder, system) = system(&lists);
    let group = folder.path().join("sys/fs/cgroup/a/b");
    std::fs::create_dir_all(group.join("memory.current")).expect("made");
    let mode = nix::sys::stat::Mode::S_IRWXU;
    nix::unistd::mkfifo(&group.join("memory.max"), mode).expect("made");
    assert_eq!(system.left_by(&system.groups()), MemoryRoom::UNKNOWN);
}

#[test]
fn our_own_system_is_read() {
    let system = System::own();
    assert!(system.address_space().is_some_and(|bytes| bytes > MIB));
    let left = system.left_by(&system.groups()).min(system.machine());
    assert!(left.at_ease > 0 && left.at_ease <= left.at_most, "{left:?}");
}
